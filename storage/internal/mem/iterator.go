package mem

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// rows is an iterator over descriptions, statistics or marks.
type rows struct {
	keys, values [][]byte
	at           int // position of the present row
	err          error
}

// Scan iterates over descriptions, statistics or marks. A range of anything else, or of two
// kinds, fails.
func (n *Snapshot) Scan(_ context.Context, lo, hi []byte, reverse bool) kv.Iterator {
	it := &rows{at: -1}
	if len(lo) == 0 || lo[0] == 'd' || hi == nil || bytes.Compare(hi, kv.SpanOf(lo[:1]).Hi) > 0 {
		it.err = errPart
		return it
	}
	add := func(num uint32, v []byte) {
		key := binary.BigEndian.AppendUint32([]byte{lo[0]}, num)
		if v != nil && bytes.Compare(lo, key) <= 0 && bytes.Compare(key, hi) < 0 {
			it.keys, it.values = append(it.keys, key), append(it.values, v)
		}
	}
	switch lo[0] {
	case 'b':
		n.marks.Scan(func(num uint32, v []byte) bool { add(num, v); return true })
	case 'c':
		n.colls.All(func(num uint32, c *collection) { add(num, c.catalog) })
	case 's':
		n.colls.All(func(num uint32, c *collection) { add(num, c.stats) })
	}
	if reverse {
		slices.Reverse(it.keys)
		slices.Reverse(it.values)
	}
	return it
}

// Next moves to the next row.
func (it *rows) Next() bool { it.at++; return it.at < len(it.keys) }

// Key is the key of the present row.
func (it *rows) Key() []byte { return it.keys[it.at] }

// Value is the value of the present row.
func (it *rows) Value() ([]byte, error) { return it.values[it.at], nil }

// Close returns the error that ended the iterator.
func (it *rows) Close() error { return it.err }
