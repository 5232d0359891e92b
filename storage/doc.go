// Package storage is the contract between DuskDB's commands and a storage
// engine: namespaces, records, indexes, transactions. It knows nothing of
// filters, commands or MongoDB's error codes.
//
// # Records
//
// A collection is a sequence of records addressed by a [RecordID] that grows
// with every insert, so natural order is insertion order, and a scan can be
// resumed by the last id it saw. A [Record] carries the document and the
// instant of its last write in milliseconds, given by the writer (from the
// server's clock, sampled once per command).
//
// # Indexes
//
// An index is an opaque specification document with a name. The engine asks
// the [Indexer] it was opened with to turn the specification into an [Index],
// which makes the keys of a record; the engine keeps the set of key+RecordID
// entries in byte order, and checks uniqueness. Index entries are derived
// data: an engine may rebuild them on open. A collection's "_id" index is an
// index like any other.
//
// An index only narrows the search: a reader must check each record against
// the filter again, because a concurrent write may have changed the record
// after its index entry was read.
//
// A collection keeps the UUID that it was created with when it is renamed. The
// engine generates it, unless the caller chooses it (CreateAs, for a
// collection that is restored); no two collections have the same.
//
// # Guarantees
//
//   - The writes of an Update are applied completely if its function returns nil,
//     and not at all if it returns an error. The function sees its own writes.
//     Updates take effect one after the other, as if only one ran at a time. The
//     function may run again, after a conflict with another writer.
//   - After Update returns, every later View sees the writes. They survive a
//     crash of the process at once, and a crash of the machine once a
//     [Engine.Sync] that began later has returned, or after the journal
//     interval.
//   - After a crash the engine holds a prefix of the committed updates, each of them complete.
//   - View reads the latest committed state, never half an Update. Its function may run
//     again before it has got any records, if the catalog that it saw first is outdated: it must
//     start over. Whether
//     a long scan sees writes that land while it runs is up to the engine
//     (one that has snapshots does not). To see them, a reader continues from the last position in another View. A scan blocks no writer. Its callback
//     must not write to the collection: collect first, then write.
//   - Every method that reads returns an error if the data could not be read.
//     "There is no such record" is an answer and no error.
//   - Ids only grow. Gaps between them are normal.
//   - Operations end with the context of their statement: that of View or Update,
//     and in a snapshot transaction that of [Txn.Within].
//   - Begin opens a snapshot transaction: it sees the state at its beginning
//     and its own writes; a write to a record (or a unique key, or a catalog
//     entry) changed by someone else since fails with [ErrConflict], and so
//     does a write, also in an Update, to what another open transaction has
//     written, and an Update that drops, renames or changes a collection which
//     one has written to. No operation waits for a transaction; after a conflict the caller may try again. Ids of records that it inserts are provisional: its commit gives
//     them ids in the order of commits.
//   - An operation that fails (a duplicate key) changes nothing; the function may continue with other operations.
//   - DeleteRange is one operation: it visits the range, asks about each record
//     once, and then removes what was chosen, all or nothing. What it removes it has
//     shown before, so the caller can log it. It sees the writes of its transaction.
//     A record that an open transaction has written is a conflict, as for Delete, or
//     passed over before the caller is asked. In a snapshot transaction the records
//     that the caller was asked about count as written by it.
//   - Documents that the engine returns are immutable and stay valid; documents passed to it are copied.
//   - A failed write (disk full) is reported and leaves memory and disk consistent; reads continue.
//
// # Stability
//
// The package is a preview for those who write an engine: it may still change
// between versions, and CHANGELOG.md says so when it does.
package storage
