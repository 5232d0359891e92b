// Package write changes documents. [Writer] makes the changes of one engine
// transaction to one collection: all writes of all commands go through it, for it is
// where documents are checked against the validator, capped collections are trimmed,
// expired documents make way, and messages are given their place in a queue.
//
// [Modification] is an update, a delete or a findAndModify in one shape. Its records are
// found on a snapshot and changed within the writer, where each is judged again. Where
// JavaScript judges, it never does so within the writer (apart.go).
//
// An update goes this way: [FastUpdate] takes it if its filter is an _id alone. Otherwise
// [ModifyMatching] opens the records that match (exec.OpenRecords); modifyFirst changes
// the first of them, modifyMany all, in chunks. Either way an engine transaction reads
// the record again, judges it and changes it through a Writer. A delete goes the same way.
//
// expiry.go is the other side of package ttl: the removal of what is due, with its
// dead letters, and settle.go ends a policy over documents that it has already hidden.
package write
