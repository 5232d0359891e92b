// Package changestream turns the change log into events. A stream holds a position in
// the log and nothing else between two commands.
//
// Open finds the position (the present, a token, a time), and joins the group of watchers
// of the log with the same interest. Reading skips the entries that cannot match, joins
// the entries of a transaction, and looks up pre- and post-images. The pipeline runs the
// stages behind $changeStream. A stream ends with an
// invalidate event, whose token a new stream may start after.
//
// # Groups
//
// Change streams with the same options form a group. A writer marks the groups that an entry
// concerns, and wakes each once. Conditions on operationType and ns at the beginning of the
// pipeline are checked before that, so that an entry that cannot match costs a look-up in a
// map. A stream reads the entries of writers that ran before it was opened although they are
// not marked for it: a writer notes the id of its entry before it looks for groups, and a
// new stream skips nothing up to the greatest id noted. The first stream of a group computes
// an event, and the others share it.
package changestream
