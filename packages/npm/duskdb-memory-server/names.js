'use strict';

/** Returns the known name that a misspelt one may stand for. */
function closest(name, known) {
  return known.find((other) => distance(other.toLowerCase(), name.toLowerCase()) <= 2);
}

/** The number of letters to insert, remove or replace between two words. */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i].push(Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced));
    }
  }
  return rows[a.length][b.length];
}

module.exports = { closest };
