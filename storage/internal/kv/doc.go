// Package kv implements the contract of package storage over an ordered
// key-value store.
//
// A [Store] reads values by their keys, scans ranges, and applies write sets;
// everything else is here: the catalog, the layout of the keys, records and
// index entries, uniqueness, counters, snapshot transactions. Over a store that
// other servers use, too, package kvshared does the same with the types of this
// package; a [Tx] asks its [ClusterTx] what it must do besides.
//
// # States
//
// The descriptions and the counters of all collections are in memory, in an
// immutable tree, the [Root]. Each commit publishes a new one together with a
// snapshot of the store: a [State], which readers hold while they read. So a
// reader takes no lock, and sees whole commits.
//
// # The way of a commit
//
//  1. An Update takes the writer's token and begins on the writer's state, which
//     is the one after the last commit.
//  2. It keeps its writes in an [Overlay], in the order of their keys, and reads
//     the snapshot through it. If the store has its data in memory, it writes into a
//     [Fork] of the snapshot instead, and reads that. A collection that it writes to
//     becomes a clone of its own ([Tx.Own]).
//  3. Commit hands the store one write set: the writes, the statistics of each
//     collection that has changed, and the ranges that are gone. As one Update runs
//     at a time, a write set needs no conditions. The state after it becomes the
//     writer's state, and the token goes to the next Update.
//  4. Finish waits until the store has made the commit safe, and shows its state to
//     readers. Several commits may finish at the same time.
//
// A snapshot transaction ([Txn]) does step 2 on the state of its beginning, with claims
// instead of the token, and keeps a log of its operations, which its commit repeats in an
// Update.
//
// # Locks
//
//	Engine.writer      a token: the writer's state, the scratch memory, the stamps
//	Engine.publishing  the change of the state that readers see
//	valueCache         each shard has a lock for its values; the stamps of writes are atomic
//	preparations.mu    the list of prepared indexes, and what has changed since
//	claims.Table       has a lock of its own
//
// The token is taken before any of the others, and none of these while another is held.
//
// Collections and indexes have numbers that begin their keys. Truncating a
// collection gives it a new number, so that nothing but the removal of a range
// is needed to forget what it had.
//
// An index that is prepared beside writers is written into the store under a
// number that the catalog does not know yet, and a mark says so: opening the
// store removes what a crash has left of it.
// In memory it is made as a whole, beside writers, and put into the latest state in one step.
//
// # A store in memory
//
// A snapshot that is a [Resident] one is asked for records and entries by the numbers of
// collections and indexes, and no key is made for that. A unique index has entries as any
// other has, there is no value cache, and there are no gaps. What such a store has can be
// made of descriptions and records ([Rebuild]), which are all that a log before it needs
// ([WriteSet.Logged]).
//
// # Reading
//
// The value cache keeps what single reads have found: records by their ids,
// and ids by the keys of unique indexes. Scans bypass it. An index that is unique from
// the beginning has its keys as keys of the store, so that a look-up reads a single
// value. An insert reads it only if its key is not behind all others.
//
// Deleted keys cost a scan time until the store has merged its parts. So an index
// remembers a few ranges in which it has no entries (gaps.go), and a collection
// its first id (firstid.go).
package kv
