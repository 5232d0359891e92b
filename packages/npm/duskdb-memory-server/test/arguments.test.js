'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { DuskDBMemoryServer, milliseconds } = require('../index.js');
const { instant } = require('../date.js');

/** The table of arguments that the packages for all languages accept, or refuse. */
const table = JSON.parse(fs.readFileSync(path.join(__dirname, '..', '..', '..', 'testdata', 'arguments.json'), 'utf8'));

const says = (words) => (err) => {
  assert.equal(err.name, 'TypeError');
  assert.ok(err.message.includes(words), `${err.message} does not say ${words}`);
  return true;
};

test('durations of all languages', () => {
  for (const [text, want] of Object.entries(table.durations)) assert.equal(milliseconds(text), want, text);
  for (const [text, words] of Object.entries(table.wrongDurations)) assert.throws(() => milliseconds(text), says(`${JSON.stringify(text)} ${words}`));
});

test('dates of all languages', () => {
  for (const [text, want] of Object.entries(table.dates)) assert.equal(instant(text).toISOString(), want, text);
  for (const [text, words] of Object.entries(table.wrongDates)) assert.throws(() => instant(text), says(`${JSON.stringify(text)} ${words}`));
});

test('a server refuses them, too', async (t) => {
  const server = await DuskDBMemoryServer.create({ now: '2026-01-01' });
  t.after(() => server.stop());
  for (const [date, words] of [
    ['2026-02-31', '"2026-02-31" is no date: give a Date, or a text such as \'2026-01-01T00:00:00Z\''],
    ['2026-01-01T00:00:00', '"2026-01-01T00:00:00" has no time zone: write \'2026-01-01T00:00:00Z\' for UTC'],
    [1_700_000_000, '1700000000 has no unit: write new Date(1700000000 * 1000) for seconds since 1970, or new Date(1700000000) for milliseconds'],
    [0n, '0 has no unit'],
    [NaN, 'NaN is no date'],
    [null, 'null is no date'],
    [{}, '{} is no date'],
    [true, 'true is no date'],
    [new Date('x'), 'Invalid Date is no date'],
    [new Date(8.64e15), '+275760-09-13T00:00:00.000Z is not between the years 1 and 9999'],
  ]) {
    await assert.rejects(server.set(date), says(words));
    await assert.rejects(DuskDBMemoryServer.create({ now: date }), says(words));
  }
  await assert.rejects(server.set(), says('undefined is no date'));
  for (const [duration, words] of [
    [undefined, 'undefined is no duration like \'61m\' or { minutes: 61 }'],
    [null, 'null is no duration'],
    [true, 'true is no duration'],
    [61, '61 has no unit'],
    [{}, '{} is no duration'],
    [{ hour: 1 }, 'a duration has no hour; did you mean hours?'],
    [{ years: 1 }, 'a duration has no years; it has days, hours, minutes, seconds, milliseconds'],
    [{ hours: -1 }, 'hours is -1, not a number that is at least 0'],
    [{ hours: '1' }, 'hours is "1", not a number that is at least 0'],
    [{ days: Infinity }, 'is longer than 2900000 days'],
  ]) await assert.rejects(server.advance(duration), says(words));
  await assert.rejects(server.set('2025-12-31'), {
    name: 'RangeError', code: 2, message: 'the clock cannot move backwards, from 2026-01-01T00:00:00.000Z to 2025-12-31T00:00:00.000Z',
  });
  await assert.rejects(server.freeze('no'), says('freeze takes true or false, not "no"'));
  for (const wrong of ['ping', null, undefined, [], {}]) await assert.rejects(server.command(wrong), says('a command is an object such as { ping: 1 }'));
  assert.equal((await server.now()).toISOString(), '2026-01-01T00:00:00.000Z');
});
