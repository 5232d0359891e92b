// Package transfer copies documents between files and a server, for duskdb
// import and duskdb export.
//
// A [Source] reads documents from a file, each with the line it came from:
// extended JSON ([NewJSON]: an array, or documents one after another), CSV and
// TSV ([NewTable]), BSON ([NewBSON]). An error in a document is a [LineError],
// after which the source continues with the next one.
//
// [Import] sends the documents of a source to a [Runner] in batches, and
// [Export] writes those of a query. [RestoreDump] and [RestoreArchive] read
// dumps of mongodump. [Dial] connects to a server by its connection string; a
// program that embeds a server can give any other Runner.
//
// The package is for the rest of DuskDB: it may change with any version.
package transfer
