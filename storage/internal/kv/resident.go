package kv

import (
	"context"
	"runtime"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// Resident is a Snapshot of a store that has its data in memory. Of records and entries it
// knows what the methods here return, and nothing by their keys. What it returns is shared
// and never changes, but for the keys of entries, which are valid during the call. Methods for
// a collection or an index that the snapshot does not have find nothing.
//
// There is an entry for each key of a record, in unique indexes, too.
type Resident interface {
	Snapshot
	// Record returns the value of a record, or nil.
	Record(num uint32, id storage.RecordID) []byte
	// EachRecord visits records until fn returns false. What fn writes does not affect it.
	EachRecord(num uint32, r storage.Range, fn func(storage.Record) bool)
	// Find returns the first record whose entry has a key as its Order, or 0.
	Find(num, index uint32, maker storage.Index, key []byte) storage.RecordID
	// EachEntry visits entries until fn returns false. What fn writes does not affect it.
	EachEntry(num, index uint32, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool)
	// EachEntryRecord is EachEntry with the records, for those that exist.
	EachEntryRecord(num, index uint32, r storage.KeyRange, fn func(key []byte, r storage.Record) bool)
	// Build makes the entries of indexes over the records of a collection; install puts them
	// into a fork of any state.
	Build(ctx context.Context, b *Build) (install func(Fork), err *BuildError)
	// Fork returns a copy for a transaction. Making one costs next to nothing.
	Fork() Fork
}

// Fork is a copy of a Resident that belongs to one transaction, which reads what it has
// written. It has no use once it was applied.
type Fork interface {
	Resident
	// SetRecord sets the value of a record, which must not change any more, and has at least the
	// eight bytes of the time of writing; nil deletes it.
	SetRecord(num uint32, id storage.RecordID, value []byte)
	// AddEntry adds an entry, and RemoveEntry removes one. They keep no keys.
	AddEntry(num, index uint32, key []byte, id storage.RecordID)
	RemoveEntry(num, index uint32, key []byte, id storage.RecordID)
	// DropIndex removes all entries of an index.
	DropIndex(num, index uint32)
	// UndoIndex makes the entries of an index again what they were before the transaction.
	UndoIndex(num, index uint32)
	// DropCollection removes all records of a collection, and all of its entries.
	DropCollection(num uint32)
	// Repack moves entries together, from a place on, about so many lists of them as are
	// asked for. It returns where to go on, if there is more, and whether it has moved any.
	Repack(from Place, lists int) (next Place, more, changed bool)
}

// Build says which indexes of a collection are to be made.
type Build struct {
	Namespace storage.Namespace
	Num       uint32      // number of the collection
	Indexes   []*Index    // indexes without entries, whose sizes and multikey paths Build sets
	Names     []string    // names of the indexes
	Threads   int         // how many goroutines may work at the same time
	Steps     func(int64) // takes the number of records, and of entries, that were done; may be nil
}

// BuildError is the error of making one of several indexes.
type BuildError struct {
	Index string
	Err   error
}

// Made notes what an index that was made has.
func (x *Index) Made(entries, bytes int64, multikey storage.Multikey) {
	x.Entries, x.bytes, x.Multikey = entries, bytes, multikey
}

// Bytes is the size of the entries.
func (x *Index) Bytes() int64 { return x.bytes }

// besideClients is how many goroutines build while clients are served.
func besideClients() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// buildInMemory makes an index over the records that the transaction sees.
func (t *Tx) buildInMemory(c *Coll, name string, x *Index) (*Index, error) {
	install, err := t.fork.Build(t.Ctx, &Build{
		Namespace: c.Info.Namespace, Num: c.Num, Indexes: []*Index{x}, Names: []string{name}, Threads: besideClients(),
	})
	if err != nil {
		return nil, err.Err
	}
	install(t.fork)
	return x, nil
}

// collectRecords adds the records that a transaction has written in memory to the writes of
// its commit. Deletions are among them if nobody has seen the record, too: a log shows by
// them which ids were given.
func (ch *Change) collectRecords(t *Tx, w *WriteSet) {
	if ch.After == nil {
		return
	}
	slices.Sort(ch.written)
	ch.written = slices.Compact(ch.written)
	ch.first = len(w.Writes)
	for _, id := range ch.written {
		start := len(t.Scratch.keys)
		t.Scratch.keys = AppendRecordKey(t.Scratch.keys, ch.After.Num, id)
		w.Writes = append(w.Writes, Write{t.Scratch.keys[start:len(t.Scratch.keys):len(t.Scratch.keys)], t.fork.Record(ch.After.Num, id)})
	}
}
