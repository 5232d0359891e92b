package kvshared

import (
	"slices"

	"github.com/duskdb/duskdb/storage/internal/kv"
)

// readSet is what a dry run has read, so that it can be checked, or read again, in one
// round trip, for the run that counts.
type readSet struct {
	points     map[string]readValue // values by their keys
	ends       map[endKey]readEnd   // the first or last keys of ranges
	ranges     []*readRange
	stats      []uint32         // the numbers of collections whose statistics were used
	claims     map[string]Claim // what no transaction of another server may have claimed
	txn        int64            // the snapshot transaction that is committed, or 0
	claimsHeld int              // the number of claims that it has
	bytes      int              // about the memory of all that
	cached     bool             // something comes from the cache of look-ups
}

// readValue is the value of a key in the state of a version; version 0: it was
// not read, but will be needed.
type readValue struct {
	value   []byte
	version int64
}

// endKey is a range of which the first key is asked for, or the last one.
type endKey struct {
	lo, hi string
	last   bool
}

// readEnd is the key at the end of a range, nil if the range is empty, in the state
// of a version; version 0: it was not read.
type readEnd struct {
	key     []byte
	version int64
}

// readRange are the rows of a range as far as they were read.
type readRange struct {
	page    Page // the range as it was asked for
	rows    []KV
	more    bool  // the range has further rows
	version int64 // the version of the state in which they were read; 0: they were not
}

// maxReadBytes bounds the values in a memory; what is read beyond that is read again.
const maxReadBytes = 16 << 20

func (m *readSet) full() bool { return m.bytes > maxReadBytes }

func (m *readSet) point(key, value []byte, version int64) {
	if m.full() {
		return
	}
	m.bytes += len(key) + len(value) + 64
	if m.points == nil {
		m.points = map[string]readValue{}
	}
	m.points[string(key)] = readValue{value, version}
}

func (m *readSet) end(s kv.Span, last bool, found readEnd) {
	if !m.full() {
		m.bytes += len(s.Lo) + len(s.Hi) + 64
		id := endKey{string(s.Lo), string(s.Hi), last}
		if m.ends == nil {
			m.ends = map[endKey]readEnd{}
		}
		if old := m.ends[id]; found.version >= old.version {
			m.ends[id] = found
		}
	}
}

func (m *readSet) stat(num uint32) {
	if !slices.Contains(m.stats, num) {
		m.stats = append(m.stats, num)
	}
}

// newRange begins to remember a range.
func (m *readSet) newRange(p Page) *readRange {
	r := &readRange{page: p, more: true}
	if !m.full() {
		m.ranges = append(m.ranges, r)
	}
	return r
}
