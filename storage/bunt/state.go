package bunt

import "github.com/duskdb/duskdb/storage"

// coll is a collection in one state. It is immutable once published; a
// writer works on a clone, which it owns as long as change is set.
type coll struct {
	num     uint32 // prefix of its records in the log
	info    *storage.Info
	records *records
	indexes []*index // in the order of info.Indexes
	size    int64
	lastID  storage.RecordID
	savedID storage.RecordID // lastID as the log has it under prefixLastID
	// sinceEntry is the number of bytes that the log has for the collection after
	// its last catalog entry, whose size is entrySize.
	sinceEntry int64
	entrySize  int64
	stamp      uint64         // of the commit that made this state; 0: as it was loaded
	noted      *storage.Noted // one for all states
	change     *change
}

// index is the set of entries of one index in one state.
type index struct {
	maker    storage.Index
	entries  *entries
	bytes    int64
	multikey storage.Multikey
	private  bool // entries are a writer's own, not yet published
}

// entryOverhead is the size that an entry counts beside its key.
const entryOverhead = 8

// clone makes a private copy to be changed.
func (c *coll) clone() *coll {
	d := &cloned{coll: *c, records: c.records.forked()}
	d.change.base, d.change.cur = c, &d.coll
	d.coll.change, d.coll.records = &d.change, &d.records
	d.coll.indexes = d.few[:0]
	if len(c.indexes) > len(d.few) {
		d.coll.indexes = make([]*index, 0, len(c.indexes))
	}
	for i, x := range c.indexes { // their entries are forked when they change
		y := &d.first
		if i > 0 {
			y = new(index)
		}
		*y = *x
		d.coll.indexes = append(d.coll.indexes, y)
	}
	return &d.coll
}

// cloned is a collection with its parts in one piece of memory. That includes the change,
// which is of no use once it is committed, and must not keep the former state then.
type cloned struct {
	coll    coll
	records records
	first   index
	few     [2]*index
	change  change
}

// seal makes a clone immutable before it is published.
func (c *coll) seal() {
	c.change = nil
	for _, x := range c.indexes {
		x.private = false
	}
}

// own gives the index a private copy of its entries before they change.
func (x *index) own() {
	if !x.private {
		x.entries, x.private = x.entries.fork(), true
	}
}

// frozen returns an immutable version of the entries.
func (x *index) frozen() *entries {
	if x.private {
		return x.entries.freeze()
	}
	return x.entries
}

// frozenRecords returns an immutable version of the records.
func (c *coll) frozenRecords() *records {
	if c.change != nil {
		return c.records.freeze()
	}
	return c.records
}

// index finds an index by name.
func (c *coll) index(name string) *index {
	for i := range c.info.Indexes {
		if c.info.Indexes[i].Name == name {
			return c.indexes[i]
		}
	}
	return nil
}

// record makes a Record of a stored value.
func record(id storage.RecordID, stored string) storage.Record {
	return storage.Record{ID: id, TS: storedTS(stored), Doc: storedDoc(stored)}
}
