// Package exact computes elementary functions of doubles rounded correctly in
// all but the rarest cases, as the C library that mongod is built with does.
// The functions of package math are off by one in the last digit for about
// every fourth argument, which is enough to make results differ.
//
// The work is done in pairs of doubles (about 106 bits) and rounded once at
// the end. Special arguments (infinities, zeros, results out of range) are
// passed to package math, which is exact for them. [Pair] is exported for sums
// that must not lose digits, those of $sum and $avg.
package exact
