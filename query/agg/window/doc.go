// Package window implements $setWindowFields and the two stages that fill gaps:
// $fill, which is rewritten to $setWindowFields, and $densify.
//
// $setWindowFields is rewritten to a $sort by partition and sortBy, followed by
// the stage (setwindow.go). parse.go has the table of window functions. A
// partition is read as a whole (documents.go), each expression becomes a column of
// values (column.go), bounds.go finds the window of each document, and eval.go and
// calc.go compute the function over it. An accumulator of $group that can remove
// values moves with the window; other accumulators start again when the window
// loses documents.
//
// The package uses stage, flow, order and group.
package window
