package kv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/value"
)

// collection is a handle on a collection within a transaction.
type collection struct {
	tx   *Tx
	ns   storage.Namespace
	seen *Coll // when the handle was opened
}

// at is the collection's present state. A read-only transaction never sees
// another one.
func (h *collection) at() *Coll {
	if !h.tx.writable {
		return h.seen
	}
	if c := h.seen; c.Change != nil && c.Change.After == c && c.Info.Namespace == h.ns {
		return c // the transaction's own, changed in place
	}
	if c := h.tx.Root.Get(h.ns); c != nil {
		h.seen = c
	}
	return h.seen
}

// Info is the collection's description.
func (h *collection) Info() *storage.Info { return h.at().Info }

// Count is the number of records.
func (h *collection) Count() (int64, error) {
	c, err := h.exact()
	if err != nil {
		return 0, err
	}
	return c.count, nil
}

// exact is the collection's present state with exact statistics.
func (h *collection) exact() (*Coll, error) { return h.tx.exactly(h.at()) }

// Size is the sum of the document lengths.
func (h *collection) Size() (int64, error) {
	c, err := h.exact()
	if err != nil {
		return 0, err
	}
	return c.size, nil
}

// LastID is the id of the newest record ever inserted.
func (h *collection) LastID() (storage.RecordID, error) {
	c, err := h.exact()
	if err != nil {
		return 0, err
	}
	return c.LastID, nil
}

// IndexStats describes the entries of an index.
func (h *collection) IndexStats(name string) (storage.IndexStats, error) {
	c := h.at()
	x := c.Index(name)
	if x == nil {
		return storage.IndexStats{}, storage.ErrNoIndex
	}
	return storage.IndexStats{Entries: x.Entries, Bytes: x.bytes, Estimate: c.Estimated && h.tx.Cluster.Estimates(), Multikey: x.Multikey}, nil
}

// Get reads a record.
func (h *collection) Get(id storage.RecordID) (storage.Record, bool, error) {
	if err := h.tx.usable(false); err != nil {
		return storage.Record{}, false, err
	}
	return h.get(h.at(), id)
}

func (h *collection) get(c *Coll, id storage.RecordID) (r storage.Record, ok bool, err error) {
	stored, err := h.tx.stored(h.tx.Ctx, c, id)
	if err != nil || stored == nil {
		return r, false, err
	}
	r, err = ParseRecord(id, stored)
	return r, err == nil, err
}

// GetMany reads records by their ids.
func (h *collection) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	c := h.at()
	if h.tx.mem != nil {
		return h.getOneByOne(c, ids, fn)
	}
	var b batch
	for _, id := range ids {
		b.add(c.Num, nil, max(id, 0))
	}
	_, err := b.read(h.tx.Ctx, h.tx.frozen(recordSpan(c.Num)), func(_ []byte, r storage.Record) bool { return fn(r) })
	return err
}

// checkEvery is after how many records a read of many looks whether it should end.
const checkEvery = 256

// getOneByOne is GetMany over a store in memory.
func (h *collection) getOneByOne(c *Coll, ids []storage.RecordID, fn func(storage.Record) bool) error {
	for i, id := range ids {
		if i%checkEvery == checkEvery-1 && h.tx.Ctx.Err() != nil {
			return h.tx.Ctx.Err()
		}
		stored := h.tx.mem.Record(c.Num, id)
		if stored == nil {
			continue
		}
		r, err := ParseRecord(id, stored)
		if err != nil {
			return err
		}
		if !fn(r) {
			return nil
		}
	}
	return nil
}

// Find reads the first record with exactly this key.
func (h *collection) Find(name string, key []byte) (r storage.Record, ok bool, err error) {
	if err := h.tx.usable(false); err != nil {
		return r, false, err
	}
	c := h.at()
	x := c.Index(name)
	if x == nil {
		return r, false, storage.ErrNoIndex
	}
	if j, ok := h.tx.snap.(Joiner); ok {
		if r, ok, done, err := h.tx.findJoined(h.tx.Ctx, j, c, x, key); done {
			return r, ok, err
		}
	}
	id, err := h.tx.Find(h.tx.Ctx, c, x, key)
	if err != nil || id == 0 {
		return r, false, err
	}
	return h.get(c, id)
}

// Scan yields records in the order of their ids. It reads the state at its
// beginning; writes of the callback do not affect it.
func (h *collection) Scan(r storage.Range, fn func(storage.Record) bool) error {
	if err := h.tx.usable(false); err != nil {
		return err
	}
	return h.tx.ScanRecords(h.tx.Ctx, h.at(), r, fn)
}

// ScanIndex yields index entries in key order, as Scan does.
func (h *collection) ScanIndex(name string, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) error {
	c, x, err := h.scanned(name)
	if err != nil {
		return err
	}
	return h.tx.scanEntries(h.tx.Ctx, c, x, r, fn)
}

