package exec

import (
	"errors"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/storage"
)

// ScanIterator iterates over the records that scans find, in chunks. It reads each chunk
// under a short lock of the storage, and applies the filter without a lock. Between chunks
// it holds only a position, so that a cursor can stay idle.
//
// fill reads a chunk: the walker goes from entry to entry, the decoder turns entries into
// records or documents, and sight leaves out what has expired. advance takes the records of
// the chunk one by one; since some of them may expire meanwhile, it looks again. rewind
// gives the rest of the chunk back.
type ScanIterator struct {
	x     *Execution
	ns    storage.Namespace
	uuid  [16]byte
	walk  walker
	plain recordDecoder // the decoder of walk, unless keys are used
	sight sight
	chunk chunk
	early error // the error of readAhead, which the next advance returns
}

// NewScanIterator starts an iteration over a collection.
func NewScanIterator(x *Execution, info *storage.Info, scans []Scan) *ScanIterator {
	r := newScanIterator(x, info, scans)
	switch {
	case x.parent == nil:
		x.Sources = append(x.Sources, r)
	case x.Running().SharesView():
		x.root().opened = append(x.root().opened, r)
	}
	return r
}

func newScanIterator(x *Execution, info *storage.Info, scans []Scan) *ScanIterator {
	r := &ScanIterator{x: x, ns: info.Namespace, uuid: info.UUID}
	m := catalog.Of(info)
	r.sight = sight{x: x, meta: m, messages: m.IsQueue, buckets: m.Kind == catalog.Buckets && !x.Packed}
	r.plain = recordDecoder{sight: &r.sight, out: &r.chunk}
	r.walk = walker{x: x, scans: scans, size: FirstChunk, decode: &r.plain, out: &r.chunk}
	return r
}

// Once ensures that no record is returned twice. A multikey index or a union of scans may
// find a record several times.
func (r *ScanIterator) Once() *ScanIterator {
	r.walk.seen = map[storage.RecordID]struct{}{}
	return r
}

// AsStored makes the iterator return everything that is stored, and as it is stored: for
// validate.
func (r *ScanIterator) AsStored() { r.sight = sight{x: r.x, meta: r.sight.meta, stored: true} }

// Counts returns what was done for each scan, for explain.
func (r *ScanIterator) Counts() []ScanCounts {
	counts := make([]ScanCounts, len(r.walk.scans))
	for i := range r.walk.scans {
		counts[i] = r.walk.scans[i].counts
	}
	return counts
}

// Next returns the next record; ok is false at the end.
func (r *ScanIterator) Next() (rec storage.Record, ok bool, err error) {
	next, err := r.advance(r.x.Running())
	if next == nil || err != nil {
		return rec, false, err
	}
	return r.sight.shown(*next), true, nil
}

// advance moves on to the next visible record and returns it as it is stored, valid until
// the next call; nil at the end.
func (r *ScanIterator) advance(call *kernel.Call) (*storage.Record, error) {
	c := &r.chunk
	for {
		for c.next < len(c.records) {
			rec := &c.records[c.next]
			c.next++
			isRecord := c.isRecord(c.next - 1)
			if r.sight.mayHaveExpired(call.Now) {
				if !isRecord { // its key was read before something expired: read it again
					r.unread()
					r.rewind()
					break
				}
				if !r.sight.meta.Visible(rec, call.Now) {
					continue
				}
			}
			if isRecord {
				r.x.Stats.DocsExamined++
				call.Counts.Docs++
			}
			if !r.x.Env.Meta.IsEmpty() {
				r.x.Env.Meta = expr.Meta{} // not that of the document before
			}
			if len(c.keys.ends) > 0 {
				r.x.key = r.currentKey()
			}
			return rec, nil
		}
		if err := r.early; err != nil {
			r.early = nil
			return nil, err
		}
		if r.walk.done {
			return nil, nil
		}
		if err := r.fill(false); err != nil {
			return nil, err
		}
	}
}

// currentKey is the index key of the record returned last; it is valid until
// the next record is asked for.
func (r *ScanIterator) currentKey() []byte { return r.chunk.keys.at(r.chunk.next - 1) }

// unread makes the record returned last the next one again.
func (r *ScanIterator) unread() { r.chunk.next-- }

// rewind discards the records that were read ahead, so that a cursor sees the writes
// between two batches.
func (r *ScanIterator) rewind() {
	if r.chunk.next < len(r.chunk.records) {
		r.walk.goBack()
		r.chunk.reset()
	}
}

// readAhead implements rewinder.
func (r *ScanIterator) readAhead(limit int) {
	if len(r.chunk.records) > 0 || r.walk.done {
		return
	}
	if r.walk.size == FirstChunk {
		r.walk.size = limit
	}
	r.early = r.fill(true)
}

// fill reads the next chunk. planned says that this happens in the view that the query was
// planned in.
func (r *ScanIterator) fill(planned bool) error {
	call := r.x.Running()
	if err := call.Interrupted(); err != nil {
		return err
	}
	if r.walk.size >= nearChunk { // there were others before
		call.TakesLong()
	}
	r.chunk.records, r.chunk.next = r.chunk.records[:0], 0
	r.walk.start.set(&r.walk.at)
	err := call.View(func(tx storage.Tx) error {
		r.walk.at.set(&r.walk.start) // the function runs again if the catalog has changed
		coll, err := StillThere(tx, r.ns, r.uuid)
		if err != nil {
			return err
		}
		r.sight.look(coll)
		if r.chunk.proven, err = r.walk.proves(coll, planned); err != nil {
			return err
		}
		return r.walk.readChunk(coll)
	})
	r.walk.chunkRead()
	return err
}

// Close ends the iteration.
func (r *ScanIterator) Close() {
	r.walk.done, r.chunk.records, r.chunk.next = true, r.chunk.records[:0], 0
}

// StillThere opens a collection again. It fails if the collection was dropped meanwhile,
// or if another collection has its name now.
func StillThere(tx storage.Tx, ns storage.Namespace, id [16]byte) (storage.Collection, error) {
	coll, err := catalog.Open(tx, ns)
	if err == nil && coll.Info().UUID == id {
		return coll, nil
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, kernel.Translate(ns, err)
	}
	return nil, mongoerr.Newf(mongoerr.QueryPlanKilled, "collection dropped. UUID %x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
