// Package mem is the store of package kv that has all data in memory. It keeps nothing on disk:
// the default engine puts a log before it.
//
// A collection has its records in a radix tree of their ids and each index in a tree of
// packed lists of entries. A [Snapshot] of all collections never changes: a transaction
// writes to a [Fork], whose trees share with those of the snapshot whatever is not written,
// and a commit makes that the latest state. Readers take no lock.
package mem

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Store is a kv.Store.
type Store struct {
	latest atomic.Pointer[Snapshot]
	number uint32 // the greatest of a collection that was loaded
}

// New makes an empty store.
func New() *Store {
	s := &Store{}
	s.latest.Store(newSnapshot())
	return s
}

// Snapshot returns the latest state. It is safe for concurrent use.
func (s *Store) Snapshot() (kv.Snapshot, error) { return s.latest.Load(), nil }

// Sync has nothing to do.
func (s *Store) Sync(context.Context) error { return nil }

// Compact has nothing to do.
func (s *Store) Compact(context.Context) error { return nil }

// Stats says that the data are in memory.
func (s *Store) Stats(st *storage.EngineStats) error { st.Resident = true; return nil }

// Close has nothing to do: what was read stays valid.
func (s *Store) Close() error { return nil }

// Apply makes a fork with descriptions, statistics and marks the latest state. It keeps the
// values of these, as the fork keeps those of records. Keys of records are for a log.
func (s *Store) Apply(_ context.Context, w *kv.WriteSet) (func() error, error) {
	f, ok := w.Fork.(*Fork)
	if !ok {
		f = s.latest.Load().fork()
	}
	for _, d := range w.Drops {
		num, index, err := dropped(d)
		switch {
		case err != nil:
			return nil, err
		case index == 0:
			f.DropCollection(num)
		default:
			f.DropIndex(num, index)
		}
	}
	for i := range w.Writes {
		if err := f.write(&w.Writes[i], ok); err != nil {
			return nil, err
		}
	}
	s.latest.Store(f.finish())
	return nothing, nil
}

func nothing() error { return nil }

// write sets or deletes a description, statistics or a mark. Records are in the fork already.
func (f *Fork) write(x *kv.Write, forked bool) error {
	num := binary.BigEndian.Uint32(x.Key[1:])
	switch x.Key[0] {
	case 'b':
		f.mark(num, x.Value)
	case 'c':
		f.own(num).catalog = x.Value
	case 's':
		f.own(num).stats = x.Value
	default:
		if !forked {
			return errors.New("mem: records and entries are written to a fork")
		}
	}
	return nil
}

// mark sets or deletes the mark of an unfinished index.
func (f *Fork) mark(num uint32, v []byte) {
	marks := btree.Map[uint32, []byte]{}
	f.marks.Scan(func(n uint32, v []byte) bool { marks.Set(n, v); return true })
	if v == nil {
		marks.Delete(num)
	} else {
		marks.Set(num, v)
	}
	f.marks = &marks
}

// errPart says that a range is not what a store of trees can drop or scan as one.
var errPart = errors.New("mem: a range of keys that is not one tree")

// dropped returns the collection and the index that a range is all of; index 0: all of the
// collection but its description.
func dropped(d kv.Span) (num, index uint32, err error) {
	if len(d.Lo) >= 5 {
		num = binary.BigEndian.Uint32(d.Lo[1:])
		whole := kv.DataSpan(num)
		if len(d.Lo) == 10 {
			index = binary.BigEndian.Uint32(d.Lo[6:])
			whole = kv.IndexSpan(num, index)
		}
		if bytes.Equal(d.Lo, whole.Lo) && bytes.Equal(d.Hi, whole.Hi) {
			return num, index, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: from %x to %x", errPart, d.Lo, d.Hi)
}
