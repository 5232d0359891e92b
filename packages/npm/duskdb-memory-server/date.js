'use strict';

// Dates, as a Date, in milliseconds since 1970, or in ISO 8601.

const ISO = /^\d{4}-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?$/;

/** Returns the Date that an argument stands for, or throws a TypeError. */
function instant(date) {
  const readable = typeof date === 'number' || (typeof date === 'string' && ISO.test(date)) || Object.prototype.toString.call(date) === '[object Date]';
  const read = readable ? new Date(date) : undefined;
  if (read === undefined || Number.isNaN(read.getTime())) {
    throw new TypeError(`${show(date)} is no date: give a Date, milliseconds since 1970, or a text such as '2026-01-01T00:00:00Z'`);
  }
  return read;
}

function show(value) {
  if (Object.prototype.toString.call(value) === '[object Date]') return String(value); // "Invalid Date"
  return typeof value === 'number' ? String(value) : JSON.stringify(value) ?? String(value);
}

module.exports = { instant };
