package bunt

import (
	"bytes"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// scratch is memory that writers reuse one after the other.
type scratch struct {
	diffs  []keydiff.Change
	ops    []op
	quotes []pendingQuote // of the transaction
	found  []quote        // of the operations
}

// release clears the buffers and drops large ones.
func (s *scratch) release() {
	clear(s.ops)
	s.quotes = s.quotes[:0]
	if cap(s.ops) > 1<<12 {
		s.ops, s.quotes, s.found = nil, nil, nil
	}
}

// changes returns room for the key changes of a write.
func (s *scratch) changes(n int) []keydiff.Change {
	if cap(s.diffs) < n {
		s.diffs = make([]keydiff.Change, n)
	}
	return s.diffs[:n]
}

// diffKeys computes the key changes of all indexes for a record that turns
// from old to new; either may be empty (ID 0). They are valid until the next
// write.
func (c *coll) diffKeys(s *scratch, old, new storage.Record) ([]keydiff.Change, error) {
	diffs := s.changes(len(c.indexes))
	for i, x := range c.indexes {
		if err := diffs[i].Compute(x.maker, old, new); err != nil {
			return nil, err
		}
	}
	return diffs, nil
}

// checkUnique fails if a key to be added belongs to another record.
func (c *coll) checkUnique(diffs []keydiff.Change, id storage.RecordID) error {
	for i, x := range c.indexes {
		if !x.maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
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
func (c *coll) apply(diffs []keydiff.Change, id storage.RecordID) (removed int) {
	for i, x := range c.indexes {
		d := &diffs[i]
		if len(d.Remove)+len(d.Add) > 0 {
			x.own()
		}
		if !x.maker.Private() {
			removed += len(d.Remove)
		}
		for _, key := range d.Remove {
			x.remove(entry{stringView(key), id})
		}
		for _, key := range d.Add {
			x.add(entry{stringView(key), id})
		}
		x.multikey |= d.Multikey
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
