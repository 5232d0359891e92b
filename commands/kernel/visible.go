package kernel

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A document that has expired under document TTL stays stored until a pass
// removes it, but from that instant no command may meet it (semantics.md §7.4).
// What a command may see of a collection is decided in this file and nowhere
// else: readers by Visible and exec.ScanIterator, writers by Visible and write.Writer,
// and what is built of all documents by write.Settled. A test refuses every other call
// of the storage that reads records.

// Visible is a collection as a command sees it at its instant.
type Visible struct {
	Coll storage.Collection // with what has expired
	Meta *catalog.Meta      // what the catalog says of it
	Now  int64              // the instant of the command, milliseconds
}

// Visible looks at a collection at the instant of the command.
func (c *Call) Visible(coll storage.Collection) Visible {
	return Visible{Coll: coll, Meta: catalog.Of(coll.Info()), Now: c.Now}
}

// Sees reports whether a record is there for the command.
func (s Visible) Sees(r *storage.Record) bool { return s.Meta.Visible(r, s.Now) }

// Get reads a record by its id.
func (s Visible) Get(id storage.RecordID) (storage.Record, bool) {
	r, ok := s.Coll.Get(id)
	if !ok || !s.Sees(&r) {
		return storage.Record{}, false
	}
	return r, true
}

// Find reads the first record with a key in an index. Of a unique index there is
// no second one; in any other, what has expired may stand in front.
func (s Visible) Find(name string, key []byte) (storage.Record, bool, error) {
	r, ok, err := s.Coll.Find(name, key)
	if err != nil || !ok || s.Sees(&r) {
		return r, ok && err == nil, err
	}
	return storage.Record{}, false, nil
}

// ByID reads the record with an _id, as the collection compares strings.
func (s Visible) ByID(id value.Value) (storage.Record, bool, error) {
	return s.Find(reserved.IDIndex, value.AppendKeyWith(nil, id, s.Meta.Collator()))
}

// Scan yields records in natural order until fn returns false.
func (s Visible) Scan(rg storage.Range, fn func(storage.Record) bool) error {
	return s.Coll.Scan(rg, func(r storage.Record) bool { return !s.Sees(&r) || fn(r) })
}

// Entries yields the entries of an index, with the records they lead to, until
// fn returns false.
func (s Visible) Entries(name string, kr storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	return s.Coll.ScanIndex(name, kr, func(key []byte, id storage.RecordID) bool {
		r, ok := s.Get(id)
		return !ok || fn(key, r)
	})
}

// Count is the number of records.
func (s Visible) Count() (int64, error) {
	hidden, err := s.Meta.Rules.PendingPurge(s.Coll, s.Now)
	return s.Coll.Count() - hidden, err
}

// AllVisible reports whether nothing is stored that has expired, so that
// entries of indexes can be counted without a look at their records.
func (s Visible) AllVisible() bool { return s.Meta.Rules.NextDue(s.Coll) > s.Now }
