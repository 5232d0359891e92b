package bunt

import (
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// find returns the first record whose key is equal in its Order part.
func (x *index) find(key []byte) (id storage.RecordID, ok bool) {
	k := stringView(key)
	p, i := x.entries.seek(entry{key: k})
	if p == nil || !p.is(i, k) && (!p.begins(i, k) || !x.sameOrder(p.at(i).key, k)) {
		return 0, false
	}
	return p.slots[i].id, true
}

// sameOrder reports whether the Order parts of two keys are equal.
func (x *index) sameOrder(a, b string) bool {
	return a == b || string(x.maker.Order(value.StringView(a))) == string(x.maker.Order(value.StringView(b)))
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
