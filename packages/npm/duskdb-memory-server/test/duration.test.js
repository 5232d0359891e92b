'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { milliseconds } = require('../index.js');

test('durations in parts', () => {
  for (const [duration, want] of [
    [{ hours: 1, minutes: 1 }, 3_660_000], [{ days: 1, seconds: 0.5, milliseconds: 1 }, 86_400_501],
  ]) assert.equal(milliseconds(duration), want, JSON.stringify(duration));
  class Temporal { get hours() { return 1; } get years() { return 0; } }
  assert.equal(milliseconds(new Temporal()), 3_600_000);
});

test('a number has no unit', () => {
  assert.throws(() => milliseconds(3661), { name: 'TypeError', message: "3661 has no unit: write '3661ms', '3661s' or { seconds: 3661 }" });
  assert.throws(() => milliseconds(3661n), TypeError);
});

test('what is no duration', () => {
  for (const wrong of [{}, null, undefined, [], { minute: 1 }, { hours: -1 }, { hours: '1' }, { hours: NaN }, { hours: Infinity }]) {
    assert.throws(() => milliseconds(wrong), TypeError, JSON.stringify(wrong));
  }
  assert.throws(() => milliseconds({ minute: 1 }), /a duration has no minute; did you mean minutes\?/);
});
