// Package transfer copies documents between files and a server, for duskdb
// import and duskdb export.
//
// A [Source] reads documents from a file, each with the line it came from:
// extended JSON ([NewJSON]: an array, or documents one after another), CSV and
// TSV ([NewTable]), BSON ([NewBSON]). An error in a document is a [LineError],
// after which the source continues with the next one.
//
// [Import] sends the documents of a source to a [Runner] in batches, and
// [Export] writes those of a query. What a file may contain has limits, which are
// checked before memory or time is spent (limits.go).
//
// [RestoreDump] and [RestoreArchive] read dumps of mongodump: each finds the parts
// that belong to one collection (dumpdir.go, archive.go), which is then created,
// filled and indexed (restored.go, indexes.go). Users and roles (authorization.go)
// and the oplog (replay.go) have ways of their own. A part that belongs to nothing
// is an error, which is counted, and does not end the restore. [Dial] connects to a
// server by its connection string; a program that embeds a server can give any other
// Runner.
//
// The package is for the rest of DuskDB: it may change with any version.
package transfer
