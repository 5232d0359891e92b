package exec

import (
	"errors"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// Scan says which entries of which index, or which records, to visit.
type Scan struct {
	Index   string      // name of the index; empty: the records in natural order
	Ranges  plan.Ranges // the ranges of its keys, in the order of the visit
	Reverse bool        // the keys of each range are visited in descending order
	walks   bool        // the scan goes from one range to the next without seeking
	records storage.Range
	counts  ScanCounts
}

// ScanCounts are the counters of one scan.
type ScanCounts struct {
	Keys    int64 // entries visited
	Passed  int64 // entries that gave a result
	Seeks   int64 // ranges begun
	Last    int64 // 1 if it ended on an entry behind all ranges
	Tested  int64 // entries checked for duplicates
	Dropped int64 // duplicates among those
}

// walker goes through the entries of one scan after the other, chunk by chunk, and gives
// what it comes to to a decoder. It does not know which records are visible.
type walker struct {
	x      *Execution
	scans  []Scan
	decode decoder
	values *distinctDecoder // reads one entry of each distinct value; nil: all entries are read
	out    *chunk

	at     position // the place behind the last entry that was read
	start  position // the place where the present view began
	size   int      // limit of the records in the next chunk
	done   bool     // nothing is left behind the chunk
	turns  int      // runs of the loops that read a chunk
	failed error    // the error of the decoder, which ends the scan

	seen  map[storage.RecordID]struct{} // records that were found; nil: none can come twice
	exact *plan.Index                   // the index, as it was planned, whose entries prove the match; nil: none
}

// The number of records that a scan reads within one view of the storage: few at first,
// since many finds need only a few, and more in each further chunk.
const (
	FirstChunk = 32   // the records of the first chunk
	nearChunk  = 256  // limit that keeps the records in the processor's cache until they are matched
	maxChunk   = 2048 // limit for an engine whose views are round trips

	chunkBytes = 16 << 20 // limit of the documents in a chunk
)

// restart begins anew with one range of the first scan's index.
func (w *walker) restart(kr storage.KeyRange) {
	w.scans[0].Ranges, w.scans[0].Reverse = plan.RangesOf(plan.Range{Lo: kr.Lo, Hi: kr.Hi}), kr.Reverse
	w.at, w.size, w.done = position{key: w.at.key[:0]}, FirstChunk, false
	clear(w.seen)
}

// goBack moves back to behind the record of the chunk that was returned last. If little of the
// chunk was wanted, the next one is small again.
func (w *walker) goBack() {
	c := w.out
	w.size = min(w.size, max(2*c.next, FirstChunk))
	left := c.records[c.next:]
	for i := range left {
		delete(w.seen, left[i].ID)
	}
	scan := &w.scans[c.from.scan]
	indexed := scan.Index != ""
	if indexed {
		scan.counts.Keys -= int64(len(left))
		scan.counts.Passed -= int64(len(left))
		w.x.Stats.KeysExamined -= int64(len(left))
	}
	w.at.set(&c.from)
	if c.next > 0 {
		w.at.started, w.at.after = true, c.records[c.next-1].ID
		if indexed {
			w.at.key = append(w.at.key[:0], c.keys.at(c.next-1)...)
		}
	}
	w.done = false
}

// chunkRead notes that a chunk was read: the next one is larger.
func (w *walker) chunkRead() {
	limit := nearChunk
	if _, far := w.x.Running().Svc.Engine.(storage.BriefViewer); far {
		limit = maxChunk
	}
	w.size = min(w.size*4, limit)
	w.done = w.at.scan >= len(w.scans)
}

// proves reports whether the records of the next chunk need not be matched: its entries
// prove the match as long as the index has no more arrays than when the query was planned.
func (w *walker) proves(coll storage.Collection, planned bool) (bool, error) {
	if w.exact == nil || planned {
		return w.exact != nil, nil
	}
	stats, err := coll.IndexStats(w.exact.Name)
	if errors.Is(err, storage.ErrNoIndex) {
		return false, nil // the scan reports it
	}
	return err == nil && plan.Multikey(stats.Multikey) == w.exact.Multikey, err
}

// readChunk reads on until there are records, or to the end.
func (w *walker) readChunk(coll storage.Collection) error {
	for len(w.out.records) == 0 && w.at.scan < len(w.scans) {
		w.out.reset()
		w.out.from.set(&w.at)
		if err := w.read(coll); err != nil {
			return err
		}
		if err := w.tick(); err != nil { // very many scans may find nothing
			return err
		}
	}
	return nil
}

// tick checks for an interruption now and then, and before each chunk.
func (w *walker) tick() error {
	if w.turns++; w.turns&127 != 0 {
		return nil
	}
	return w.x.Running().Interrupted()
}

// read takes one chunk from the current range and moves on to the next range
// when it is used up.
func (w *walker) read(coll storage.Collection) error {
	s := &w.scans[w.at.scan]
	switch {
	case s.Index == "":
		return w.readRecords(coll, s)
	case w.at.within >= s.Ranges.Len():
		w.nextScan()
		return nil
	case w.values != nil:
		return w.readDistinct(coll, s)
	}
	w.decode.begin(w.at.scan, w.size)
	if s.walks {
		return w.readRanges(coll, s)
	}
	return w.readRange(coll, s)
}

// readRange takes one chunk from the current range.
func (w *walker) readRange(coll storage.Collection, s *Scan) error {
	kr := w.onwards(s, s.keys(w.at.within))
	visited, bytes, full := 0, 0, false
	err := w.decode.scan(coll, s.Index, kr, func(key []byte, rec storage.Record) bool {
		visited++
		w.at.key, w.at.after = append(w.at.key[:0], key...), rec.ID
		w.entry(s, key, rec)
		bytes += len(rec.Doc)
		full = visited >= w.size || bytes >= chunkBytes
		return !full && w.failed == nil
	})
	w.at.started = true
	if !full {
		w.nextRange(s)
	}
	return w.examined(s, visited, err)
}

// onwards continues a range of keys behind the present position.
func (w *walker) onwards(s *Scan, kr storage.KeyRange) storage.KeyRange {
	kr.Wanted = w.size
	if w.at.started {
		kr.AfterKey, kr.AfterID = w.at.key, w.at.after
	} else {
		s.counts.Seeks++
	}
	return kr
}

// entry gives an entry to the decoder, unless its record was found before.
func (w *walker) entry(s *Scan, key []byte, rec storage.Record) {
	if w.isNew(rec.ID, s) {
		w.failed = w.decode.entry(&s.counts, key, rec)
	}
}

// examined counts the entries that a scan has come to.
func (w *walker) examined(s *Scan, visited int, err error) error {
	if w.failed != nil {
		return w.failed
	}
	s.counts.Keys += int64(visited)
	w.x.Stats.KeysExamined += int64(visited)
	w.x.Running().Counts.Keys += int64(visited)
	if errors.Is(err, storage.ErrNoIndex) {
		return mongoerr.Newf(mongoerr.QueryPlanKilled, "query plan killed :: caused by :: index '%s' dropped", s.Index)
	}
	return err
}

// readRecords takes one chunk of records in natural order.
func (w *walker) readRecords(coll storage.Collection, s *Scan) error {
	rg := s.records
	if w.at.started {
		rg.After = w.at.after
	}
	rg.Wanted = w.size
	now := w.x.Running().Now
	visited, taken, bytes, ended := 0, 0, 0, true
	err := coll.Scan(rg, func(rec storage.Record) bool {
		visited++
		w.at.after = rec.ID
		if !w.decode.wants(rec, now) {
			ended = visited < maxChunk // records that are not wanted are skipped in large chunks
			return ended
		}
		taken++
		bytes += len(rec.Doc)
		if w.isNew(rec.ID, s) {
			w.out.records = append(w.out.records, rec)
		}
		ended = taken < w.size && visited < maxChunk && bytes < chunkBytes
		return ended
	})
	w.at.started = true
	if ended {
		w.nextScan()
	}
	return err
}

// nextRange moves on to the next range of a scan, or behind the scan.
func (w *walker) nextRange(s *Scan) {
	w.at.within, w.at.started = w.at.within+1, false
	if w.at.within >= s.Ranges.Len() {
		w.nextScan()
	}
}

func (w *walker) nextScan() { w.at.scan, w.at.within, w.at.started = w.at.scan+1, 0, false }

func (w *walker) isNew(id storage.RecordID, s *Scan) bool {
	if w.seen == nil {
		return true
	}
	s.counts.Tested++
	if _, dup := w.seen[id]; dup {
		s.counts.Dropped++
		return false
	}
	w.seen[id] = struct{}{}
	return true
}
