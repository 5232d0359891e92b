package exec

import (
	"bytes"
	"container/heap"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// Merged merges several ranges of one index in the order of the fields that follow their
// common prefix. It is used for {a: {$in: […]}} sorted by b.
type Merged struct {
	streams mergeHeap
	All     []*mergeStream // all streams, with the ended ones, for explain
	seen    map[storage.RecordID]struct{}
	started bool
	Dropped int64 // number of records that another range had returned
	x       *Execution
	key     []byte // the key of the last returned record
}

// mergeStream is one range with its current record and key.
type mergeStream struct {
	Src     *ScanIterator // a scan of the range alone
	prefix  int
	reverse bool
	rec     storage.Record
	key     []byte
}

func newMerged(x *Execution, info *storage.Info, q *canonical.Query, p *plan.Plan) *Merged {
	m := &Merged{x: x}
	if p.Dedup {
		m.seen = map[storage.RecordID]struct{}{}
	}
	for i := range p.Ranges.Len() {
		r := p.Ranges.At(i)
		s := Scan{Index: p.Index.Name, Ranges: plan.RangesOf(r), Reverse: p.Reverse}
		src := NewScanIterator(x, info, []Scan{s}).useKeys(p, q)
		m.streams = append(m.streams, &mergeStream{Src: src, prefix: r.Prefix, reverse: p.Reverse})
	}
	if x.parent == nil { // m looks after its streams
		x.Sources = append(x.Sources[:len(x.Sources)-len(m.streams)], m)
	}
	m.All = append(m.All, m.streams...)
	return m
}

// rewind gives back the record that each stream stands on, too.
func (m *Merged) rewind() {
	if !m.started {
		return
	}
	for _, s := range m.streams {
		s.Src.unread()
		s.Src.rewind()
	}
	m.started = false
}

// readAhead implements rewinder.
func (m *Merged) readAhead(limit int) {
	for _, s := range m.streams {
		s.Src.readAhead(limit)
	}
}

// Next implements RecordSource.
func (m *Merged) Next() (storage.Record, bool, error) {
	if !m.started {
		if err := m.start(); err != nil {
			return storage.Record{}, false, err
		}
	}
	for len(m.streams) > 0 {
		top := m.streams[0]
		rec := top.rec
		m.key = append(m.key[:0], top.key...)
		ok, err := top.advance()
		if err != nil {
			return rec, false, err
		}
		if ok {
			heap.Fix(&m.streams, 0)
		} else {
			heap.Pop(&m.streams)
		}
		if m.seen != nil {
			if _, dup := m.seen[rec.ID]; dup {
				m.Dropped++
				continue
			}
			m.seen[rec.ID] = struct{}{}
		}
		m.x.key = m.key
		return rec, true, nil
	}
	return storage.Record{}, false, nil
}

// start reads the first record of each range.
func (m *Merged) start() error {
	m.started = true
	live := m.streams[:0]
	for _, s := range m.streams {
		ok, err := s.advance()
		if err != nil {
			return err
		}
		if ok {
			live = append(live, s)
		}
	}
	m.streams = live
	heap.Init(&m.streams)
	return nil
}

func (s *mergeStream) advance() (ok bool, err error) {
	s.rec, ok, err = s.Src.Next()
	if ok {
		s.key = append(s.key[:0], s.Src.currentKey()...)
	}
	return ok, err
}

// Close implements RecordSource.
func (m *Merged) Close() {
	for _, s := range m.streams {
		s.Src.Close()
	}
	m.streams = nil
}

type mergeHeap []*mergeStream

func (h mergeHeap) Len() int { return len(h) }

func (h mergeHeap) Less(i, j int) bool {
	c := bytes.Compare(h[i].key[h[i].prefix:], h[j].key[h[j].prefix:])
	if h[i].reverse {
		return c > 0
	}
	return c < 0
}

func (h mergeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *mergeHeap) Push(x any) { *h = append(*h, x.(*mergeStream)) }

func (h *mergeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
