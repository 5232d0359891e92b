// Package kv implements the contract of package storage over an ordered
// key-value store.
//
// A [Store] reads values by their keys, scans ranges, and applies write sets;
// everything else is here: the catalog, the layout of the keys, records and
// index entries, uniqueness, counters, snapshot transactions.
//
// # States
//
// The descriptions and the counters of all collections are in memory, in an
// immutable tree. Each commit publishes a new one together with a snapshot of
// the store, which readers hold while they read. So a reader takes no lock,
// and sees whole commits.
//
// # Writing
//
// An Update keeps its writes in a tree of its own, in the order of their keys,
// and reads the snapshot through it. Its commit hands the store one write set:
// the writes, the statistics of each collection that has changed, and the
// ranges that are gone. One Update runs at a time, so that a write set needs no
// conditions. While the store makes a commit safe, the next Update runs on its
// state, the tip; readers see a state when it is safe. A snapshot transaction does
// the same with a log of its operations, which its commit repeats in an Update.
//
// Collections and indexes have numbers that begin their keys. Truncating a
// collection gives it a new number, so that nothing but the removal of a range
// is needed to forget what it had.
//
// An index that is prepared beside writers is written into the store under a
// number that the catalog does not know yet, and a mark says so: opening the
// store removes what a crash has left of it.
//
// # Reading
//
// A part of the cache keeps what single reads have found: records by their ids,
// and ids by the keys of unique indexes (see hot). Scans pass it by. An index that
// is unique from the beginning has its keys as keys of the store, so that a look-up
// reads a single value. An insert reads it only if its key is not behind all others.
//
// Deleted keys cost a scan time until the store has merged its parts. So an index
// remembers a few ranges in which it has no entries (see gaps), and a collection
// its first id (see least).
package kv
