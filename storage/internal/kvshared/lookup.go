package kvshared

import (
	"hash/maphash"
	"sync"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/value"
)

// lookupCache remembers which records were found lately by the keys of unique indexes. It
// follows the commits of this server, so what it has is right as long as no other server
// commits. Dry runs use it, since the commit makes sure of what they have read.
type lookupCache struct {
	mu    sync.Mutex // guards all fields but the guesses
	since int64      // the version since which only this server has committed, as far as it knows
	last  int64      // the version of the last commit of this server

	now, old map[string]*lookup // two generations, by the beginnings of the ranges that were looked in
	records  map[string]*lookup // the same lookups, by the keys of the records
	once     [1024]uint64       // hashes of ranges in which dry runs have looked once

	guesses guesses // needs no lock
}

// lookup is a record that was found as the first in a range.
type lookup struct {
	lo      string // the beginning of the range
	record  string // the key of the record
	entry   []byte // the key of the entry
	value   []byte // the record
	version int64  // the version of the state in which it was found
}

// The size of what is remembered.
const (
	maxLookups     = 2048
	maxLookupBytes = 4 << 10 // of one record
)

// put remembers a record that was found in the state of a version. If this server has
// committed since, the record may have changed.
func (r *lookupCache) put(s kv.Span, entry, value []byte, version int64) {
	if len(value) > maxLookupBytes || value == nil {
		return
	}
	f := &lookup{lo: string(s.Lo), record: string(kv.RecordKeyOf(entry)), entry: entry, value: value, version: version}
	r.mu.Lock()
	defer r.mu.Unlock()
	if version < r.last {
		return
	}
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

// putAgain is put for a dry run, whose record is likely to be written and seldom looked for
// again: it remembers what it is called with a second time.
func (r *lookupCache) putAgain(s kv.Span, entry, value []byte, version int64) {
	hash := maphash.Bytes(lookupSeed, s.Lo)
	r.mu.Lock()
	at := &r.once[hash%uint64(len(r.once))]
	again := *at == hash
	*at = hash
	r.mu.Unlock()
	if again {
		r.put(s, entry, value, version)
	}
}

var lookupSeed = maphash.MakeSeed()

// get returns the latest result of reading a range, and the version at which it was right;
// nil if it is not known.
func (r *lookupCache) get(s kv.Span) (f *lookup, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f = r.now[value.BytesView(s.Lo)]; f == nil {
		f = r.old[value.BytesView(s.Lo)]
	}
	if f == nil || r.records[f.record] != f || f.version < r.since {
		return nil, 0
	}
	return f, max(f.version, r.last)
}

// wrote takes the writes of a commit of this server.
func (r *lookupCache) wrote(list []kv.Write, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if version != r.last+1 {
		r.since = version - 1
	}
	r.last = version
	if len(r.records) == 0 {
		return
	}
	for _, w := range list {
		if !kv.IsRecordKey(w.Key) {
			continue
		}
		f := r.records[value.BytesView(w.Key)]
		if f == nil || f.version >= version {
			continue // what was read shows this commit
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
