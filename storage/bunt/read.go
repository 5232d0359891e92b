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
	if p == nil || !p.is(i, k) && !(p.begins(i, k) && x.sameOrder(p.at(i).key, k)) {
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
func scanEntries(t *entries, r storage.KeyRange, fn visitor) {
	if r.Reverse {
		descendEntries(t, r, fn)
	} else {
		ascendEntries(t, r, fn)
	}
}

// ascendEntries yields the entries of a range in ascending order, after the
// position where an earlier scan stopped.
func ascendEntries(t *entries, r storage.KeyRange, fn visitor) {
	lo, hi := stringView(r.Lo), stringView(r.Hi)
	from := entry{key: lo}
	if r.AfterKey != nil || r.AfterID != 0 {
		// A copy, as fn may write over the caller's.
		if after := (entry{string(r.AfterKey), r.AfterID + 1}); entryLess(from, after) {
			from = after
		}
	}
	if len(hi) == 0 {
		t.Ascend(from, fn)
		return
	}
	t.Ascend(from, func(key []byte, id storage.RecordID) bool {
		return stringView(key) < hi && fn(key, id)
	})
}

// descendEntries yields the entries of a range in descending order, after the
// position where an earlier scan stopped.
func descendEntries(t *entries, r storage.KeyRange, fn visitor) {
	lo, hi := stringView(r.Lo), stringView(r.Hi)
	visit := func(key []byte, id storage.RecordID) bool {
		return stringView(key) >= lo && fn(key, id)
	}
	// Ids start at 1, so {hi, 0} is behind every entry below hi and before
	// every entry at hi.
	from, bounded := entry{key: hi}, len(hi) > 0
	if r.AfterKey != nil || r.AfterID != 0 {
		after := entry{string(r.AfterKey), r.AfterID - 1} // a copy, as above
		if !bounded || entryLess(after, from) {
			from, bounded = after, true
		}
	}
	if bounded {
		t.Descend(from, visit)
	} else {
		t.Reverse(visit)
	}
}
