'use strict';

// Dates, as a Date or in ISO 8601, written as in all languages that DuskDB has a package for.

const DAY = /^(?!0000)\d{4}-\d\d-\d\d/;
const ISO = new RegExp(`${DAY.source}([T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(?<zone>Z|[+-](0\\d|1[0-8]):?[0-5]\\d)?)?$`);

/**
 * Returns the Date that an argument stands for, or throws a TypeError. A number is refused: others
 * count seconds.
 */
function instant(date) {
  if (typeof date === 'bigint' || Number.isFinite(date)) {
    throw new TypeError(`${date} has no unit: write new Date(${date} * 1000) for seconds since 1970, or new Date(${date}) for milliseconds`);
  }
  const isDate = Object.prototype.toString.call(date) === '[object Date]'; // of another realm, too, as in Jest
  const read = isDate ? new Date(date) : typeof date === 'string' ? parse(date) : undefined;
  if (read === undefined || Number.isNaN(read.getTime())) {
    throw new TypeError(`${show(date)} is no date: give a Date, or a text such as '2026-01-01T00:00:00Z'`);
  }
  const year = read.getUTCFullYear();
  if (year < 1 || year > 9999) throw new TypeError(`${read.toISOString()} is not between the years 1 and 9999`);
  return read;
}

/** Reads a text in ISO 8601; undefined if it is none. A day without a time begins at midnight in UTC. */
function parse(text) {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [day] = DAY.exec(text);
  const midnight = new Date(day);
  // The 31st of February is the 3rd of March for Date.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined;
  if (text === day) return midnight;
  if (found.groups.zone === undefined) throw new TypeError(`${show(text)} has no time zone: write '${text}Z' for UTC`);
  return new Date(text.replace(' ', 'T').replace(/(\d\d)(\d\d)$/, '$1:$2'));
}

function show(value) {
  if (Object.prototype.toString.call(value) === '[object Date]') return String(value); // "Invalid Date"
  return typeof value === 'number' ? String(value) : JSON.stringify(value) ?? String(value);
}

module.exports = { instant };
