package bunt

import (
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

// collection is a handle on a collection within a transaction.
type collection struct {
	tx   *tx
	ns   storage.Namespace
	seen *coll // the collection when root.sets was sets
	sets int
}

// at is the collection's present state. A read-only transaction never sees
// another one.
func (h *collection) at() *coll {
	if !h.tx.writable || h.current() {
		return h.seen
	}
	if c := h.tx.root.get(h.ns); c != nil {
		h.seen = c
	}
	h.sets = h.tx.root.sets
	return h.seen
}

// current reports whether seen is the present state for certain: no collection has changed
// since, or it is the transaction's own, which is changed in place.
func (h *collection) current() bool {
	c := h.seen
	return h.sets == h.tx.root.sets || c.change != nil && c.change.cur == c && c.info.Namespace == h.ns
}

// own is the transaction's private clone of the collection.
func (h *collection) own() (*coll, error) {
	if h.seen != nil && h.seen.change != nil && h.sets == h.tx.root.sets {
		return h.seen, h.tx.usable(true)
	}
	c, err := h.tx.own(h.ns)
	if err == nil {
		h.seen, h.sets = c, h.tx.root.sets
	}
	return c, err
}

// Info is the collection's description.
func (h *collection) Info() *storage.Info { return h.at().info }

// Count is the number of records.
func (h *collection) Count() (int64, error) { return int64(h.at().records.Len()), nil }

// Size is the sum of the document lengths.
func (h *collection) Size() (int64, error) { return h.at().size, nil }

// LastID is the id of the newest record ever inserted.
func (h *collection) LastID() (storage.RecordID, error) { return h.at().lastID, nil }

// IndexStats describes the entries of an index.
func (h *collection) IndexStats(name string) (storage.IndexStats, error) {
	x := h.at().index(name)
	if x == nil {
		return storage.IndexStats{}, storage.ErrNoIndex
	}
	return storage.IndexStats{Entries: int64(x.entries.Len()), Bytes: x.bytes, Multikey: x.multikey}, nil
}

// Get reads a record.
func (h *collection) Get(id storage.RecordID) (storage.Record, bool, error) {
	stored, ok := h.at().records.Get(id)
	if !ok {
		return storage.Record{}, false, nil
	}
	return record(id, stored), true, nil
}

// GetMany reads records one after the other.
func (h *collection) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	records := h.at().records
	for _, id := range ids {
		if stored, ok := records.Get(id); ok && !fn(record(id, stored)) {
			break
		}
	}
	return nil
}

// Find reads the first record with exactly this key.
func (h *collection) Find(name string, key []byte) (storage.Record, bool, error) {
	c := h.at()
	x := c.index(name)
	if x == nil {
		return storage.Record{}, false, storage.ErrNoIndex
	}
	id, ok := x.find(key)
	if !ok {
		return storage.Record{}, false, nil
	}
	stored, ok := c.records.Get(id)
	if !ok {
		return storage.Record{}, false, nil
	}
	return record(id, stored), true, nil
}

// Scan yields records in the order of their ids. It reads the state at its
// beginning; writes of the callback do not affect it.
func (h *collection) Scan(r storage.Range, fn func(storage.Record) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	scanRecords(h.at().frozenRecords(), r, fn)
	return nil
}

// ScanIndex yields index entries in key order, as Scan does.
func (h *collection) ScanIndex(name string, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	x := h.at().index(name)
	if x == nil {
		return storage.ErrNoIndex
	}
	scanEntries(x.frozen(), r, fn)
	return nil
}

// ScanRecords yields the entries of an index with their records.
func (h *collection) ScanRecords(name string, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	c := h.at()
	x := c.index(name)
	if x == nil {
		return storage.ErrNoIndex
	}
	x.frozen().parts(rangeOf(&r), r.Reverse, newRecordScan(c.frozenRecords(), r.Reverse, fn).part)
	return nil
}

// Insert stores a new document.
func (h *collection) Insert(doc value.Doc, ts int64) (storage.RecordID, error) {
	return h.insert(0, makeStored(doc, ts))
}

// Restore stores a record of another engine with its id.
func (h *collection) Restore(r storage.Record) error {
	c, err := h.own()
	if err != nil {
		return err
	}
	if h.tx.snap != nil {
		return errors.New("records cannot be restored in a snapshot transaction")
	}
	if r.ID <= c.lastID {
		return fmt.Errorf("record %d of %s cannot be restored: the last id is %d", r.ID, h.ns, c.lastID)
	}
	_, err = h.insert(r.ID, makeStored(r.Doc, r.TS))
	return err
}

// insert stores a record and adds its index entries. The id 0 stands for the
// next one, which is provisional in a snapshot transaction.
func (h *collection) insert(id storage.RecordID, stored string) (storage.RecordID, error) {
	c, err := h.own()
	if err != nil {
		return 0, err
	}
	if id == 0 {
		id = c.lastID + 1
	}
	diffs, err := c.diffKeys(h.tx.scratch, storage.Record{}, record(id, stored))
	if err != nil {
		return 0, err
	}
	if _, err := h.write(c, id, diffs); err != nil {
		return 0, err
	}
	h.tx.recordInsert(h.ns, c.num, id, stored)
	c.put(id, stored)
	return id, nil
}

// Update replaces the document of a record.
func (h *collection) Update(id storage.RecordID, doc value.Doc, ts int64) (storage.Written, error) {
	return h.update(id, makeStored(doc, ts))
}

// update replaces the stored value of a record and changes the index entries
// that differ.
func (h *collection) update(id storage.RecordID, stored string) (w storage.Written, err error) {
	c, old, err := h.claim(id)
	if err != nil {
		return w, err
	}
	w.Old = record(id, old)
	diffs, err := c.diffKeys(h.tx.scratch, w.Old, record(id, stored))
	if err != nil {
		return w, err
	}
	if w.Keys, err = h.write(c, id, diffs); err != nil {
		return w, err
	}
	h.tx.recordUpdate(h.ns, c.num, id, stored)
	c.put(id, stored)
	return w, nil
}

// Delete removes a record.
func (h *collection) Delete(id storage.RecordID) (w storage.Written, err error) {
	c, old, err := h.claim(id)
	if err != nil {
		return w, err
	}
	w.Old = record(id, old)
	diffs, err := c.diffKeys(h.tx.scratch, w.Old, storage.Record{})
	if err != nil {
		return w, err
	}
	if w.Keys, err = h.write(c, id, diffs); err != nil {
		return w, err
	}
	h.tx.recordDelete(h.ns, c.num, id)
	c.drop(id)
	return w, nil
}

// Truncate removes all records.
func (h *collection) Truncate() error { return h.tx.truncate(h.ns) }

// claim makes sure that this transaction may change a record.
func (h *collection) claim(id storage.RecordID) (c *coll, old string, err error) {
	if c, err = h.own(); err != nil {
		return nil, "", err
	}
	old, ok := c.records.Get(id)
	if !ok {
		return nil, "", storage.ErrNoRecord
	}
	return c, old, h.tx.claimRecord(h.ns, c, id)
}

// write changes the index entries of a record, or nothing. It returns how many
// it has removed from indexes that are not private.
func (h *collection) write(c *coll, id storage.RecordID, diffs []keydiff.Change) (removed int, err error) {
	if err := c.checkUnique(diffs, id); err != nil {
		return 0, err
	}
	if err := h.tx.claimKeys(h.ns, c, diffs); err != nil {
		return 0, err
	}
	return c.apply(diffs, id), nil
}

var _ storage.Collection = (*collection)(nil)
