package mem

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/recent"
	"github.com/duskdb/duskdb/value"
)

// Snapshot is one state of all collections. It never changes.
type Snapshot struct {
	colls recent.Map[uint32, collection]
	marks *btree.Map[uint32, []byte] // marks of indexes that are not finished: few
}

var _ kv.Resident = (*Snapshot)(nil)

func newSnapshot() *Snapshot {
	return &Snapshot{colls: recent.New[uint32, collection](func(a, b uint32) bool { return a < b }), marks: new(btree.Map[uint32, []byte])}
}

// Close has nothing to do.
func (n *Snapshot) Close() {}

func (n *Snapshot) coll(num uint32) *collection { return n.colls.Get(num) }

// entries returns the entries of an index, nil if there are none.
func (n *Snapshot) entries(num, index uint32) *entries {
	if c := n.coll(num); c != nil {
		return c.index(index)
	}
	return nil
}

// Record implements kv.Resident.
func (n *Snapshot) Record(num uint32, id storage.RecordID) []byte {
	c := n.coll(num)
	if c == nil {
		return nil
	}
	stored, ok := c.records.Get(id)
	if !ok {
		return nil
	}
	return value.StringView(stored)
}

// EachRecord implements kv.Resident.
func (n *Snapshot) EachRecord(num uint32, r storage.Range, fn func(storage.Record) bool) {
	if c := n.coll(num); c != nil {
		scanRecords(&c.records, r, fn)
	}
}

// Find implements kv.Resident.
func (n *Snapshot) Find(num, index uint32, maker storage.Index, key []byte) storage.RecordID {
	t := n.entries(num, index)
	if t == nil {
		return 0
	}
	k := stringView(key)
	p, i := t.seek(entry{key: k})
	if p == nil || !p.is(i, k) && (!p.begins(i, k) || !sameOrder(maker, p.at(i).key, k)) {
		return 0
	}
	return p.slots[i].id
}

// EachEntry implements kv.Resident.
func (n *Snapshot) EachEntry(num, index uint32, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) {
	if t := n.entries(num, index); t != nil {
		scanEntries(t, r, fn)
	}
}

// EachEntryRecord implements kv.Resident.
func (n *Snapshot) EachEntryRecord(num, index uint32, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) {
	if t := n.entries(num, index); t != nil {
		scanEntryRecords(t, &n.coll(num).records, r, fn)
	}
}

// scanEntryRecords walks index entries with their records until fn returns false.
func scanEntryRecords(t *entries, of *records, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) {
	t.parts(rangeOf(&r), r.Reverse, newRecordScan(of, r.Reverse, fn).part)
}

// sameOrder reports whether the Order parts of two keys are equal.
func sameOrder(maker storage.Index, a, b string) bool {
	return a == b || string(maker.Order(value.StringView(a))) == string(maker.Order(value.StringView(b)))
}

// record makes a Record of a stored value.
func record(id storage.RecordID, stored string) storage.Record {
	return kv.StoredRecord(id, value.StringView(stored))
}

// scanRecords walks records within a range until fn returns false.
func scanRecords(t *records, r storage.Range, fn func(storage.Record) bool) {
	if r.Reverse {
		from := storage.RecordID(math.MaxInt64)
		if r.After > 0 {
			from = r.After - 1
		}
		t.Descend(from, func(id storage.RecordID, stored string) bool {
			return id >= r.Until && fn(record(id, stored))
		})
		return
	}
	until := r.Until
	if until == 0 {
		until = math.MaxInt64
	}
	t.Ascend(r.After+1, func(id storage.RecordID, stored string) bool {
		return id <= until && fn(record(id, stored))
	})
}

// scanEntries walks index entries within a range until fn returns false.
func scanEntries(t *entries, r storage.KeyRange, fn visitor) { t.each(rangeOf(&r), r.Reverse, fn) }

