package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// An index that is unique when it is made has one row for each Order. Its key is
// the Order, so that one Get finds the record that has it. Its value is the id of
// the record, followed by the tails of the record's keys with this Order, each
// after its length; nothing follows if there is one key, without a tail.
//
// An index that becomes unique later keeps an entry for each key and id. So does each index of
// a store that other servers use, too, where one statement follows an entry to the record
// with whose id it ends, and of a store in memory, where a search costs next to nothing.

// newIndex makes an index without entries.
func (e *Common) newIndex(num uint32, maker storage.Index) *Index {
	return &Index{Num: num, Maker: maker, rowPerOrder: maker.Unique() && !e.resident}
}

// NewIndex makes an index without entries.
func (t *Tx) NewIndex(maker storage.Index) *Index {
	x := t.Common.newIndex(t.number(), maker)
	x.rowPerOrder = x.rowPerOrder && t.Cluster == nil
	return x
}

// appendRowKey appends the key of the row of an Order.
func appendRowKey(b []byte, num, index uint32, order []byte) []byte {
	return append(appendIndexPrefix(b, num, index), order...)
}

// appendRow appends the value of the row of a record's keys that have one Order,
// which is their first n bytes.
func appendRow(b []byte, id storage.RecordID, n int, keys [][]byte) []byte {
	b = binary.AppendUvarint(b, uint64(id))
	if len(keys) == 1 && len(keys[0]) == n {
		return b
	}
	for _, key := range keys {
		b = binary.AppendUvarint(b, uint64(len(key)-n))
		b = append(b, key[n:]...)
	}
	return b
}

// parseRow reads the id from the value of a row.
func parseRow(value []byte) (id storage.RecordID, tails []byte, err error) {
	u, n := binary.Uvarint(value)
	if n <= 0 || u == 0 || u > noLimit {
		return 0, nil, fmt.Errorf("the row of a unique index is damaged: %x", value)
	}
	return storage.RecordID(u), value[n:], nil
}

// nextTail splits the first tail from those of a row.
func nextTail(tails []byte) (tail, rest []byte, err error) {
	size, n := binary.Uvarint(tails)
	if n <= 0 || size > uint64(len(tails)-n) {
		return nil, nil, fmt.Errorf("the tails in a row of a unique index are damaged: %x", tails)
	}
	tails = tails[n:]
	return tails[:size], tails[size:], nil
}

// eachOrder calls fn with the Orders of sorted keys, and with the keys of each.
func eachOrder(maker storage.Index, keys [][]byte, fn func(order []byte, keys [][]byte)) {
	for len(keys) > 0 {
		order := maker.Order(keys[0])
		n := 1
		for n < len(keys) && bytes.Equal(maker.Order(keys[n]), order) {
			n++
		}
		fn(order, keys[:n])
		keys = keys[n:]
	}
}

// setRows writes the rows of sorted keys of a record.
func (t *Tx) setRows(c *Coll, x *Index, keys [][]byte, id storage.RecordID) {
	eachOrder(x.Maker, keys, func(order []byte, keys [][]byte) { t.setRow(c, x, order, keys, id) })
}

func (t *Tx) setRow(c *Coll, x *Index, order []byte, keys [][]byte, id storage.RecordID) {
	key := t.rowKey(c, x, order)
	if len(keys) > 1 {
		t.overwritten = append(t.overwritten, t.cache.hash(key)) // there may have been fewer
	}
	t.Scratch.key = appendRow(t.Scratch.key[:0], id, len(order), keys)
	t.Overlay.Set(key, t.arena.keep(t.Scratch.key))
	x.fillGap(key)
}

func (t *Tx) rowKey(c *Coll, x *Index, order []byte) []byte {
	t.Scratch.key = appendRowKey(t.Scratch.key[:0], c.Num, x.Num, order)
	return t.arena.keep(t.Scratch.key)
}

// delRow removes the row of an Order.
func (t *Tx) delRow(c *Coll, x *Index, order []byte) {
	key := t.rowKey(c, x, order)
	t.Overlay.Delete(key)
	x.widenGap(key)
	t.overwritten = append(t.overwritten, t.cache.hash(key))
}

// findRow returns the record that has an Order, or 0.
func (r reader) findRow(ctx context.Context, c *Coll, x *Index, order []byte) (id storage.RecordID, err error) {
	var room [128]byte
	v, err := r.getCached(ctx, appendRowKey(room[:0], c.Num, x.Num, order), true)
	if err != nil || v == nil {
		return 0, err
	}
	id, _, err = parseRow(v)
	return id, err
}

// window is the part of an index that a scan visits, for the rows at its ends,
// of whose entries some may be outside.
type window struct {
	storage.KeyRange
	after []byte // a copy of AfterKey
}

// resumed reports whether a scan begins behind an entry.
func resumed(r storage.KeyRange) bool { return r.AfterKey != nil || r.AfterID != 0 }

