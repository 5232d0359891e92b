// Package changestream turns the change log into events. A stream holds a position in
// the log and nothing else between two commands.
//
// Opening one finds the position (the present, a token, a time), and joins the group of
// the log's watchers that want the same. Reading skips what cannot be of interest
// without making an event of it, joins the entries of a transaction, looks images up,
// and leaves the stages behind $changeStream to the pipeline. A stream ends with an
// invalidation, which carries a token that a new stream may start after.
package changestream
