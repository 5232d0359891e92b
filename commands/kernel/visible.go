package kernel

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A document that has expired under document TTL stays stored until a pass removes it, but
// no command may see it any more (semantics.md §7.4). Only this file decides which documents
// a command sees: readers use Visible and exec.ScanIterator, writers use Visible and
// write.Writer, and index builds use write.RemoveExpired. A test refuses every other call of the
// storage that reads records.

// Visible is a collection as a command sees it at its instant.
type Visible struct {
	Coll storage.Collection // the collection, with expired documents
	Meta *catalog.Meta      // its description in the catalog
	Now  int64              // the instant of the command, milliseconds
}

// Visible looks at a collection at the instant of the command.
func (c *Call) Visible(coll storage.Collection) Visible {
	return Visible{Coll: coll, Meta: catalog.Of(coll.Info()), Now: c.Now}
}

// Sees reports whether the command sees a record.
func (s Visible) Sees(r *storage.Record) bool { return s.Meta.Visible(r, s.Now) }

// Get reads a record by its id.
func (s Visible) Get(id storage.RecordID) (storage.Record, bool, error) {
	r, ok, err := s.Coll.Get(id)
	if err != nil || !ok || !s.Sees(&r) {
		return storage.Record{}, false, err
	}
	return r, true, nil
}

// Each calls fn with the records that have these ids, as [storage.ReadMany] does: fn may
// write to the collection.
func (s Visible) Each(ids []storage.RecordID, fn func(storage.Record) error) error {
	return storage.ReadMany(s.Coll, ids, func(r storage.Record) error {
		if !s.Sees(&r) {
			return nil
		}
		return fn(r)
	})
}

// Find reads the first record with a key in an index. It returns false if that
// record has expired. In an index that is not unique, a visible record may follow it.
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

// Entries yields the entries of an index with their records, until fn returns false.
func (s Visible) Entries(name string, kr storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	return s.Coll.ScanRecords(name, kr, func(key []byte, r storage.Record) bool {
		return !s.Sees(&r) || fn(key, r)
	})
}

// Count is the number of records.
func (s Visible) Count() (int64, error) {
	hidden, err := s.Meta.Rules.PendingPurge(s.Coll, s.Now)
	if err != nil {
		return 0, err
	}
	stored, err := s.Coll.Count()
	return stored - hidden, err
}

// AllVisible reports whether no stored record has expired, so that index entries can be
// counted without reading their records.
func (s Visible) AllVisible() bool { return s.Meta.Rules.FirstHidden(s.Coll) > s.Now }
