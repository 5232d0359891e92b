package bunt

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// change is what a transaction does to one collection.
type change struct {
	base    *coll // before; nil if the transaction made it
	cur     *coll // after; nil if it was dropped
	dirty   []storage.RecordID
	few     [16]storage.RecordID // where dirty begins: a group has about ten small updates
	catalog bool                 // the catalog entry must be written
	quoting bool                 // records quote others

	first, records int // the operations on records, among those of the commit
}

// touch notes that a record has changed.
func (ch *change) touch(id storage.RecordID) {
	if ch.dirty == nil {
		ch.dirty = ch.few[:0]
	}
	ch.dirty = append(ch.dirty, id)
}

// note notes a change that was committed.
func (ch *change) note(notes *storage.ChangeNotes) {
	before, _ := ch.base.described()
	after, noted := ch.cur.described()
	notes.NoteChange(noted, before, after)
}

// described is the catalog entry of a collection, nil if there is no collection, and what is
// noted of its states.
func (c *coll) described() (*storage.Info, *storage.Noted) {
	if c == nil {
		return nil, nil
	}
	return c.info, c.noted
}

// ops appends the operations to write to the log.
func (ch *change) ops(dst []op) []op {
	if ch.cur == nil {
		return ch.dropOps(dst)
	}
	first := len(dst)
	dst = ch.recordOps(dst)
	ch.first, ch.records = first, len(dst)-first
	dst = ch.lastIDOps(dst)
	return ch.catalogOps(dst, first)
}

// catalogShare says when a catalog entry is written again: when its collection
// has written this many times the entry's size to the log since.
const catalogShare = 64

// catalogOps writes the catalog entry if it has changed, and at intervals
// beside the records, whose operations begin at first, so that damage in one
// place of the log does not lose a whole collection.
func (ch *change) catalogOps(dst []op, first int) []op {
	c := ch.cur
	for i := range dst[first:] {
		c.sinceEntry += int64(len(dst[first+i].value))
	}
	if !ch.catalog && (len(dst) == first || c.sinceEntry < catalogShare*c.entrySize) {
		return dst
	}
	entry := catalogDoc(c.info)
	c.sinceEntry, c.entrySize = 0, int64(len(entry))
	return append(dst, op{kind: opCatalog, num: c.num, value: entry})
}

// dropOps removes the catalog entry, and with it the records.
func (ch *change) dropOps(dst []op) []op {
	if ch.base == nil {
		return dst
	}
	return append(dst, op{kind: opCatalog, num: ch.base.num, del: true})
}

func (ch *change) recordOps(dst []op) []op {
	slices.Sort(ch.dirty)
	ch.dirty = slices.Compact(ch.dirty)
	dst = slices.Grow(dst, len(ch.dirty)+1)
	for _, id := range ch.dirty {
		if stored, ok := ch.cur.records.Get(id); ok {
			dst = append(dst, op{kind: opRecord, num: ch.cur.num, id: id, value: stored})
		} else if ch.inBase(id) {
			dst = append(dst, op{kind: opRecord, num: ch.cur.num, id: id, del: true})
		}
	}
	return dst
}

func (ch *change) inBase(id storage.RecordID) bool {
	if ch.base == nil {
		return false
	}
	_, ok := ch.base.records.Get(id)
	return ok
}

// lastIDOps stores the newest id if its record has been deleted, so that no id
// is used twice.
func (ch *change) lastIDOps(dst []op) []op {
	c := ch.cur
	if newest, _, _ := c.records.Max(); newest >= c.lastID || c.savedID == c.lastID {
		return dst
	}
	c.savedID = c.lastID
	return append(dst, op{kind: opLastID, num: c.num, value: makeInt64(int64(c.lastID))})
}
