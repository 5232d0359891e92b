// The checks of the JavaScript clients. Each prints one line that the Go
// tests read: "ok NAME" or "not ok NAME: WHY". WHY names the places in the tests, not those
// in the packages they use.
'use strict';

async function check(name, fn) {
  try {
    await fn();
    console.log(`ok ${name}`);
  } catch (e) {
    const why = String((e && e.stack) || e).split('\n').filter(l => !l.includes('node_modules')).slice(0, 8).join('\\n');
    console.log(`not ok ${name}: ${why}`);
  }
}

// rejects runs fn, which must fail with the server's error code.
async function rejects(code, fn) {
  let reply;
  try {
    reply = await fn();
  } catch (e) {
    if (e.code !== code) throw new Error(`want error ${code}, got ${e.code}: ${e.message}`);
    return e;
  }
  throw new Error(`want error ${code}, got ${JSON.stringify(reply)}`);
}

// weather reads the hours of a year at Seattle from vega-datasets.
function weather(dir) {
  const lines = require('fs').readFileSync(`${dir}/seattle-weather-hourly-normals.csv`, 'utf8').trim().split('\n');
  return lines.slice(1).map(line => {
    const [date, pressure, temperature, wind] = line.trim().split(',');
    return {
      timestamp: new Date(`${date}Z`),
      metadata: { station: 'Seattle' },
      pressure: Number(pressure), temperature: Number(temperature), wind: Number(wind),
    };
  });
}

// dailyMeans computes the mean temperature of each day, keyed by ISO date.
function dailyMeans(hours) {
  const days = new Map();
  for (const { timestamp, temperature } of hours) {
    const day = timestamp.toISOString().slice(0, 10);
    const d = days.get(day) || { sum: 0, n: 0 };
    days.set(day, { sum: d.sum + temperature, n: d.n + 1 });
  }
  return new Map([...days].map(([day, { sum, n }]) => [day, sum / n]));
}

module.exports = { check, rejects, weather, dailyMeans };
