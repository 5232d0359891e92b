package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// execution is what the iterators of one query share. It outlives the
// command that made it: each getMore puts its own Call in.
type execution struct {
	call  *Call
	env   *expr.Env
	stats execStats
	scope *expr.Scope
	plans []*access // of the collections a pipeline opened, for explain
	// parent is the execution that is handed the calls, for those of
	// sub-pipelines.
	parent *execution
	// record is the one the current document came from, where that is known.
	record storage.Record
	// packed tells that the buckets of a time series are read as they are
	// stored, by who unpacks them.
	packed bool
}

// execStats are the counters of explain's executionStats.
type execStats struct {
	keysExamined int64
	docsExamined int64
}

func newExecution(c *Call) *execution {
	x := &execution{call: c, env: expr.NewEnv(c.now)}
	x.env.Interrupt = func() error { return x.running().interrupted() }
	return x
}

// sub makes the execution of a part: it follows the calls of x.
func (x *execution) sub(env *expr.Env) *execution { return &execution{parent: x, env: env} }

// running is the command at work.
func (x *execution) running() *Call {
	for x.parent != nil {
		x = x.parent
	}
	return x.call
}

// resume hands the execution to the command that continues it.
func (x *execution) resume(c *Call) {
	x.call = c
	x.env.Now = c.now
}

// scan says which entries of which index, or which records, to visit.
type scan struct {
	index   string // "": the records in natural order
	ranges  []storage.KeyRange
	records storage.Range
	exact   bool // entries give the records without further check
}

// records iterates over the records that scans lead to, in chunks: each
// chunk is read under the storage's short locks, then judged without any.
// Between chunks it holds only a position, so a cursor may sleep there.
type records struct {
	x       *execution
	ns      storage.Namespace
	uuid    [16]byte
	scans   []scan
	current int // scan
	within  int // range of the scan
	after   storage.RecordID
	key     []byte // position in an index
	started bool
	buf     []storage.Record
	next    int
	chunk   int
	seen    map[storage.RecordID]struct{} // nil: a record cannot come twice
	visible func(r *storage.Record, now int64) bool
	done    bool

	exposeTS bool // documents are returned with _ts
	queue    bool // documents are messages
	expand   bool // documents are buckets, shown uncompressed
	keepKeys bool // remember the index key of each record
	keys     [][]byte
}

const (
	firstChunk = 32
	mostChunk  = 1024
)

// newRecords starts an iteration over a collection.
func newRecords(x *execution, info *storage.Info, scans []scan) *records {
	r := &records{x: x, ns: info.Namespace, uuid: info.UUID, scans: scans, chunk: firstChunk}
	m := metaOf(info)
	r.visible, r.exposeTS = m.visible, m.docTTL != nil && m.docTTL.ExposeTS
	r.queue = m.isQueue
	r.expand = m.kind == timeSeriesBuckets && !x.packed
	return r
}

// once makes sure that no record is returned twice, as a multikey index or a
// union of scans might.
func (r *records) once() *records {
	r.seen = map[storage.RecordID]struct{}{}
	return r
}

// Next returns the next record; ok is false at the end.
func (r *records) Next() (rec storage.Record, ok bool, err error) {
	for {
		call := r.x.running()
		now := call.now
		for r.next < len(r.buf) {
			rec := &r.buf[r.next]
			r.next++
			if r.visible != nil && !r.visible(rec, now) {
				continue
			}
			r.x.stats.docsExamined++
			call.counts.docs++
			return r.shown(*rec), true, nil
		}
		if r.done {
			return rec, false, nil
		}
		if err := r.fill(); err != nil {
			return rec, false, err
		}
	}
}

// shown is a record as users see it.
func (r *records) shown(rec storage.Record) storage.Record {
	if r.exposeTS {
		rec.Doc = ttl.WithTS(&rec)
	}
	if r.queue {
		rec.Doc = queue.Present(rec.Doc, r.x.running().now)
	}
	if r.expand {
		rec.Doc = shownBucket(rec.Doc)
	}
	return rec
}

// currentKey is the index key of the record returned last.
func (r *records) currentKey() []byte { return r.keys[r.next-1] }

// fill reads the next chunk.
func (r *records) fill() error {
	if err := r.x.running().interrupted(); err != nil {
		return err
	}
	r.buf, r.keys, r.next = r.buf[:0], r.keys[:0], 0
	err := r.x.running().view(func(tx storage.Tx) error {
		coll, err := tx.Collection(r.ns)
		if err != nil || coll.Info().UUID != r.uuid {
			return mongoerr.Newf(mongoerr.QueryPlanKilled, "collection dropped. UUID %x", r.uuid)
		}
		for len(r.buf) == 0 && r.current < len(r.scans) {
			if err := r.read(coll); err != nil {
				return err
			}
		}
		return nil
	})
	r.chunk = min(r.chunk*4, mostChunk)
	r.done = r.current >= len(r.scans)
	return err
}

// read takes one chunk from the current range and moves on to the next range
// when it is used up.
func (r *records) read(coll storage.Collection) error {
	s := &r.scans[r.current]
	if s.index == "" {
		return r.readRecords(coll, s)
	}
	if r.within >= len(s.ranges) {
		r.nextScan()
		return nil
	}
	kr := s.ranges[r.within]
	if r.started {
		kr.AfterKey, kr.AfterID = r.key, r.after
	}
	visited := 0
	err := coll.ScanIndex(s.index, kr, func(key []byte, id storage.RecordID) bool {
		visited++
		r.x.stats.keysExamined++
		r.key, r.after = append(r.key[:0], key...), id
		if r.isNew(id) {
			if rec, ok := coll.Get(id); ok {
				r.buf = append(r.buf, rec)
				if r.keepKeys {
					r.keys = append(r.keys, append([]byte(nil), key...))
				}
			}
		}
		return visited < r.chunk
	})
	r.started = true
	r.x.running().counts.keys += int64(visited)
	if visited < r.chunk {
		r.within, r.started = r.within+1, false
	}
	return err
}

func (r *records) readRecords(coll storage.Collection, s *scan) error {
	rg := s.records
	if r.started {
		rg.After = r.after
	}
	err := coll.Scan(rg, func(rec storage.Record) bool {
		r.after = rec.ID
		if r.isNew(rec.ID) {
			r.buf = append(r.buf, rec)
		}
		return len(r.buf) < r.chunk
	})
	r.started = true
	if len(r.buf) < r.chunk {
		r.nextScan()
	}
	return err
}

func (r *records) nextScan() { r.current, r.within, r.started = r.current+1, 0, false }

func (r *records) isNew(id storage.RecordID) bool {
	if r.seen == nil {
		return true
	}
	if _, dup := r.seen[id]; dup {
		return false
	}
	r.seen[id] = struct{}{}
	return true
}

// Close ends the iteration.
func (r *records) Close() { r.done, r.buf = true, nil }

// emptyDocs is an iterator without documents.
type emptyDocs struct{}

func (emptyDocs) Next() (value.Doc, error) { return nil, nil }
func (emptyDocs) Close()                   {}
