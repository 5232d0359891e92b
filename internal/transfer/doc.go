// Package transfer carries documents between files and a server: what
// duskdb import and duskdb export do.
//
// A [Source] reads documents from a file, each with the line it came from:
// extended JSON ([NewJSON]: an array, or documents one after another), CSV and
// TSV ([NewTable]), BSON ([NewBSON]). What is wrong with a document is a
// [LineError], after which the source goes on with the next one.
//
// [Import] sends the documents of a source to a [Runner] in batches, and
// [Export] writes those of a query. [RestoreDump] and [RestoreArchive] read what
// mongodump wrote. [Dial] connects to a server by its connection string; a
// program that embeds a server can give any other Runner.
//
// The package is for the rest of DuskDB: it may change with any version.
package transfer
