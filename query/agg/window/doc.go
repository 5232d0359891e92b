// Package window holds $setWindowFields and the two stages that fill gaps: $fill,
// which is rewritten to $setWindowFields, and $densify.
//
// $setWindowFields is rewritten to a $sort by partition and sortBy with the
// stage behind it (setwindow.go). parse.go has the table of window functions.
// A partition is read as a whole (documents.go), each expression becomes a
// column of values (column.go), bounds.go finds for each document the part of
// the partition that its window spans, and eval.go and calc.go compute the
// function over it; an accumulator of $group slides along if it can remove
// values, and is begun anew if it cannot.
//
// The package stands above stage, flow, order and group.
package window
