// Package oplog is the change log, local.oplog.rs: the changes of every committed
// transaction, in entries as mongod writes them. Change streams and clients read it.
//
// A [Recorder] belongs to one engine transaction. The commands write through the
// transaction that [Recorder.Logged] returns; each of its changes is noted, and
// [Recorder.Flush] appends them to the log as part of the same transaction, so that
// the log and the data survive a crash together. Updates are noted as differences
// (diff.go) unless the document was replaced.
//
// The log is bounded. [Log.Trimmer] removes the oldest entries, with the pre-images
// that belong to them. Change streams join groups by Join of [Log]; only entries that concern
// a group wake it.
//
// # Size
//
// Until a client reads the log for the first time, its limit is 4 MB.
package oplog
