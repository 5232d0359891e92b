package kv

import (
	"bytes"
	"context"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// entry is an index entry: its key and id as they are stored, behind the index
// prefix.
type entry []byte

// build returns an index over the records of a collection: a prepared one, with
// what has changed since, if there is one; otherwise it is built among the
// writes of the transaction.
func (t *Tx) build(c *Coll, spec storage.IndexSpec, maker storage.Index) (*Index, error) {
	if x := t.built(c, spec); x != nil {
		x.Maker = maker
		return x, nil
	}
	if p := t.Common.prepared.find(c, spec); p != nil && t.Txn == nil {
		if x, err := t.adopt(p, c); err == nil {
			return x, nil
		}
	}
	return t.buildHere(c, spec, maker)
}

// buildHere builds an index among the writes of the transaction.
func (t *Tx) buildHere(c *Coll, spec storage.IndexSpec, maker storage.Index) (*Index, error) {
	x := t.NewIndex(maker)
	if t.fork != nil {
		return t.buildInMemory(c, spec.Name, x)
	}
	entries, err := t.entriesOf(c, x)
	if err != nil {
		return nil, err
	}
	if err := x.count(c.Info.Namespace, spec.Name, entries); err != nil {
		return nil, err
	}
	if x.rowPerOrder {
		return x, t.addEntries(c, x, entries)
	}
	prefix := appendIndexPrefix(nil, c.Num, x.Num)
	for _, en := range entries {
		t.Overlay.Set(t.arena.keep(append(prefix, en...)), empty)
	}
	return x, nil
}

// addEntries writes the rows of a unique index, whose entries are in order.
func (t *Tx) addEntries(c *Coll, x *Index, entries []entry) error {
	var keys [][]byte // of one record, with one Order
	var of storage.RecordID
	var buf []byte
	var room arena
	for _, en := range entries {
		key, id, err := parseEntry(buf[:0], en)
		if err != nil {
			return err
		}
		buf = key
		if id != of || !sameOrder(x.Maker, keys[0], key) {
			t.setRows(c, x, keys, of)
			keys, of = keys[:0], id
		}
		keys = append(keys, room.keep(key))
	}
	t.setRows(c, x, keys, of)
	return nil
}

// entriesOf computes the sorted entries of an index over the present records.
func (t *Tx) entriesOf(c *Coll, x *Index) (entries []entry, err error) {
	var keys [][]byte
	var room arena
	serr := t.ScanRecords(t.Ctx, c, storage.Range{}, func(r storage.Record) bool {
		if keys, err = x.KeysOf(keys, r); err != nil {
			return false
		}
		for _, key := range keys {
			entries = append(entries, room.keep(appendEntry(nil, key, r.ID)))
		}
		return true
	})
	if err == nil {
		err = serr
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a, b) })
	return entries, err
}

// KeysOf computes the distinct keys of a record.
func (x *Index) KeysOf(buf [][]byte, r storage.Record) ([][]byte, error) {
	keys, multikey, err := x.Maker.Keys(buf[:0], r)
	if err != nil {
		return nil, err
	}
	x.Multikey |= multikey
	return keydiff.Sorted(keys), nil
}

// count counts entries, which are in order, and checks uniqueness.
func (x *Index) count(ns storage.Namespace, name string, entries []entry) error {
	counter := counter{x: x, ns: ns, name: name}
	for _, en := range entries {
		if err := counter.add(en); err != nil {
			return err
		}
	}
	return nil
}

// counter counts the entries of an index in their order, and finds duplicates
// of a unique one.
type counter struct {
	x         *Index
	ns        storage.Namespace
	name      string
	key, last []byte
	lastID    storage.RecordID
}

func (n *counter) add(en entry) error {
	key, id, err := parseEntry(n.key[:0], en)
	if err != nil {
		return err
	}
	n.x.Entries++
	n.x.bytes += int64(len(key)) + entryOverhead
	if n.x.Maker.Unique() && n.lastID != 0 && n.lastID != id && sameOrder(n.x.Maker, n.last, key) {
		return &storage.DuplicateKeyError{Namespace: n.ns, Index: n.name, Key: bytes.Clone(key), Existing: n.lastID}
	}
	n.key, n.last, n.lastID = n.last, key, id
	return nil
}

// countStored counts the entries of an index in the store.
func (r reader) countStored(ctx context.Context, c *Coll, name string, x *Index) error {
	counter := counter{x: x, ns: c.Info.Namespace, name: name}
	it := r.scan(ctx, IndexSpan(c.Num, x.Num), false)
	var err error
	for err == nil && it.Next() {
		err = counter.add(it.Key()[entryPrefix:])
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return err
}
