package bunt

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// keyChange is the change of a write to one index.
type keyChange struct {
	add, remove [][]byte
	multikey    storage.Multikey

	added, removed [][]byte // buffers for both, reused by the next write
}

// scratch is memory that writers reuse one after the other.
type scratch struct {
	diffs []keyChange
	ops   []op
}

// release clears the buffers and drops large ones.
func (s *scratch) release() {
	clear(s.ops)
	if cap(s.ops) > 1<<12 {
		s.ops = nil
	}
}

// changes returns room for the key changes of a write.
func (s *scratch) changes(n int) []keyChange {
	if cap(s.diffs) < n {
		s.diffs = make([]keyChange, n)
	}
	return s.diffs[:n]
}

// diffKeys computes the key changes of all indexes for a record that turns
// from old to new; either may be empty (ID 0). They are valid until the next
// write.
func (c *coll) diffKeys(s *scratch, old, new storage.Record) ([]keyChange, error) {
	diffs := s.changes(len(c.indexes))
	for i, x := range c.indexes {
		d := &diffs[i]
		d.add, d.remove, d.multikey = nil, nil, 0
		if k, ok := x.maker.(storage.KeyKeeper); ok && new.ID != 0 && old.ID != 0 && k.KeepsKeys(old, new) {
			continue
		}
		var err error
		if new.ID != 0 {
			if d.add, d.multikey, err = x.maker.Keys(d.added[:0], new); err != nil {
				return nil, err
			}
			d.added = d.add
		}
		if old.ID != 0 {
			if d.remove, _, err = x.maker.Keys(d.removed[:0], old); err != nil {
				return nil, err
			}
			d.removed = d.remove
		}
		d.normalize()
	}
	return diffs, nil
}

// normalize removes the keys that are in both lists.
func (d *keyChange) normalize() {
	if len(d.add) == 1 && len(d.remove) == 1 { // the usual case
		if bytes.Equal(d.add[0], d.remove[0]) {
			d.add, d.remove = nil, nil
		}
		return
	}
	d.add, d.remove = sortedKeys(d.add), sortedKeys(d.remove)
	if len(d.add) == 0 || len(d.remove) == 0 {
		return
	}
	add, remove := d.add, d.remove
	has := func(keys [][]byte, k []byte) bool {
		_, ok := slices.BinarySearchFunc(keys, k, bytes.Compare)
		return ok
	}
	d.add = slices.DeleteFunc(slices.Clone(add), func(k []byte) bool { return has(remove, k) })
	d.remove = slices.DeleteFunc(slices.Clone(remove), func(k []byte) bool { return has(add, k) })
}

func sortedKeys(keys [][]byte) [][]byte {
	if len(keys) < 2 {
		return keys
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// checkUnique fails if a key to be added belongs to another record.
func (c *coll) checkUnique(diffs []keyChange, id storage.RecordID) error {
	for i, x := range c.indexes {
		if !x.maker.Unique() {
			continue
		}
		for _, key := range diffs[i].add {
			if other, ok := x.find(x.maker.Order(key)); ok && other != id {
				return &storage.DuplicateKeyError{
					Namespace: c.info.Namespace,
					Index:     c.info.Indexes[i].Name,
					Key:       bytes.Clone(key),
					Existing:  other,
				}
			}
		}
	}
	return nil
}

// apply changes the entries of a record in all indexes. It returns the number of
// those removed from indexes that are not private.
func (c *coll) apply(diffs []keyChange, id storage.RecordID) (removed int) {
	for i, x := range c.indexes {
		d := &diffs[i]
		if len(d.remove)+len(d.add) > 0 {
			x.own()
		}
		if !x.maker.Private() {
			removed += len(d.remove)
		}
		for _, key := range d.remove {
			x.remove(entry{stringView(key), id})
		}
		for _, key := range d.add {
			x.add(entry{stringView(key), id})
		}
		x.multikey |= d.multikey
	}
	return removed
}

func (x *index) add(e entry) {
	if x.entries.Add(e) {
		x.bytes += int64(len(e.key)) + entryOverhead
	}
}

func (x *index) remove(e entry) {
	if x.entries.Delete(e) {
		x.bytes -= int64(len(e.key)) + entryOverhead
	}
}

// put stores a record after its index entries have been changed.
func (c *coll) put(id storage.RecordID, stored string) {
	if old, replaced := c.records.Set(id, stored); replaced {
		c.size -= int64(len(storedDoc(old)))
	}
	c.size += int64(len(storedDoc(stored)))
	c.lastID = max(c.lastID, id)
	c.change.touch(id)
}

// drop removes a record after its index entries have been removed.
func (c *coll) drop(id storage.RecordID) {
	if old, ok := c.records.Delete(id); ok {
		c.size -= int64(len(storedDoc(old)))
		c.change.touch(id)
	}
}
