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
// Records are in a radix tree over their ids, index entries in a B+ tree of
// packed keys. A node is copied once per fork, so updates that share a commit
// share copies, and what is appended, as most inserts are, is written behind
// the end that others see and copies nothing.
//
// Record values are strings; documents are views of them. Strings do not
// change, so a document stays valid for ever.
//
// # Log
//
// BuntDB keeps the log of commits. Index entries are not stored; they are
// made again on open. Each commit is a group: one BuntDB transaction, which
// sets the log's only key to all that the commit does, and so one write(2).
// BuntDB's own state in memory is thus the last group and nothing more: what
// it would keep of the records is in the trees above, once. A group has a
// sequence number and checksums, since a crash can leave half of it. Before
// BuntDB opens the file, it is read group by group into the trees, and cut
// back to the last group that is whole. A group also says up to which one
// everything had been synced: where one behind a damaged place says that this
// place had been on disk, the file is damaged, not torn, and is refused.
//
// BuntDB's own syncing, shrinking, expiry and indexes are off. The log is
// synced through a descriptor of its own, one fsync for all who wait; it is
// compacted by copying the state into a second log.
//
// Dropping a collection removes its catalog entry, and with it the records:
// no more is written for many than for few.
//
// Logs of the first format, which had a key per record, are read and written
// anew when they are opened.
package bunt
