// Package accumulate holds the accumulators of $group and their relatives:
// small machines that take one value after the other and give a result.
//
// An [Accumulator] knows nothing of documents, expressions or groups; query/agg
// evaluates the argument of {$sum: "$x"} and feeds the values in. What it
// holds it copies, so the documents the values were read from may go.
//
// An accumulator that had to leave memory is written as its Partial and
// later fed into a fresh one by Merge; Merge of partials in order of
// their documents gives what Add of all the values would have given.
//
// Sums are exact beyond what a double holds: [Sum] keeps the rounding error
// of every addition (as MongoDB does), so that the order of documents
// hardly matters and integers never lose a digit.
package accumulate

import "github.com/duskdb/duskdb/value"

// Accumulator folds values into one.
type Accumulator interface {
	// Add takes the value of one document; it may be Missing.
	Add(v value.Value) error
	// Result gives the value for what was added so far.
	Result() value.Value
	// Size is the memory held, in bytes.
	Size() int
	// Partial is the state as a value, for Merge.
	Partial() value.Value
	// Merge adds the state of an accumulator that saw later values.
	Merge(partial value.Value) error
}

// overhead is what an empty accumulator is reckoned to take.
const overhead = 64

// valueSize is the memory a held value takes.
func valueSize(v value.Value) int { return 48 + len(v.Bytes()) }
