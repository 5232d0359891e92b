package mem

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Loader fills a store with the descriptions, statistics and records of a log, in the order in
// which they were written. Nobody reads meanwhile, so it changes the trees in place.
type Loader struct {
	colls  map[uint32]*loading
	last   *loading // collection of the row before
	number uint32   // the greatest number of a collection so far
}

// loading is a collection that is being loaded.
type loading struct {
	collection
	lastID storage.RecordID // the greatest of a record so far
}

// NewLoader begins to fill a store.
func NewLoader() *Loader { return &Loader{colls: map[uint32]*loading{}} }

func (l *Loader) collection(num uint32) *loading {
	if l.last != nil && l.last.num == num {
		return l.last
	}
	c := l.colls[num]
	if c == nil {
		c = &loading{collection: collection{num: num, records: *newRecords()}}
		l.colls[num] = c
		l.number = max(l.number, num)
	}
	l.last = c
	return c
}

// Set sets a row. It copies the value.
func (l *Loader) Set(r kv.Row, v []byte) error {
	c := l.collection(r.Num)
	switch r.Kind {
	case kv.RowCatalog:
		c.catalog = bytes.Clone(v)
	case kv.RowStats:
		c.lastID = max(c.lastID, kv.LastIDOf(v))
	case kv.RowRecord:
		if len(v) < 8 || r.ID <= 0 {
			return fmt.Errorf("record %d of collection %d is too short", r.ID, r.Num)
		}
		c.records.Set(r.ID, string(v))
		c.lastID = max(c.lastID, r.ID)
	default:
		return fmt.Errorf("a row of the kind %q cannot be loaded", r.Kind)
	}
	return nil
}

// Delete deletes a row. With a description goes the collection.
func (l *Loader) Delete(r kv.Row) error {
	switch r.Kind {
	case kv.RowCatalog:
		l.collection(r.Num) // its number was in use
		delete(l.colls, r.Num)
		l.last = nil
	case kv.RowStats: // goes with the description
	case kv.RowRecord:
		c := l.collection(r.Num)
		c.records.Delete(r.ID)
		c.lastID = max(c.lastID, r.ID) // it may have come and gone in one commit
	default:
		return fmt.Errorf("a row of the kind %q cannot be loaded", r.Kind)
	}
	return nil
}

// Has reports whether there is a record.
func (l *Loader) Has(num uint32, id storage.RecordID) bool {
	c := l.colls[num]
	if c == nil {
		return false
	}
	_, ok := c.records.Get(id)
	return ok
}

// Catalog is the description of a collection, or nil.
func (l *Loader) Catalog(num uint32) []byte {
	if c := l.colls[num]; c != nil {
		return c.catalog
	}
	return nil
}

// Store returns the store, which the loader must not change any more. Statistics say the
// last id that a collection has ever had, and nothing else.
func (l *Loader) Store() *Store {
	s := New()
	n := s.latest.Load().fork()
	for num, c := range l.colls {
		c.stats = binary.AppendUvarint(nil, uint64(c.lastID))
		n.colls.Set(num, &c.collection)
	}
	s.latest.Store(n.finish())
	s.number = l.number
	return s
}

// LastNumber is the greatest number of a collection that a store was loaded with, whether or
// not it was dropped.
func (s *Store) LastNumber() uint32 { return s.number }
