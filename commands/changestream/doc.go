// Package changestream turns the change log into events. A stream holds a position in
// the log and nothing else between two commands.
//
// Open finds the position (the present, a token, a time), and joins the group of watchers
// of the log with the same interest. Reading skips the entries that cannot match, joins
// the entries of a transaction, and looks up pre- and post-images. The pipeline runs the
// stages behind $changeStream. A stream ends with an
// invalidate event, whose token a new stream may start after.
package changestream
