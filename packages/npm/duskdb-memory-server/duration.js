'use strict';

// Durations, written as in all languages that DuskDB has a package for.

const { closest } = require('./names.js');

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const NAMES = { days: 'd', hours: 'h', minutes: 'm', seconds: 's', milliseconds: 'ms' };
const PART = /\s*(\d+(?:\.\d+)?)(ms|d|h|m|s)\s*/y;
/** About as far as the clock goes: to the end of the year 9999. */
const MAX_DAYS = 2_900_000;

/**
 * Returns a duration in milliseconds: '61m', '1h30m', { hours: 1, minutes: 1 }. A number without
 * a unit is refused: other languages would read it in another unit.
 */
function milliseconds(duration) {
  if (typeof duration === 'number' || typeof duration === 'bigint') {
    throw new TypeError(`${duration} has no unit: write '${duration}ms', '${duration}s' or { seconds: ${duration} }`);
  }
  const total = typeof duration === 'string' ? parse(duration) : sum(duration);
  // Fractions are not exact in binary: 0.1 s is 100 ms all the same.
  if (total > MAX_DAYS * UNITS.d) throw new TypeError(`${show(duration)} is longer than ${MAX_DAYS} days`);
  const whole = Math.round(total);
  if (!Number.isSafeInteger(whole) || Math.abs(whole - total) > 1e-6) throw new TypeError(`${show(duration)} is no whole number of milliseconds`);
  return whole;
}

function parse(text) {
  if (/^\s*-/.test(text)) throw new TypeError(`${show(text)} is negative: the clock moves forward only`);
  let total = 0;
  let end = 0;
  PART.lastIndex = 0;
  for (let part; end < text.length && (part = PART.exec(text)); end = PART.lastIndex) total += Number(part[1]) * UNITS[part[2]];
  if (end === 0 || end !== text.length) throw new TypeError(`${show(text)} is no duration like '61m', '1h30m', '90s', '1500ms' or '2d'`);
  return total;
}

function sum(parts) {
  if (parts === null || typeof parts !== 'object') throw new TypeError(`${show(parts)} is no duration like '61m' or { minutes: 61 }`);
  const foreign = Object.keys(parts).find((name) => !Object.hasOwn(NAMES, name));
  if (foreign !== undefined) {
    const meant = closest(foreign, Object.keys(NAMES));
    throw new TypeError(`a duration has no ${foreign}; ${meant ? `did you mean ${meant}?` : `it has ${Object.keys(NAMES).join(', ')}`}`);
  }
  let total = 0;
  let given = false;
  for (const [name, unit] of Object.entries(NAMES)) { // inherited ones as well: a Temporal.Duration has getters
    const value = parts[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !(value >= 0)) throw new TypeError(`${name} is ${show(value)}, not a number that is at least 0`);
    total += value * UNITS[unit];
    given = true;
  }
  if (!given) throw new TypeError(`${show(parts)} is no duration like { hours: 1, minutes: 1 }`);
  return total;
}

function show(value) {
  return JSON.stringify(value) ?? String(value);
}

module.exports = { milliseconds };
