// Package accumulate holds the accumulators of $group and their relatives:
// each takes one value after the other and returns a result.
//
// An [Accumulator] does not depend on documents, expressions or groups; query/agg
// evaluates the argument of {$sum: "$x"} and adds the values. An accumulator copies the
// values that it keeps, so the memory of the documents can be reused.
//
// When memory is short, an accumulator is written to disk as its Partial and later
// added to a new one by Merge. Merging the partials in the order of their documents
// gives the same result as adding all the values.
//
// Sums are more exact than a double: [Sum] keeps the rounding error
// of every addition (as MongoDB does), so that the order of documents
// hardly matters and integers never lose a digit.
package accumulate

import "github.com/duskdb/duskdb/value"

// Accumulator folds values into one.
type Accumulator interface {
	// Add takes the value of one document; it may be Missing.
	Add(v value.Value) error
	// Result returns the result for the values added so far.
	Result() value.Value
	// Size is the memory held, in bytes.
	Size() int
	// Partial is the state as a value, for Merge.
	Partial() value.Value
	// Merge adds the state of an accumulator that saw later values.
	Merge(partial value.Value) error
}

// overhead is the assumed size of an empty accumulator, in bytes.
const overhead = 64

// valueSize is the memory a held value takes.
func valueSize(v value.Value) int { return 48 + len(v.Bytes()) }
