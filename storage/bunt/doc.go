// Package bunt is the embedded storage engine: a log kept by BuntDB, and the
// present state in memory.
//
// # State
//
// The state is an immutable value, root: a tree of collections, each with a
// tree of records and one tree of entries per index. The trees are
// copy-on-write. A reader loads the pointer to the root and needs no lock,
// however long it reads. A writer (one at a time) forks what it touches,
// reads its own writes in the fork, and publishes a new root when it
// commits; when it fails, the fork is forgotten. A snapshot transaction is a
// fork that is not published: it notes what it does, and its commit does
// that again on the latest state.
//
// Record values are the strings that BuntDB holds too; documents are views
// of them. Strings do not change, so a document stays valid for ever.
//
// # Log
//
// BuntDB is the persistent store of records and catalog. Index entries are
// not stored; they are made again on open. Each commit is one BuntDB
// transaction and so one write(2), but BuntDB writes the commands of a
// transaction in no order and without a frame, and a crash can leave half of
// them. So each transaction also sets a marker with a sequence number, the
// count of commands and a checksum. Before BuntDB opens the file, it is
// scanned group by group and cut back to the last group that agrees with its
// marker. A marker also says up to which group everything had been synced:
// where one behind a damaged place says that this place had been on disk,
// the file is damaged, not torn, and is refused.
//
// BuntDB's own syncing, shrinking, expiry and indexes are off. The log is
// synced through a descriptor of its own, one fsync for all who wait; it is
// compacted by copying the state into a second log.
//
// Dropping a collection removes its catalog entry; its records become
// orphans that leave the log in small steps.
package bunt