// rangeOf is the entries of a range of keys that are after the position, in its direction,
// where an earlier scan stopped. Ids start at 1, so {Hi, 0} is behind every entry below Hi and
// before every entry at Hi.
func rangeOf(r *storage.KeyRange) entryRange {
	e := entryRange{from: entry{key: stringView(r.Lo)}, end: entry{key: stringView(r.Hi)}, ends: len(r.Hi) > 0}
	if r.AfterKey == nil && r.AfterID == 0 {
		return e
	}
	after := entry{string(r.AfterKey), r.AfterID} // a copy, as the visitor may write over the caller's
	if r.Reverse {
		if !e.ends || entryLess(after, e.end) {
			e.end, e.ends = after, true
		}
		return e
	}
	after.id++ // the next that there can be
	if entryLess(e.from, after) {
		e.from = after
	}
	return e
}

// stringView views key bytes as a string for the time of a look-up.
func stringView(b []byte) string { return value.BytesView(b) }

// Get reads a description, statistics or a mark.
func (n *Snapshot) Get(_ context.Context, key []byte) ([]byte, error) {
	num := binary.BigEndian.Uint32(key[1:])
	if key[0] == 'b' {
		v, _ := n.marks.Get(num)
		return v, nil
	}
	switch c := n.coll(num); {
	case c == nil:
		return nil, nil
	case key[0] == 'c':
		return c.catalog, nil
	case key[0] == 's':
		return c.stats, nil
	}
	return nil, errPart
}

// GetMany reads values one after the other.
func (n *Snapshot) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	for i, key := range keys {
		v, err := n.Get(ctx, key)
		if err != nil || v != nil && !fn(i, v) {
			return err
		}
	}
	return nil
}

// Dump yields all that a store cannot make again: of each collection its description, its
// statistics, and its records in the order of their ids. Values must not be changed.
func (n *Snapshot) Dump(fn func(r kv.Row, value []byte) error) error {
	for _, num := range n.Numbers() {
		if err := n.DumpCollection(num, fn); err != nil {
			return err
		}
	}
	return nil
}

// Numbers are the numbers of all collections, in their order.
func (n *Snapshot) Numbers() (nums []uint32) {
	n.colls.Each(0, func(num uint32, _ *collection) bool {
		nums = append(nums, num)
		return true
	})
	return nums
}

// DumpCollection is Dump of one collection.
func (n *Snapshot) DumpCollection(num uint32, fn func(r kv.Row, value []byte) error) (err error) {
	c := n.coll(num)
	if c == nil {
		return nil
	}
	last := max(kv.LastIDOf(c.stats), c.records.high)
	for _, row := range []struct {
		kind  kv.RowKind
		value []byte
	}{{kv.RowCatalog, c.catalog}, {kv.RowStats, binary.AppendUvarint(nil, uint64(last))}} {
		if row.value != nil && err == nil {
			err = fn(kv.Row{Kind: row.kind, Num: num}, row.value)
		}
	}
	if err != nil {
		return err
	}
	c.records.Scan(func(id storage.RecordID, stored string) bool {
		err = fn(kv.Row{Kind: kv.RowRecord, Num: num, ID: id}, value.StringView(stored))
		return err == nil
	})
	return err
}

// Catalog is the description of a collection, nil if it has none.
func (n *Snapshot) Catalog(num uint32) []byte {
	if c := n.coll(num); c != nil {
		return c.catalog
	}
	return nil
}

// CatalogBytes is the size of all descriptions.
func (n *Snapshot) CatalogBytes() (size int64) {
	n.colls.All(func(_ uint32, c *collection) { size += int64(len(c.catalog)) })
	return size
}

// Counts are the numbers of collections and of records.
func (n *Snapshot) Counts() (collections, records int64) {
	n.colls.All(func(_ uint32, c *collection) {
		if c.catalog != nil {
			collections, records = collections+1, records+int64(c.records.Len())
		}
	})
	return collections, records
}
