package mem

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// collection is a collection in one state.
type collection struct {
	num     uint32
	catalog []byte // its description; nil if it has none
	stats   []byte
	records records
	indexes []index
	few     [2]index // where indexes begins
	forked  bool     // it belongs to a fork, which may change it
}

// index is the entries of an index in one state.
type index struct {
	num     uint32
	entries *entries
	forked  bool
}

// index returns the entries of an index, nil if there are none.
func (c *collection) index(num uint32) *entries {
	if x := c.find(num); x != nil {
		return x.entries
	}
	return nil
}

func (c *collection) find(num uint32) *index {
	for i := range c.indexes {
		if c.indexes[i].num == num {
			return &c.indexes[i]
		}
	}
	return nil
}

// drop removes an index.
func (c *collection) drop(num uint32) {
	c.indexes = slices.DeleteFunc(c.indexes, func(x index) bool { return x.num == num })
}

// empty reports whether nothing is left of a collection.
func (c *collection) empty() bool {
	return c.catalog == nil && c.stats == nil && c.records.Len() == 0 && len(c.indexes) == 0
}

// Fork implements kv.Fork. Collections and trees are copied when they are first written to.
type Fork struct {
	Snapshot
	base *Snapshot
	owns []*collection
	few  [3]*collection // where owns begins: a transaction mostly writes to one collection and to the change log
}

var _ kv.Fork = (*Fork)(nil)

// Fork implements kv.Resident.
func (n *Snapshot) Fork() kv.Fork { return n.fork() }

func (n *Snapshot) fork() *Fork {
	return &Fork{Snapshot: Snapshot{colls: n.colls.Fork(), marks: n.marks}, base: n}
}

// own returns a collection to be changed.
func (f *Fork) own(num uint32) *collection {
	for _, c := range f.owns {
		if c.num == num {
			return c
		}
	}
	c := &collection{num: num, forked: true}
	if old := f.coll(num); old != nil {
		c.catalog, c.stats = old.catalog, old.stats
		c.records, c.indexes = old.records.forked(), append(c.few[:0], old.indexes...)
	} else {
		c.records = *newRecords()
	}
	if f.owns == nil {
		f.owns = f.few[:0]
	}
	f.owns = append(f.owns, c)
	f.colls.Set(num, c)
	return c
}

// ownIndex returns the entries of an index to be changed.
func (f *Fork) ownIndex(num, n uint32) *entries {
	c := f.own(num)
	x := c.find(n)
	switch {
	case x == nil:
		c.indexes = append(c.indexes, index{num: n, entries: newEntries(), forked: true})
		return c.indexes[len(c.indexes)-1].entries
	case !x.forked:
		x.entries, x.forked = x.entries.fork(), true
	}
	return x.entries
}

// SetRecord implements kv.Fork.
func (f *Fork) SetRecord(num uint32, id storage.RecordID, v []byte) {
	if c := f.own(num); v == nil {
		c.records.Delete(id)
	} else {
		c.records.Set(id, value.BytesView(v))
	}
}

// AddEntry implements kv.Fork.
func (f *Fork) AddEntry(num, n uint32, key []byte, id storage.RecordID) {
	f.ownIndex(num, n).Add(entry{stringView(key), id})
}

// RemoveEntry implements kv.Fork.
func (f *Fork) RemoveEntry(num, n uint32, key []byte, id storage.RecordID) {
	f.ownIndex(num, n).Delete(entry{stringView(key), id})
}

// DropIndex implements kv.Fork.
func (f *Fork) DropIndex(num, n uint32) {
	if f.entries(num, n) != nil {
		f.own(num).drop(n)
	}
}

// UndoIndex implements kv.Fork.
func (f *Fork) UndoIndex(num, n uint32) {
	f.DropIndex(num, n)
	if t := f.base.entries(num, n); t != nil {
		f.install(num, n, t)
	}
}

// install adds an index, whose entries others have, too.
func (f *Fork) install(num, n uint32, t *entries) {
	c := f.own(num)
	c.indexes = append(c.indexes, index{num: n, entries: t})
}

// DropCollection implements kv.Fork.
func (f *Fork) DropCollection(num uint32) {
	if f.coll(num) != nil {
		c := f.own(num)
		c.records, c.indexes = *newRecords(), nil
	}
}

// EachRecord implements kv.Resident.
func (f *Fork) EachRecord(num uint32, r storage.Range, fn func(storage.Record) bool) {
	if c := f.coll(num); c != nil {
		scanRecords(c.frozenRecords(), r, fn)
	}
}

// EachEntry implements kv.Resident.
func (f *Fork) EachEntry(num, n uint32, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) {
	if t := f.frozen(num, n); t != nil {
		scanEntries(t, r, fn)
	}
}

// EachEntryRecord implements kv.Resident.
func (f *Fork) EachEntryRecord(num, n uint32, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) {
	if t := f.frozen(num, n); t != nil {
		scanEntryRecords(t, f.coll(num).frozenRecords(), r, fn)
	}
}

// frozen returns an immutable version of the entries of an index.
func (f *Fork) frozen(num, n uint32) *entries {
	c := f.coll(num)
	if c == nil {
		return nil
	}
	x := c.find(n)
	switch {
	case x == nil:
		return nil
	case x.forked:
		return x.entries.freeze()
	}
	return x.entries
}

// frozenRecords returns an immutable version of the records.
func (c *collection) frozenRecords() *records {
	if c.forked {
		return c.records.freeze()
	}
	return &c.records
}

// finish makes the fork an immutable state.
func (f *Fork) finish() *Snapshot {
	for _, c := range f.owns {
		if c.empty() {
			f.colls.Delete(c.num)
		}
		c.forked = false
		for i := range c.indexes {
			c.indexes[i].forked = false
		}
	}
	f.owns, f.base, f.few = nil, nil, [len(f.few)]*collection{} // what the state was made of
	return &f.Snapshot
}
