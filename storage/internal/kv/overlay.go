package kv

import (
	"bytes"
	"context"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Overlay holds the writes of a transaction in the order of their keys. The
// value of a deleted key is nil. The zero value is empty. Keys and values must
// not change.
type Overlay struct {
	writes btree.Map[string, []byte]
}

// empty is the value of keys that have none.
var empty = []byte{}

func (o *Overlay) Set(key, value []byte) { o.writes.Set(view(key), value) }

func (o *Overlay) Delete(key []byte) { o.writes.Set(view(key), nil) }

// Get returns the value that the transaction has written; ok is false if it has
// not written the key.
func (o *Overlay) Get(key []byte) (value []byte, ok bool) {
	if o == nil || o.writes.Len() == 0 {
		return nil, false
	}
	return o.writes.Get(view(key))
}

// clear forgets the writes to a range.
func (o *Overlay) clear(s Span) {
	var keys []string
	o.writes.Ascend(view(s.Lo), func(key string, _ []byte) bool {
		if key >= view(s.Hi) {
			return false
		}
		keys = append(keys, key)
		return true
	})
	for _, key := range keys {
		o.writes.Delete(key)
	}
}

// Has reports whether the transaction has written to a range.
func (o *Overlay) Has(s Span) bool {
	if o == nil || o.writes.Len() == 0 {
		return false
	}
	it := o.writes.Iter()
	return it.Seek(view(s.Lo)) && it.Key() < view(s.Hi)
}

// freeze returns a copy that later writes do not change, or nil if there is
// nothing in the range.
func (o *Overlay) freeze(lo, hi []byte) *Overlay {
	if !o.Has(Span{Lo: lo, Hi: hi}) {
		return nil
	}
	return &Overlay{writes: *o.writes.Copy()}
}

// view views bytes that do not change as a string.
func view(b []byte) string { return value.BytesView(b) }

// bytesOf is the inverse of view.
func bytesOf(s string) []byte { return value.StringView(s) }

// merged is an iterator over a range of the store with the writes of a
// transaction over it.
type merged struct {
	below   Iterator
	hasLow  bool // below is at a key
	begun   bool
	above   btree.MapIter[string, []byte]
	over    *Overlay // what above walks over
	hasHigh bool
	reverse bool
	lo, hi  string
	fromTop bool // the present key is that of above
}

// newMerged puts the writes in front of an iterator over the same range.
func newMerged(below Iterator, over *Overlay, lo, hi []byte, reverse bool) *merged {
	return &merged{below: below, over: over, lo: view(lo), hi: view(hi), reverse: reverse}
}

// begin moves both to their first keys.
func (m *merged) begin() {
	m.begun = true
	m.above = m.over.writes.Iter()
	m.hasLow = m.below.Next()
	if !m.reverse {
		m.hasHigh = m.above.Seek(m.lo)
	} else if m.above.Seek(m.hi) {
		m.hasHigh = m.above.Prev()
	} else {
		m.hasHigh = m.above.Last()
	}
	m.clip()
}

// clip ends the writes at the end of the range.
func (m *merged) clip() {
	if m.hasHigh && (m.above.Key() < m.lo || m.above.Key() >= m.hi) {
		m.hasHigh = false
	}
}

func (m *merged) advanceAbove() {
	if m.reverse {
		m.hasHigh = m.above.Prev()
	} else {
		m.hasHigh = m.above.Next()
	}
	m.clip()
}

// Next moves to the next key that is not deleted.
func (m *merged) Next() bool {
	switch {
	case !m.begun:
		m.begin()
	case m.fromTop:
		m.advanceAbove()
	default:
		m.hasLow = m.below.Next()
	}
	for m.hasHigh {
		order := 1 // of the store's key to that of the writes
		if m.hasLow {
			order = bytes.Compare(m.below.Key(), bytesOf(m.above.Key()))
			if m.reverse {
				order = -order
			}
		}
		if order < 0 {
			break
		}
		if order == 0 {
			m.hasLow = m.below.Next() // written over
		}
		if m.above.Value() != nil {
			m.fromTop = true
			return true
		}
		m.advanceAbove()
	}
	m.fromTop = false
	return m.hasLow
}

// Key is the present key.
func (m *merged) Key() []byte {
	if m.fromTop {
		return bytesOf(m.above.Key())
	}
	return m.below.Key()
}

// Value is the present value.
func (m *merged) Value() ([]byte, error) {
	if m.fromTop {
		return m.above.Value(), nil
	}
	return m.below.Value()
}

// Close closes the iterator over the store.
func (m *merged) Close() error { return m.below.Close() }

// arena is memory for the keys that a transaction writes.
type arena struct{ room []byte }

// keep copies bytes.
func (a *arena) keep(b []byte) []byte {
	if cap(a.room)-len(a.room) < len(b) {
		a.room = make([]byte, 0, max(min(max(256, 2*cap(a.room)), 64<<10), len(b)))
	}
	start := len(a.room)
	a.room = append(a.room, b...)
	return a.room[start:len(a.room):len(a.room)]
}

// nothing is a state without any keys.
type nothing struct{}

func (nothing) Get(context.Context, []byte) ([]byte, error) { return nil, nil }

func (nothing) GetMany(context.Context, [][]byte, func(int, []byte) bool) error { return nil }

func (nothing) Scan(context.Context, []byte, []byte, bool) Iterator { return NoRows{} }

func (nothing) Close() {}

type NoRows struct{}

func (NoRows) Next() bool { return false }

func (NoRows) Key() []byte { return nil }

func (NoRows) Value() ([]byte, error) { return nil, nil }

func (NoRows) Close() error { return nil }

// OwnHolder is the record that has an Order in a unique index among the writes of the
// transaction alone, or 0.
func (t *Tx) OwnHolder(c *Coll, x *Index, order []byte) (storage.RecordID, error) {
	return reader{snap: nothing{}, Overlay: t.Overlay}.Find(t.Ctx, c, x, order)
}

// OwnMaxKey is the key of the last entry of an index among the writes of the
// transaction.
func (t *Tx) OwnMaxKey(c *Coll, x *Index) ([]byte, error) {
	return reader{snap: nothing{}, Overlay: t.Overlay}.greatest(t.Ctx, c, x)
}
