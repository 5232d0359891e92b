package exec

import (
	"errors"
	"math"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
)

// Scan says which entries of which index, or which records, to visit.
type Scan struct {
	Index   string      // "": the records in natural order
	Ranges  plan.Ranges // of its keys, in the order in which they are visited
	Reverse bool        // the keys of each range are visited in descending order
	walks   bool        // from one range to the next
	records storage.Range
	Counts  ScanCounts // kept by the iterator, for explain
}

// ScanCounts is what was done for one scan.
type ScanCounts struct {
	Keys    int64 // entries visited
	Passed  int64 // entries that gave a result
	Seeks   int64 // ranges begun
	Last    int64 // 1 if it ended on an entry behind all ranges
	Tested  int64 // entries checked for duplicates
	Dropped int64 // duplicates among those
}

// ScanIterator iterates over the records that scans find, in chunks. It reads each chunk
// under a short lock of the storage, and applies the filter without a lock. Between chunks
// it holds only a position, so that a cursor can stay idle.
type ScanIterator struct {
	x        *Execution
	ns       storage.Namespace
	uuid     [16]byte
	Scans    []Scan                        // made one after the other
	at       position                      // behind what was read last
	buf      []storage.Record              // the chunk that was read last
	upcoming int                           // which record of buf is the next
	from     position                      // where buf was read from
	start    position                      // where the present view began
	ran      bool                          // the function of the present view
	chunk    int                           // how many records the next chunk has at most
	turns    int                           // of loops that read a chunk
	seen     map[storage.RecordID]struct{} // nil: a record cannot come twice
	meta     *catalog.Meta                 // of the collection when the chunk was read
	Stored   bool                          // everything is returned, as it is stored: for validate
	due      int64                         // before it, all records of the chunk are visible
	done     bool                          // nothing is left behind buf

	Queue  bool // documents are messages
	Expand bool // documents are buckets, shown uncompressed

	keys entryKeys // of buf, if it was read from an index

	keyDocs  *keyDocs         // to read the values of keys, nil if records are read
	branches []*keyDocs       // the same for each scan, if it differs
	covered  bool             // the documents from the keys are returned in place of records
	fetched  []bool           // of buf, if covered: which are records all the same
	filter   *canonical.Query // the filter for the values of a key
	failed   error            // of the filter
	early    error            // of readAhead

	// Entries of the chunk whose records are read together, see entry.
	waiting     []waitingEntry
	waitingKeys entryKeys
	ids         []storage.RecordID
	records     []storage.Record

	skip int // in how many fields entries agree of which one is enough; 0: all are wanted

	exact   *plan.Index // the index whose entries prove the match, as it was planned; nil if they do not
	proven  bool        // the records of the chunk match: their entries prove it
	planned bool        // the chunk is read in the view that the query was planned in
}

// position is how far an iteration has come.
type position struct {
	scan    int
	within  int // range of the scan
	started bool
	after   storage.RecordID
	key     []byte // behind which entry of the index; nil for records
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

// Reset forgets the keys and keeps their room.
func (k *entryKeys) Reset() { k.bytes, k.ends = k.bytes[:0], k.ends[:0] }

// The number of records that a scan reads within one view of the storage: few at first,
// since many finds need only a few, and more in each further chunk.
const (
	FirstChunk = 32   // of the first chunk
	nearChunk  = 256  // at most, so that they are still in the processor's cache when they are matched
	mostChunk  = 2048 // at most, of an engine whose views are round trips

	chunkBytes = 16 << 20 // of documents, at most
)

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
	r := &ScanIterator{x: x, ns: info.Namespace, uuid: info.UUID, Scans: scans, chunk: FirstChunk}
	m := catalog.Of(info)
	r.meta = m
	r.Queue = m.IsQueue
	r.Expand = m.Kind == catalog.Buckets && !x.Packed
	return r
}

// Once ensures that no record is returned twice. A multikey index or a union of scans may
// find a record several times.
func (r *ScanIterator) Once() *ScanIterator {
	r.seen = map[storage.RecordID]struct{}{}
	return r
}

// Next returns the next record; ok is false at the end.
func (r *ScanIterator) Next() (rec storage.Record, ok bool, err error) {
	next, err := r.advance(r.x.Running())
	if next == nil || err != nil {
		return rec, false, err
	}
	return r.shown(*next), true, nil
}

