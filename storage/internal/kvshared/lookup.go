package kvshared

import (
	"hash/maphash"
	"sync"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// lookupCache remembers which records were found by their keys lately. Drafts take them for
// the present ones, as the commit makes sure of what its drafts have read.
type lookupCache struct {
	mu       sync.Mutex
	now, old map[string]*lookup // by the beginning of the range that was looked in
	records  map[string]*lookup // the same, by the keys of the records
	once     [1024]uint64       // hashes of ranges in which drafts have looked
}

// lookup is a record that was found as the first in a range.
type lookup struct {
	lo, record string // the keys of the range and of the record
	entry      []byte
	value      []byte
	version    int64 // in whose state it was found
}

// The size of what is remembered.
const (
	maxLookups     = 2048
	maxLookupBytes = 4 << 10 // of one record
)

// put remembers a record that was found.
func (r *lookupCache) put(s kv.Span, entry, value []byte, version int64) {
	if len(value) > maxLookupBytes || value == nil {
		return
	}
	f := &lookup{lo: string(s.Lo), record: string(kv.RecordKeyOf(entry)), entry: entry, value: value, version: version}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.now) >= maxLookups || r.now == nil {
		for _, gone := range r.old {
			if r.records[gone.record] == gone {
				delete(r.records, gone.record)
			}
		}
		r.old, r.now = r.now, make(map[string]*lookup)
		if r.records == nil {
			r.records = make(map[string]*lookup)
		}
	}
	r.now[f.lo], r.records[f.record] = f, f
}

// putAgain is put for a draft, whose record is likely to be written and seldom looked for
// again: it remembers what it is called with a second time.
func (r *lookupCache) putAgain(s kv.Span, entry, value []byte, version int64) {
	hash := maphash.Bytes(recentSeed, s.Lo)
	r.mu.Lock()
	at := &r.once[hash%uint64(len(r.once))]
	again := *at == hash
	*at = hash
	r.mu.Unlock()
	if again {
		r.put(s, entry, value, version)
	}
}

var recentSeed = maphash.MakeSeed()

// get returns what was found in a range lately, or nil.
func (r *lookupCache) get(s kv.Span) *lookup {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.now[value.BytesView(s.Lo)]
	if f == nil {
		f = r.old[value.BytesView(s.Lo)]
	}
	if f == nil || r.records[f.record] != f {
		return nil
	}
	return f
}

// wrote takes the writes of a commit.
func (r *lookupCache) wrote(list []kv.Write, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.records) == 0 {
		return
	}
	for _, w := range list {
		if !kv.IsRecordKey(w.Key) {
			continue
		}
		f := r.records[value.BytesView(w.Key)]
		if f == nil {
			continue
		}
		delete(r.records, f.record)
		if w.Value != nil && len(w.Value) <= maxLookupBytes && !removes(list, f.entry) {
			next := *f
			next.value, next.version = w.Value, version
			r.now[next.lo], r.records[next.record] = &next, &next
		}
	}
}

// removes reports whether one of the writes removes a key.
func removes(list []kv.Write, key []byte) bool {
	lo, hi := 0, len(list) // they are in the order of their keys, but for what is of whole collections
	for lo < hi {
		if mid := (lo + hi) / 2; value.BytesView(list[mid].Key) < value.BytesView(key) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(list) && value.BytesView(list[lo].Key) == value.BytesView(key) && list[lo].Value == nil
}

// forget drops what was not as it was remembered.
func (r *lookupCache) forget(list []*readSet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range list {
		for key := range m.points {
			delete(r.records, key)
		}
	}
}
