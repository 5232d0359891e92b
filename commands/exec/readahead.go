package exec

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/storage"
)

// maxAheadBytes bounds the documents that are read ahead for other ranges.
const maxAheadBytes = 1 << 20

// FirstChunks are the first chunks of several ranges of an index, read together for an
// iterator that visits one range after the other.
type FirstChunks struct {
	list    []firstChunk
	records []storage.Record
	keys    entryKeys
	next    int // position in list of the chunk to take next
	due     int64
	meta    *catalog.Meta
	resumed int // Execution.Resumed when the chunks were read
}

// firstChunk is what was read of one range.
type firstChunk struct {
	kr         storage.KeyRange
	start, end int // the places of its records in FirstChunks.records
	at         position
	done       bool // the range has no more
	counts     ScanCounts
	read       int // the number of index entries read
}

// NewRangeIterator makes an iterator for several ranges of an index in turn. Each range
// begins with a Restart.
func NewRangeIterator(x *Execution, info *storage.Info, index string) *ScanIterator {
	return newScanIterator(x, info, []Scan{{Index: index}})
}

// Restart begins the iteration anew with another range of the index.
func (r *ScanIterator) Restart(kr storage.KeyRange) {
	r.walk.restart(kr)
	r.chunk.reset()
}

// Read reads the first chunks of the ranges that r visits next, in one View. It stops
// when they have many bytes, or at an error, which comes again when r reaches the range.
func (f *FirstChunks) Read(r *ScanIterator, ranges []storage.KeyRange) {
	f.Drop()
	f.resumed = r.x.root().resumed
	call := r.x.Running()
	if call.Interrupted() != nil {
		return
	}
	_ = call.View(func(tx storage.Tx) error {
		coll, err := StillThere(tx, r.ns, r.uuid)
		if err != nil {
			return err
		}
		r.sight.look(coll)
		f.due, f.meta = r.sight.due, r.sight.meta
		size := 0
		for i := 0; i < len(ranges) && size < maxAheadBytes; i++ {
			n, err := f.readOne(r, coll, ranges[i])
			if err != nil {
				return err
			}
			size += n
		}
		return nil
	})
	r.chunk.records = r.chunk.records[:0]
}

// readOne reads the first chunk of a range, and returns the size of its documents. The
// statistics of the read are added when the chunk is taken.
func (f *FirstChunks) readOne(r *ScanIterator, coll storage.Collection, kr storage.KeyRange) (size int, err error) {
	r.Restart(kr)
	scan, calls := &r.walk.scans[0], &r.x.Running().Counts
	counts, examined, keys := scan.counts, r.x.Stats.KeysExamined, calls.Keys
	scan.counts = ScanCounts{}
	err = r.walk.readChunk(coll)
	read := scan.counts
	entries := int(r.x.Stats.KeysExamined - examined)
	scan.counts, r.x.Stats.KeysExamined, calls.Keys = counts, examined, keys
	if err != nil {
		return 0, err
	}
	c := f.add()
	c.kr, c.start, c.counts, c.read = kr, len(f.records), read, entries
	f.records = append(f.records, r.chunk.records...)
	for i := range r.chunk.records {
		f.keys.add(r.chunk.keys.at(i))
		size += len(r.chunk.records[i].Doc)
	}
	c.end = len(f.records)
	if c.done = r.walk.at.scan >= len(r.walk.scans); !c.done {
		c.at.set(&r.walk.at)
	}
	return size, nil
}

// add appends a chunk. It reuses the memory for the key of an earlier one.
func (f *FirstChunks) add() *firstChunk {
	if len(f.list) == cap(f.list) {
		f.list = append(f.list, firstChunk{})
	} else {
		f.list = f.list[:len(f.list)+1]
	}
	return &f.list[len(f.list)-1]
}

// Next returns the position, among the ranges that were read, of the next chunk; -1 if
// none is left.
func (f *FirstChunks) Next() int {
	if f.next == len(f.list) {
		return -1
	}
	return f.next
}

// Take gives the next chunk to r, which continues after it. It reports false if no chunk
// is left, or if another command has read them.
func (f *FirstChunks) Take(r *ScanIterator) bool {
	if f.next == len(f.list) {
		return false
	}
	if f.resumed != r.x.root().resumed {
		f.Drop()
		return false
	}
	c := &f.list[f.next]
	f.next++
	r.Restart(c.kr)
	records := &r.chunk.records
	*records = append(*records, f.records[c.start:c.end]...)
	for i := c.start; i < c.end; i++ {
		r.chunk.keys.add(f.keys.at(i))
	}
	if w := &r.walk; w.seen != nil {
		for i := range *records {
			w.seen[(*records)[i].ID] = struct{}{}
		}
	}
	if r.walk.done = c.done; !c.done {
		r.walk.at.set(&c.at)
		r.walk.size *= 4
	}
	r.sight.due, r.sight.meta = f.due, f.meta
	r.walk.scans[0].counts.add(c.counts)
	r.x.Stats.KeysExamined += int64(c.read)
	r.x.Running().Counts.Keys += int64(c.read)
	return true
}

// Drop forgets the chunks that were not taken.
func (f *FirstChunks) Drop() {
	clear(f.records)
	f.list, f.records, f.next = f.list[:0], f.records[:0], 0
	f.keys.reset()
}

func (n *ScanCounts) add(m ScanCounts) {
	n.Keys += m.Keys
	n.Passed += m.Passed
	n.Seeks += m.Seeks
	n.Last += m.Last
	n.Tested += m.Tested
	n.Dropped += m.Dropped
}