// advance moves on to the next visible record and returns it as it is stored, valid until
// the next call; nil at the end.
func (r *ScanIterator) advance(call *kernel.Call) (*storage.Record, error) {
	for {
		for r.upcoming < len(r.buf) {
			rec := &r.buf[r.upcoming]
			r.upcoming++
			if r.mayHaveExpired(call.Now) {
				if r.covered && !r.fetched[r.upcoming-1] { // it was read before something expired
					r.unread()
					r.rewind()
					break
				}
				if !r.meta.Visible(rec, call.Now) {
					continue
				}
			}
			if !r.covered || r.fetched[r.upcoming-1] {
				r.x.Stats.DocsExamined++
				call.Counts.Docs++
			}
			if !r.x.Env.Meta.IsEmpty() {
				r.x.Env.Meta = expr.Meta{} // of the document before
			}
			if len(r.keys.ends) > 0 {
				r.x.key = r.currentKey()
			}
			return rec, nil
		}
		if err := r.early; err != nil {
			r.early = nil
			return nil, err
		}
		if r.done {
			return nil, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// mayHaveExpired reports whether the records of the chunk must be checked for expiry: at
// least one record in the collection has expired.
func (r *ScanIterator) mayHaveExpired(now int64) bool { return now >= r.due }

// look reads the present expiry policy of the collection, which may have changed since
// the iteration began.
func (r *ScanIterator) look(coll storage.Collection) {
	r.due = math.MaxInt64
	if r.Stored {
		return
	}
	if r.meta = catalog.Of(coll.Info()); r.meta.MayHide() {
		r.due = r.meta.Rules.NextDue(coll)
	}
}

// asStored reports whether clients see the records as they are stored.
func (r *ScanIterator) asStored() bool {
	return !r.Queue && !r.Expand && (r.Stored || r.covered || !r.meta.MayHide())
}

// shown returns a record as clients see it.
func (r *ScanIterator) shown(rec storage.Record) storage.Record {
	if !r.Stored && !r.covered {
		rec.Doc = r.meta.Shown(rec.Doc, rec.TS)
	}
	if r.Queue {
		rec.Doc = queue.Present(rec.Doc, r.x.Running().Now)
	}
	if r.Expand {
		rec.Doc = ShownBucket(rec.Doc)
	}
	return rec
}

// currentKey is the index key of the record returned last; it is valid until
// the next record is asked for.
func (r *ScanIterator) currentKey() []byte { return r.keys.at(r.upcoming - 1) }

// rewind discards the records that were read ahead, so that a cursor sees the writes
// between two batches.
func (r *ScanIterator) rewind() {
	if r.upcoming >= len(r.buf) {
		return
	}
	for i := range r.buf[r.upcoming:] {
		delete(r.seen, r.buf[r.upcoming+i].ID)
	}
	scan := &r.Scans[r.from.scan]
	indexed := scan.Index != ""
	if indexed {
		scan.Counts.Keys -= int64(len(r.buf) - r.upcoming)
		scan.Counts.Passed -= int64(len(r.buf) - r.upcoming)
		r.x.Stats.KeysExamined -= int64(len(r.buf) - r.upcoming)
	}
	r.at.set(&r.from)
	if r.upcoming > 0 {
		r.at.started, r.at.after = true, r.buf[r.upcoming-1].ID
		if indexed {
			r.at.key = append(r.at.key[:0], r.keys.at(r.upcoming-1)...)
		}
	}
	r.buf, r.upcoming, r.done = r.buf[:0], 0, false
	r.keys.Reset()
	r.fetched = r.fetched[:0]
}

// unread makes the record returned last the next one again.
func (r *ScanIterator) unread() { r.upcoming-- }

// readAhead implements rewinder.
func (r *ScanIterator) readAhead(most int) {
	if len(r.buf) > 0 || r.done {
		return
	}
	if r.chunk == FirstChunk {
		r.chunk = most
	}
	r.planned = true
	r.early = r.fill()
	r.planned = false
}

// fill reads the next chunk.
func (r *ScanIterator) fill() error {
	if err := r.x.Running().Interrupted(); err != nil {
		return err
	}
	if r.chunk >= nearChunk { // there were others before
		r.x.Running().TakesLong()
	}
	r.buf, r.upcoming, r.ran = r.buf[:0], 0, false
	r.start.set(&r.at)
	err := r.x.Running().View(func(tx storage.Tx) error {
		if r.ran { // again, because the catalog has changed; nothing was read
			r.at.set(&r.start)
		}
		r.ran = true
		coll, err := StillThere(tx, r.ns, r.uuid)
		if err != nil {
			return err
		}
		r.look(coll)
		if err := r.prove(coll); err != nil {
			return err
		}
		return r.readChunk(coll)
	})
	r.chunk = min(r.chunk*4, r.most())
	r.done = r.at.scan >= len(r.Scans)
	return err
}

// most is how many records a chunk has at most.
func (r *ScanIterator) most() int {
	if _, far := r.x.Running().Svc.Engine.(storage.BriefViewer); far {
		return mostChunk
	}
	return nearChunk
}

// prove decides whether the records of the next chunk need not be matched: its entries
// prove the match as long as the index has no more arrays than when the query was planned.
func (r *ScanIterator) prove(coll storage.Collection) error {
	if r.proven = r.exact != nil; r.planned || !r.proven {
		return nil
	}
	stats, err := coll.IndexStats(r.exact.Name)
	r.proven = err == nil && plan.Multikey(stats.Multikey) == r.exact.Multikey
	if errors.Is(err, storage.ErrNoIndex) {
		return nil // the scan reports it
	}
	return err
}

// readChunk reads on until there are records, or to the end.
func (r *ScanIterator) readChunk(coll storage.Collection) error {
	for len(r.buf) == 0 && r.at.scan < len(r.Scans) {
		r.keys.Reset()
		r.fetched = r.fetched[:0]
		r.from.set(&r.at)
		if err := r.read(coll); err != nil {
			return err
		}
		if err := r.tick(); err != nil { // very many scans may find nothing
			return err
		}
	}
	return nil
}

// tick checks for an interruption now and then, and before each chunk.
func (r *ScanIterator) tick() error {
	if r.turns++; r.turns&127 != 0 {
		return nil
	}
	return r.x.Running().Interrupted()
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

// read takes one chunk from the current range and moves on to the next range
// when it is used up.
func (r *ScanIterator) read(coll storage.Collection) error {
	s := &r.Scans[r.at.scan]
	if s.Index == "" {
		return r.readRecords(coll, s)
	}
	if r.at.within >= s.Ranges.Len() {
		r.nextScan()
		return nil
	}
	if r.branches != nil {
		r.keyDocs = r.branches[r.at.scan]
	}
	if s.walks && r.skip == 0 {
		return r.readRanges(coll, s)
	}
	kr := s.keys(r.at.within)
	if r.at.started {
		kr.AfterKey, kr.AfterID = r.at.key, r.at.after
	} else if r.skip == 0 {
		s.Counts.Seeks++
	}
	if r.skip > 0 {
		return r.readDistinct(coll, s, kr)
	}
	kr.Wanted = r.chunk
	visited, bytes, full := 0, 0, false
	err := r.scanIndex(coll, s.Index, kr, func(key []byte, rec storage.Record) bool {
		visited++
		r.at.key, r.at.after = append(r.at.key[:0], key...), rec.ID
		if r.isNew(rec.ID, s) {
			r.failed = r.entry(key, rec)
		}
		bytes += len(rec.Doc)
		full = visited >= r.chunk || bytes >= chunkBytes
		return !full && r.failed == nil
	})
	r.at.started = true
	if !full {
		r.nextRange(s)
	}
	return r.examined(s, visited, err)
}

// examined counts the entries that a scan has come to.
func (r *ScanIterator) examined(s *Scan, visited int, err error) error {
	if r.failed != nil {
		return r.failed
	}
	s.Counts.Keys += int64(visited)
	r.x.Stats.KeysExamined += int64(visited)
	r.x.Running().Counts.Keys += int64(visited)
	if errors.Is(err, storage.ErrNoIndex) {
		return mongoerr.Newf(mongoerr.QueryPlanKilled, "query plan killed :: caused by :: index '%s' dropped", s.Index)
	}
	return err
}

func (r *ScanIterator) readRecords(coll storage.Collection, s *Scan) error {
	rg := s.records
	if r.at.started {
		rg.After = r.at.after
	}
	rg.Wanted = r.chunk
	now := r.x.Running().Now
	visited, taken, bytes, ended := 0, 0, 0, true
	err := coll.Scan(rg, func(rec storage.Record) bool {
		visited++
		r.at.after = rec.ID
		if r.mayHaveExpired(now) && !r.meta.Visible(&rec, now) {
			ended = visited < mostChunk // hidden records are skipped in large chunks
			return ended
		}
		taken++
		bytes += len(rec.Doc)
		if r.isNew(rec.ID, s) {
			r.buf = append(r.buf, rec)
		}
		ended = taken < r.chunk && visited < mostChunk && bytes < chunkBytes
		return ended
	})
	r.at.started = true
	if ended {
		r.nextScan()
	}
	return err
}

// nextRange moves on to the next range of a scan, or behind the scan.
func (r *ScanIterator) nextRange(s *Scan) {
	r.at.within, r.at.started = r.at.within+1, false
	if r.at.within >= s.Ranges.Len() {
		r.nextScan()
	}
}

func (r *ScanIterator) nextScan() { r.at.scan, r.at.within, r.at.started = r.at.scan+1, 0, false }

func (r *ScanIterator) isNew(id storage.RecordID, s *Scan) bool {
	if r.seen == nil {
		return true
	}
	s.Counts.Tested++
	if _, dup := r.seen[id]; dup {
		s.Counts.Dropped++
		return false
	}
	r.seen[id] = struct{}{}
	return true
}

// Close ends the iteration.
func (r *ScanIterator) Close() { r.done, r.buf, r.upcoming = true, r.buf[:0], 0 }
