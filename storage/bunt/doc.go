// Package bunt is the embedded storage engine: an append-only log, written
// through BuntDB, and the present state in memory.
//
// # State
//
// The state is an immutable value, root: a tree of collections, each with a
// tree of records and one tree of entries per index. The trees are
// copy-on-write. A reader loads the pointer to the root and needs no lock,
// however long it reads. A writer (one at a time) forks what it touches, reads
// its own writes in the fork, and publishes a new root when it commits; if it
// fails, the fork is discarded. A snapshot transaction is a fork that is not
// published: it records its writes, and its commit repeats them on the latest
// state.
//
// Records are in a radix tree over their ids, index entries in a B+ tree of
// packed keys. A node is copied once per fork, so updates that share a commit
// share copies. Records and keys that are appended, as by most inserts, are
// written beyond the end that other versions see, without a copy.
//
// Record values are strings; documents are views of them. Strings are
// immutable, so a document stays valid as long as it is referenced.
//
// # Log
//
// The log of commits is a BuntDB database. Index entries are not stored; they
// are rebuilt on open. Each commit is a group, which becomes the value of the
// log's only key, with one write(2): large groups by a BuntDB transaction,
// small ones in BuntDB's format through its descriptor (direct.go).
// BuntDB's own state in memory is therefore at most one group; the records
// are in the trees above, once. A group has a sequence number and checksums,
// because a crash can leave part of it. A record of the change log contains
// the documents of its commit; the group has them once (quote.go). On open,
// the engine reads the file group by group into the trees and truncates it
// after the last complete group; then BuntDB opens it, and reads it a second
// time to find its end, while the indexes are built. A group also contains the
// number of the last group known to be synced. If a group behind a damaged
// place says that this place had been synced, the file is damaged, not torn by
// a crash, and is refused.
//
// BuntDB's own syncing, shrinking, expiry and indexes are off. The log is
// synced through a separate descriptor, with one fsync for all waiting
// writers. Compaction copies the state into a second log (compact.go).
//
// Dropping a collection writes only the removal of its catalog entry, however
// many records it has.
//
// A log of the second format, without that, is read and appended to as it is;
// the next compaction writes the present one. Logs of the first format, which
// had a key per record, are converted when they are opened.
//
// The package is for the rest of DuskDB: it may change with any version.
package bunt
