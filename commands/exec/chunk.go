package exec

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// chunk is what a scan has read in one view of the storage.
type chunk struct {
	records []storage.Record // records, or documents made from keys
	next    int              // position in records of the one to return next
	keys    entryKeys        // the entries that led to the records; empty without an index
	stored  []bool           // which of records come from the storage; empty: all
	from    position         // the place where the chunk begins
	proven  bool             // the records match: their entries prove it
}

// isRecord reports whether the i-th record is one, and not a document made from a key.
func (c *chunk) isRecord(i int) bool { return len(c.stored) == 0 || c.stored[i] }

// reset forgets the chunk and keeps its memory.
func (c *chunk) reset() {
	c.records, c.next, c.stored = c.records[:0], 0, c.stored[:0]
	c.keys.reset()
}

// add adds a record that an index entry led to. size is the limit of the chunk's records.
func (c *chunk) add(key []byte, rec storage.Record, size int) {
	if len(c.records) == cap(c.records) { // little room at first, since most finds have only a few
		more := max(4, min(8*len(c.records), size)-len(c.records))
		c.records = slices.Grow(c.records, more)
		c.keys.bytes, c.keys.ends = slices.Grow(c.keys.bytes, more*len(key)), slices.Grow(c.keys.ends, more)
	}
	c.records = append(c.records, rec)
	c.keys.add(key)
}

// position is how far an iteration has come.
type position struct {
	scan    int // number of the scan
	within  int // range of the scan
	started bool
	after   storage.RecordID
	key     []byte // the index entry that was read last; nil for records
}

// set copies p, reusing the room for the key.
func (p *position) set(q *position) {
	key := append(p.key[:0], q.key...)
	*p = *q
	p.key = key
}

// entryKeys are the keys of some index entries, one behind the other.
type entryKeys struct {
	bytes []byte
	ends  []int
}

func (k *entryKeys) add(key []byte) {
	k.bytes = append(k.bytes, key...)
	k.ends = append(k.ends, len(k.bytes))
}

func (k *entryKeys) at(i int) []byte {
	start := 0
	if i > 0 {
		start = k.ends[i-1]
	}
	return k.bytes[start:k.ends[i]]
}

// reset forgets the keys and keeps their room.
func (k *entryKeys) reset() { k.bytes, k.ends = k.bytes[:0], k.ends[:0] }
