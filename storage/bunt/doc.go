// Package bunt is the embedded storage engine: the present state in memory, and
// an append-only log of it, written through BuntDB.
//
// # State
//
// The engine is package kv over the trees of package mem. A commit goes to the log
// first and then to the trees; the lock of the store (store.go) is held from one to
// the other, so that a state of the trees and a place in the log belong together.
//
// # Log
//
// Index entries are not in the log: they are made on open. Each commit is a group
// (group.go), which becomes the value of the only key of a BuntDB database, in one
// transaction. BuntDB's own state in memory is therefore at most one group; the
// records are in the trees, once. A group has a sequence number and checksums,
// because a crash can leave part of it. A record of the change log contains the
// documents of its commit; the group has them once (quote.go). A group also
// contains the number of the last group known to be synced: if a group behind a
// damaged place says that this place had been synced, the file is damaged, not torn
// by a crash, and is refused.
//
// The log is a chain of files (chain.go). A start reads them all, once, with the
// engine's own scanner, and goes on in a new file, which BuntDB opens empty; a small
// last file is opened again instead. The end of the last file may be torn, and is
// cut off; every other file was synced before the one behind it was made.
//
// BuntDB's own syncing, shrinking, expiry and indexes are off. The log is synced
// through a separate descriptor, with one fsync for all waiting writers. A
// compaction lets writers go on in a new file, writes the state before it to a new
// first file, and removes the files between (compact.go).
//
// Dropping a collection writes only the removal of its description, however many
// records it has.
//
// The package is for the rest of DuskDB: it may change with any version.
package bunt