// rowSpan is the part of a unique index with the rows whose entries may be within
// a range. A bound may be a key with a tail, which lies behind the Order that its
// row has for its key.
func rowSpan(c *Coll, x *Index, r storage.KeyRange) Span {
	s := IndexSpan(c.Num, x.Num)
	at := func(order []byte) []byte { return appendRowKey(nil, c.Num, x.Num, order) }
	if len(r.Lo) > 0 {
		s.Lo = at(x.Maker.Order(r.Lo))
	}
	if len(r.Hi) > 0 {
		s.Hi = at(r.Hi)
	}
	if !resumed(r) {
		return s
	}
	last := at(x.Maker.Order(r.AfterKey))
	if r.Reverse {
		if last = append(last, 0); bytes.Compare(last, s.Hi) < 0 {
			s.Hi = last
		}
	} else if bytes.Compare(last, s.Lo) > 0 {
		s.Lo = last
	}
	return s
}

// has reports whether an entry of a row within the span is within the window.
func (w *window) has(key []byte, id storage.RecordID) bool {
	if len(w.Lo) > 0 && bytes.Compare(key, w.Lo) < 0 || len(w.Hi) > 0 && bytes.Compare(key, w.Hi) >= 0 {
		return false
	}
	if !resumed(w.KeyRange) {
		return true
	}
	order := bytes.Compare(key, w.after)
	if w.Reverse {
		return order < 0 || order == 0 && id < w.AfterID
	}
	return order > 0 || order == 0 && id > w.AfterID
}

// scanRows is scanEntries for an index with a row for each Order.
func (r reader) scanRows(ctx context.Context, c *Coll, x *Index, rg storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) error {
	s := rowSpan(c, x, rg)
	if bytes.Compare(s.Lo, s.Hi) >= 0 {
		return nil
	}
	w := window{KeyRange: rg, after: bytes.Clone(rg.AfterKey)}
	it := r.scanIndex(ctx, x, s, rg.Reverse)
	err := walkRows(it, rg.Reverse, func(key []byte, id storage.RecordID) bool {
		return !w.has(key, id) || fn(key, id)
	})
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return err
}

// walkRows calls fn with the entries of rows until it returns false.
func walkRows(it Iterator, reverse bool, fn func(key []byte, id storage.RecordID) bool) error {
	var keys rowKeys
	for it.Next() {
		v, err := it.Value()
		if err != nil {
			return err
		}
		order := it.Key()[entryPrefix:]
		id, tails, err := parseRow(v)
		if err != nil {
			return err
		}
		if len(tails) == 0 {
			if !fn(order[:len(order):len(order)], id) {
				return nil
			}
			continue
		}
		if err := keys.read(order, tails); err != nil {
			return err
		}
		for i := range keys.ends {
			if reverse {
				i = len(keys.ends) - 1 - i
			}
			if !fn(keys.at(i), id) {
				return nil
			}
		}
	}
	return nil
}

// rowKeys are the keys of one row, one behind the other.
type rowKeys struct {
	room []byte
	ends []int
}

func (k *rowKeys) read(order, tails []byte) (err error) {
	k.room, k.ends = k.room[:0], k.ends[:0]
	for len(tails) > 0 {
		var tail []byte
		if tail, tails, err = nextTail(tails); err != nil {
			return err
		}
		k.room = append(append(k.room, order...), tail...)
		k.ends = append(k.ends, len(k.room))
	}
	return nil
}

func (k *rowKeys) at(i int) []byte {
	start := 0
	if i > 0 {
		start = k.ends[i-1]
	}
	return k.room[start:k.ends[i]:k.ends[i]]
}

// countRows counts the entries of a unique index in the store, and their rows.
func (r reader) countRows(ctx context.Context, c *Coll, x *Index) (rows int64, err error) {
	it := r.scan(ctx, IndexSpan(c.Num, x.Num), false)
	var order []byte
	err = walkRows(it, false, func(key []byte, id storage.RecordID) bool {
		x.Entries++
		x.bytes += int64(len(key)) + entryOverhead
		if o := x.Maker.Order(key); rows == 0 || !bytes.Equal(o, order) {
			rows++
			order = append(order[:0], o...)
		}
		return true
	})
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return rows, err
}

// changeRows writes the rows of a record in whose keys something has changed.
// Those of removed keys are gone.
func (t *Tx) changeRows(c *Coll, x *Index, d *keydiff.Change, id storage.RecordID) {
	for _, key := range d.Add {
		x.added(key)
	}
	if len(d.Add) == 0 && len(d.Remove) == 0 {
		return
	}
	eachOrder(x.Maker, d.Keys, func(order []byte, keys [][]byte) {
		if touches(d.Add, order) || touches(d.Remove, order) {
			t.setRow(c, x, order, keys, id)
		}
	})
}

// touches reports whether one of several sorted keys begins with an Order.
func touches(keys [][]byte, order []byte) bool {
	i, _ := slices.BinarySearchFunc(keys, order, bytes.Compare)
	return i < len(keys) && bytes.HasPrefix(keys[i], order)
}