// ScanRecords yields the entries of an index with their records.
func (h *collection) ScanRecords(name string, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	c, x, err := h.scanned(name)
	if err != nil {
		return err
	}
	return h.tx.scanJoined(h.tx.Ctx, c, x, r, fn)
}

// scanned finds an index to be scanned.
func (h *collection) scanned(name string) (*Coll, *Index, error) {
	if err := h.tx.usable(false); err != nil {
		return nil, nil, err
	}
	c := h.at()
	x := c.Index(name)
	if x == nil {
		return nil, nil, storage.ErrNoIndex
	}
	return c, x, nil
}

// Insert stores a new document.
func (h *collection) Insert(doc value.Doc, ts int64) (storage.RecordID, error) {
	return h.insert(makeStored(doc, ts))
}

// insert stores a record with the next id, or with a provisional one in a
// snapshot transaction, and adds its index entries.
func (h *collection) insert(stored []byte) (storage.RecordID, error) {
	c, err := h.tx.Own(h.ns)
	if err != nil {
		return 0, err
	}
	id := c.LastID + 1
	if _, err := h.write(c, id, nil, stored); err != nil {
		return 0, err
	}
	h.tx.recordInsert(h.ns, c.Num, id, stored)
	return id, nil
}

// Restore stores a record as it is. Its id must be above LastID. A snapshot
// transaction cannot do it: its ids are provisional.
func (h *collection) Restore(r storage.Record) error {
	if h.tx.Txn != nil {
		return errors.New("a snapshot transaction cannot restore records")
	}
	c, err := h.tx.Own(h.ns)
	if err != nil {
		return err
	}
	if r.ID <= c.LastID && (h.tx.Cluster == nil || !h.tx.Cluster.AnyLastID()) {
		return fmt.Errorf("record %d cannot be restored behind record %d", r.ID, c.LastID)
	}
	_, err = h.write(c, r.ID, nil, makeStored(r.Doc, r.TS))
	return err
}

// Update replaces the document of a record.
func (h *collection) Update(id storage.RecordID, doc value.Doc, ts int64) (storage.Written, error) {
	return h.update(id, makeStored(doc, ts))
}

// update replaces the stored value of a record and changes the index entries
// that differ.
func (h *collection) update(id storage.RecordID, stored []byte) (w storage.Written, err error) {
	c, old, err := h.claim(id)
	if err != nil {
		return w, err
	}
	if w, err = h.write(c, id, old, stored); err != nil {
		return w, err
	}
	h.tx.recordUpdate(h.ns, c.Num, id, stored)
	return w, nil
}

// Delete removes a record.
func (h *collection) Delete(id storage.RecordID) (w storage.Written, err error) {
	c, old, err := h.claim(id)
	if err != nil {
		return w, err
	}
	if w, err = h.write(c, id, old, nil); err != nil {
		return w, err
	}
	h.tx.recordDelete(h.ns, c.Num, id)
	return w, nil
}

// Truncate removes all records.
func (h *collection) Truncate() error { return h.tx.truncate(h.ns) }

// claim makes sure that this transaction may change a record.
func (h *collection) claim(id storage.RecordID) (c *Coll, old []byte, err error) {
	if c, err = h.tx.Own(h.ns); err != nil {
		return nil, nil, err
	}
	if old, err = h.tx.storedOnce(h.tx.Ctx, c, id); err != nil {
		return nil, nil, err
	}
	if old == nil {
		return nil, nil, storage.ErrNoRecord
	}
	return c, old, h.tx.claimRecord(h.ns, c, id, old)
}

// write turns the stored value of a record from old to stored, one of which may
// be nil, and changes its index entries; or it changes nothing.
func (h *collection) write(c *Coll, id storage.RecordID, old, stored []byte) (w storage.Written, err error) {
	var now storage.Record
	if old != nil {
		if w.Old, err = ParseRecord(id, old); err != nil {
			return storage.Written{}, err
		}
	}
	if stored != nil {
		if now, err = ParseRecord(id, stored); err != nil {
			return storage.Written{}, err
		}
	}
	diffs := h.tx.Scratch.changes(len(c.Indexes))
	for i, x := range c.Indexes {
		if !c.keeps(i, id) {
			diffs[i].Add, diffs[i].Remove, diffs[i].Keys, diffs[i].Multikey = nil, nil, nil, 0
			continue
		}
		if err := diffs[i].Compute(x.Maker, w.Old, now); err != nil {
			return storage.Written{}, err
		}
	}
	if err := h.tx.checkUnique(c, diffs, id); err != nil {
		return storage.Written{}, err
	}
	if err := h.tx.claimKeys(h.ns, c, diffs); err != nil {
		return storage.Written{}, err
	}
	w.Keys = h.tx.apply(c, diffs, id)
	h.tx.put(c, id, len(w.Old.Doc), stored, len(now.Doc), old == nil)
	return w, nil
}

