// Package write changes documents. A [Writer] makes the changes of one engine
// transaction to one collection. All writes of all commands use it: it checks documents
// against the validator, trims capped collections, removes expired documents with the
// same unique key, and adds messages to queues.
//
// A [Modification] is an update, a delete or a findAndModify. Its records are found on a
// snapshot. An engine transaction matches each of them again and changes it. JavaScript
// never runs within an engine transaction (apart.go).
//
// [FastUpdate] runs an update whose filter is only an _id. For other updates
// [Modify] opens the records that match (exec.OpenRecords); ModifyFirst changes
// the first of them, and ModifyMany all, in chunks. In both cases an engine transaction
// reads the record, matches it again and changes it through a Writer. Deletes work the
// same way.
//
// expiry.go implements the removal of due records for package ttl, with dead letters.
// expired.go removes hidden documents before the end of a policy.
package write
