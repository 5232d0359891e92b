package commands

import (
	"errors"
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// execution is what the iterators of one query share. It outlives the
// command that made it: each getMore puts its own Call in.
type execution struct {
	call  *Call
	env   *expr.Env
	stats execStats
	// sources are what was opened and may have read ahead.
	sources   []rewinder
	plans     []*access // of the collections a pipeline opened, for explain
	explained bool      // run to be explained, which is no use of an index
	// parent is the execution that is handed the calls, for those of
	// sub-pipelines.
	parent *execution
	key    []byte // of the index entry that led to the current record
	// packed tells that the buckets of a time series are read as they are
	// stored, by who unpacks them.
	packed bool
}

// execStats are the counters of explain's executionStats.
type execStats struct {
	keysExamined int64
	docsExamined int64
}

// newEnv makes the environment of the command's expressions: what $$NOW and
// $$CLUSTER_TIME are stays for as long as the command's cursor is open.
func (c *Call) newEnv() *expr.Env {
	env := expr.NewEnv(c.now)
	if c.svc.inReplicaSet() {
		if c.stamp == 0 {
			c.stamp = c.svc.stamps.current()
		}
		env.ClusterTime = stampValue(c.stamp)
	}
	return env
}

func newExecution(c *Call) *execution {
	x := &execution{call: c, env: c.newEnv()}
	x.env.Interrupt = func() error { return x.running().interrupted() }
	x.env.Scripts = x
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

// rewinder is a source that reads ahead of what it returns.
type rewinder interface{ rewind() }

// resume hands the execution to the command that continues it. What was read
// ahead is read again: the collection may have changed.
func (x *execution) resume(c *Call) {
	x.call = c
	for _, r := range x.sources {
		r.rewind()
	}
}

// scan says which entries of which index, or which records, to visit.
type scan struct {
	index   string // "": the records in natural order
	ranges  []storage.KeyRange
	walks   bool // from one range to the next
	records storage.Range
	counts  scanCounts
}

// scanCounts is what was done for one scan.
type scanCounts struct {
	keys    int64 // entries visited
	passed  int64 // entries that led to something
	seeks   int64 // ranges begun
	last    int64 // 1 if it ended on an entry behind all ranges
	tested  int64 // entries checked for having come up before
	dropped int64 // of those, the ones that had
}

// records iterates over the records that scans lead to, in chunks: each
// chunk is read under the storage's short locks, then judged without any.
// Between chunks it holds only a position, so a cursor may sleep there.
type records struct {
	x      *execution
	ns     storage.Namespace
	uuid   [16]byte
	scans  []scan
	at     position
	buf    []storage.Record
	next   int
	from   position // where buf was read from
	chunk  int
	turns  int                           // of loops that read a chunk
	seen   map[storage.RecordID]struct{} // nil: a record cannot come twice
	meta   *collectionMeta               // of the collection when the chunk was read
	stored bool                          // everything is returned, as it is stored: for validate
	due    int64                         // before it, all records of the chunk are visible
	done   bool

	queue  bool // documents are messages
	expand bool // documents are buckets, shown uncompressed

	keys entryKeys // of buf, if it was read from an index

	keyDocs  *keyDocs   // to read the values of keys, nil if records are read
	branches []*keyDocs // the same for each scan, if it differs
	covered  bool       // and to return them in place of records
	fetched  []bool     // of buf, if covered: which are records all the same
	filter   *readQuery // what the values of a key are to match
	failed   error      // of the filter
	skip     int        // in how many fields entries agree of which one is enough; 0: all are wanted
}

// position is how far an iteration has come.
type position struct {
	scan    int
	within  int // range of the scan
	started bool
	after   storage.RecordID
	key     []byte // behind which entry of the index
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

func (k *entryKeys) reset() { k.bytes, k.ends = k.bytes[:0], k.ends[:0] }

const (
	firstChunk = 32
	mostChunk  = 1024
)

// newRecords starts an iteration over a collection.
func newRecords(x *execution, info *storage.Info, scans []scan) *records {
	r := &records{x: x, ns: info.Namespace, uuid: info.UUID, scans: scans, chunk: firstChunk}
	m := metaOf(info)
	r.meta = m
	r.queue = m.isQueue
	r.expand = m.kind == timeSeriesBuckets && !x.packed
	if x.parent == nil {
		x.sources = append(x.sources, r)
	}
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
			if r.mayHaveExpired(now) {
				if r.covered && !r.fetched[r.next-1] { // it was read before something expired
					r.unread()
					r.rewind()
					break
				}
				if !r.meta.sees(rec, now) {
					continue
				}
			}
			if !r.covered || r.fetched[r.next-1] {
				r.x.stats.docsExamined++
				call.counts.docs++
			}
			r.x.env.Meta = expr.Meta{} // of the document before
			if len(r.keys.ends) > 0 {
				r.x.key = r.currentKey()
			}
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

// mayHaveExpired reports whether records of the chunk must be asked whether
// they are still visible: at least one in the collection is not.
func (r *records) mayHaveExpired(now int64) bool { return now >= r.due }

// look finds out what may be hidden in the collection as it is now: its policy
// may have changed since the iteration began.
func (r *records) look(coll storage.Collection) {
	r.due = math.MaxInt64
	if r.stored {
		return
	}
	if r.meta = metaOf(coll.Info()); r.meta.hides() {
		r.due = r.meta.rules.NextDue(coll)
	}
}

// shown is a record as users see it.
func (r *records) shown(rec storage.Record) storage.Record {
	if !r.stored && !r.covered {
		rec.Doc = r.meta.shown(rec.Doc, rec.TS)
	}
	if r.queue {
		rec.Doc = queue.Present(rec.Doc, r.x.running().now)
	}
	if r.expand {
		rec.Doc = shownBucket(rec.Doc)
	}
	return rec
}

// currentKey is the index key of the record returned last; it is valid until
// the next record is asked for.
func (r *records) currentKey() []byte { return r.keys.at(r.next - 1) }

// rewind gives back what was read ahead, so that a cursor sees the writes of
// the time between two batches.
func (r *records) rewind() {
	if r.next >= len(r.buf) {
		return
	}
	for i := range r.buf[r.next:] {
		delete(r.seen, r.buf[r.next+i].ID)
	}
	scan := &r.scans[r.from.scan]
	indexed := scan.index != ""
	if indexed {
		scan.counts.keys -= int64(len(r.buf) - r.next)
		scan.counts.passed -= int64(len(r.buf) - r.next)
		r.x.stats.keysExamined -= int64(len(r.buf) - r.next)
	}
	r.at.set(&r.from)
	if r.next > 0 {
		r.at.started, r.at.after = true, r.buf[r.next-1].ID
		if indexed {
			r.at.key = append(r.at.key[:0], r.keys.at(r.next-1)...)
		}
	}
	r.buf, r.next, r.done = r.buf[:0], 0, false
	r.keys.reset()
	r.fetched = r.fetched[:0]
}

// unread makes the record returned last the next one again.
func (r *records) unread() { r.next-- }

// fill reads the next chunk.
func (r *records) fill() error {
	if err := r.x.running().interrupted(); err != nil {
		return err
	}
	r.buf, r.next = r.buf[:0], 0
	err := r.x.running().view(func(tx storage.Tx) error {
		coll, err := stillThere(tx, r.ns, r.uuid)
		if err != nil {
			return err
		}
		r.look(coll)
		for len(r.buf) == 0 && r.at.scan < len(r.scans) {
			r.keys.reset()
			r.fetched = r.fetched[:0]
			r.from.set(&r.at)
			if err := r.read(coll); err != nil {
				return err
			}
			if err := r.tick(); err != nil { // there may be very many scans that find nothing
				return err
			}
		}
		return nil
	})
	r.chunk = min(r.chunk*4, mostChunk)
	r.done = r.at.scan >= len(r.scans)
	return err
}

// tick asks now and then whether to go on; a chunk is begun after asking.
func (r *records) tick() error {
	if r.turns++; r.turns&127 != 0 {
		return nil
	}
	return r.x.running().interrupted()
}

// stillThere opens the collection that something was begun on, which may be
// gone meanwhile, or another one have got its name.
func stillThere(tx storage.Tx, ns storage.Namespace, id [16]byte) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if err == nil && coll.Info().UUID == id {
		return coll, nil
	}
	return nil, mongoerr.Newf(mongoerr.QueryPlanKilled, "collection dropped. UUID %x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// read takes one chunk from the current range and moves on to the next range
// when it is used up.
func (r *records) read(coll storage.Collection) error {
	s := &r.scans[r.at.scan]
	if s.index == "" {
		return r.readRecords(coll, s)
	}
	if r.at.within >= len(s.ranges) {
		r.nextScan()
		return nil
	}
	if r.branches != nil {
		r.keyDocs = r.branches[r.at.scan]
	}
	if s.walks && r.skip == 0 {
		return r.readRanges(coll, s)
	}
	kr := s.ranges[r.at.within]
	if r.at.started {
		kr.AfterKey, kr.AfterID = r.at.key, r.at.after
	} else if r.skip == 0 {
		s.counts.seeks++
	}
	if r.skip > 0 {
		return r.readDistinct(coll, s, kr)
	}
	visited := 0
	err := coll.ScanIndex(s.index, kr, func(key []byte, id storage.RecordID) bool {
		visited++
		r.at.key, r.at.after = append(r.at.key[:0], key...), id
		if r.isNew(id, s) {
			r.failed = r.entry(coll, key, id)
		}
		return visited < r.chunk && r.failed == nil
	})
	r.at.started = true
	if visited < r.chunk {
		r.at.within, r.at.started = r.at.within+1, false
	}
	return r.examined(s, visited, err)
}

// examined counts the entries that a scan has come to.
func (r *records) examined(s *scan, visited int, err error) error {
	if r.failed != nil {
		return r.failed
	}
	s.counts.keys += int64(visited)
	r.x.stats.keysExamined += int64(visited)
	r.x.running().counts.keys += int64(visited)
	if errors.Is(err, storage.ErrNoIndex) {
		return mongoerr.Newf(mongoerr.QueryPlanKilled, "query plan killed :: caused by :: index '%s' dropped", s.index)
	}
	return err
}

func (r *records) readRecords(coll storage.Collection, s *scan) error {
	rg := s.records
	if r.at.started {
		rg.After = r.at.after
	}
	now := r.x.running().now
	visited, taken, ended := 0, 0, true
	err := coll.Scan(rg, func(rec storage.Record) bool {
		visited++
		r.at.after = rec.ID
		if r.mayHaveExpired(now) && !r.meta.sees(&rec, now) {
			ended = visited < mostChunk // what is hidden is passed over in long strides
			return ended
		}
		taken++
		if r.isNew(rec.ID, s) {
			r.buf = append(r.buf, rec)
		}
		ended = taken < r.chunk && visited < mostChunk
		return ended
	})
	r.at.started = true
	if ended {
		r.nextScan()
	}
	return err
}

func (r *records) nextScan() { r.at.scan, r.at.within, r.at.started = r.at.scan+1, 0, false }

func (r *records) isNew(id storage.RecordID, s *scan) bool {
	if r.seen == nil {
		return true
	}
	s.counts.tested++
	if _, dup := r.seen[id]; dup {
		s.counts.dropped++
		return false
	}
	r.seen[id] = struct{}{}
	return true
}

// Close ends the iteration.
func (r *records) Close() { r.done, r.buf, r.next = true, r.buf[:0], 0 }

// emptyDocs is an iterator without documents.
type emptyDocs struct{}

func (emptyDocs) Next() (value.Doc, error) { return nil, nil }
func (emptyDocs) Close()                   {}