// checkUnique fails if a key to be added belongs to another record.
func (t *Tx) checkUnique(c *Coll, diffs []keydiff.Change, id storage.RecordID) error {
	for i, x := range c.Indexes {
		if !x.Maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
			other, err := t.FindHolder(c, x, x.Maker.Order(key))
			if err != nil {
				return err
			}
			if other != 0 && other != id {
				return &storage.DuplicateKeyError{
					Namespace: c.Info.Namespace,
					Index:     c.IndexName(i),
					Key:       bytes.Clone(key),
					Existing:  other,
				}
			}
		}
	}
	return nil
}

// FindHolder returns the record that has an Order in a unique index, or 0. Keys that
// grow with the records need no search.
func (t *Tx) FindHolder(c *Coll, x *Index, order []byte) (id storage.RecordID, err error) {
	if t.Cluster != nil {
		return t.Cluster.Holder(c, x, order)
	}
	if t.mem != nil {
		return t.mem.Find(c.Num, x.Num, x.Maker, order), nil
	}
	if x.MaxKey == nil {
		if x.MaxKey, err = t.greatest(t.Ctx, c, x); err != nil {
			return 0, err
		}
	}
	if bytes.Compare(order, x.MaxKey) > 0 {
		return 0, nil
	}
	return t.Find(t.Ctx, c, x, order)
}

// apply changes the entries of a record in all indexes. It returns the number of
// those removed from indexes that are not private.
func (t *Tx) apply(c *Coll, diffs []keydiff.Change, id storage.RecordID) (removed int) {
	for i, x := range c.Indexes {
		d := &diffs[i]
		if !x.Maker.Private() && i < len(c.Info.Indexes) {
			removed += len(d.Remove)
		}
		for _, key := range d.Remove {
			t.removeEntry(c, x, key, id)
		}
		if x.rowPerOrder {
			t.changeRows(c, x, d, id)
		} else {
			for _, key := range d.Add {
				t.AddEntry(c, x, key, id)
			}
		}
		x.Multikey |= d.Multikey
	}
	return removed
}

func (t *Tx) AddEntry(c *Coll, x *Index, key []byte, id storage.RecordID) {
	if t.fork != nil {
		t.fork.AddEntry(c.Num, x.Num, key, id)
		x.added(key)
		return
	}
	stored := t.entryKey(c, x, key, id)
	t.Overlay.Set(stored, empty)
	x.fillGap(stored)
	x.added(key)
}

// removeEntry removes an entry. Of a unique index it removes the row, with what
// else the record has in it.
func (t *Tx) removeEntry(c *Coll, x *Index, key []byte, id storage.RecordID) {
	x.Entries--
	x.bytes -= int64(len(key)) + entryOverhead
	switch {
	case t.fork != nil:
		t.fork.RemoveEntry(c.Num, x.Num, key, id)
	case x.rowPerOrder:
		t.delRow(c, x, x.Maker.Order(key))
	default:
		stored := t.entryKey(c, x, key, id)
		t.Overlay.Delete(stored)
		x.widenGap(stored)
	}
}

func (t *Tx) entryKey(c *Coll, x *Index, key []byte, id storage.RecordID) []byte {
	t.Scratch.key = AppendEntryKey(t.Scratch.key[:0], c.Num, x.Num, key, id)
	return t.arena.keep(t.Scratch.key)
}

// put stores or deletes (nil) a record after its index entries were changed.
func (t *Tx) put(c *Coll, id storage.RecordID, was int, stored []byte, is int, fresh bool) {
	if t.fork != nil {
		t.fork.SetRecord(c.Num, id, stored)
		c.Change.touch(id)
	} else {
		t.putKey(c, id, stored, fresh)
	}
	c.size += int64(is) - int64(was)
	c.Change.Records = true
	if stored == nil {
		c.count--
	} else {
		c.LastID = max(c.LastID, id)
		if fresh {
			c.count++
		}
	}
	t.Common.track(c.Num, id, t)
}

// putKey writes the key of a record.
func (t *Tx) putKey(c *Coll, id storage.RecordID, stored []byte, fresh bool) {
	t.Scratch.key = AppendRecordKey(t.Scratch.key[:0], c.Num, id)
	key := t.arena.keep(t.Scratch.key)
	if !fresh {
		t.overwritten = append(t.overwritten, t.cache.hash(key))
		if stored != nil {
			t.renewed = append(t.renewed, key)
		}
	}
	if stored == nil {
		t.Overlay.Delete(key)
	} else {
		t.Overlay.Set(key, stored)
	}
}

var _ storage.Collection = (*collection)(nil)
