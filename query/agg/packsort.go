package agg

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// packedSort is a $sort by time over packs: these are opened in the order of
// their times, and a document is given as soon as no pack that is still
// closed can hold one before it. With a limit most packs are never opened.
type packedSort struct {
	s    *sortStage
	time string
	desc bool
}

// packSize is what a closed pack is reckoned to take.
const packSize = 256

// sortPacks returns nil if the $sort is not by time in the first place.
func sortPacks(s *sortStage, time string) *packedSort {
	if first := s.pattern[0]; first.meta || first.path != time || s.pattern.metaOnly() {
		return nil
	}
	return &packedSort{s: s, time: time, desc: s.pattern[0].desc}
}

func (ps *packedSort) replaces() int { return 1 }

// appendSpec shows the sort as mongod's bounded sorter.
func (ps *packedSort) appendSpec(b *value.Builder) bool {
	base := "min"
	if ps.desc {
		base = "max"
	}
	bounded := value.NewBuilder().Document("sortKey", ps.s.pattern.doc())
	bounded.StartDocument("bound").String("base", base).End().Int64("limit", ps.s.limit)
	b.Document("$_internalBoundedSort", bounded.Doc())
	return true
}

// numberedPack is a pack with its place in the source, and the first instant,
// in the order of the sort, that a document of it may have.
type numberedPack struct {
	Pack
	n     int
	bound int64
}

// packRows bounds the documents of a pack that are told apart by their order.
const packRows = 1 << 24

func (ps *packedSort) open(x *Exec, src Packs) Iterator {
	return lazy(src, func() (Iterator, error) {
		r := newPackSorting(x, ps, ps.s.limit)
		if err := r.collect(src); err != nil {
			r.sorter.close()
			return nil, err
		}
		if ps.s.limit == 0 && !r.overflow {
			return r, nil
		}
		if err := r.fillFromPacks(); err != nil {
			r.sorter.close()
			return nil, err
		}
		src.Close()
		return r.sorter.sorted()
	})
}

// packSorting is one run: the sorter that holds what is open, and the packs
// that are still closed, in order.
type packSorting struct {
	x        *Exec
	ps       *packedSort
	sorter   *sorting
	closed   []numberedPack
	overflow bool            // more packs than memory: all is left to the sorter
	heap     recordHeap      // of a sort without a limit
	size     int64           // of what is in it
	rest     *sortedIterator // once it had become too large
	key      []byte
}

func newPackSorting(x *Exec, ps *packedSort, limit int64) *packSorting {
	r := &packSorting{x: x, ps: ps, sorter: newSorting(x, ps.s, limit, x.memoryLimit())}
	r.sorter.copyDocs()
	return r
}

// collect asks for all packs and puts them in order. Packs beyond the memory
// limit are opened at once.
func (r *packSorting) collect(src Packs) error {
	err := r.ps.each(r.x, src, func(p numberedPack) error {
		if r.overflow {
			return r.openInto(p, r.sorter.addRecord)
		}
		r.closed = append(r.closed, p)
		r.overflow = int64(len(r.closed))*packSize > r.x.memoryLimit()
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(r.closed, r.ps.compare)
	return nil
}

// each numbers all packs of a source and hands them to f.
func (ps *packedSort) each(x *Exec, src Packs, f func(numberedPack) error) error {
	for n := 0; ; n++ {
		if err := x.tick(); err != nil {
			return err
		}
		p, err := src.NextPack()
		if p == nil || err != nil {
			return err
		}
		if err := f(numberedPack{Pack: p, n: n, bound: ps.bound(p)}); err != nil {
			return err
		}
	}
}

// compare orders packs by their bounds, and equal ones as they came.
func (ps *packedSort) compare(a, b numberedPack) int {
	c := cmp.Compare(a.bound, b.bound)
	if ps.desc {
		c = -c
	}
	return cmp.Or(c, a.n-b.n)
}

func (ps *packedSort) bound(p Pack) int64 {
	from, last, ok := p.Times()
	switch {
	case !ok && ps.desc:
		return math.MaxInt64
	case !ok:
		return math.MinInt64
	case ps.desc:
		return last
	}
	return from
}

// mayPrecede reports whether a pack may hold a document that comes before d,
// or at the same time.
func (r *packSorting) mayPrecede(p numberedPack, d value.Doc) bool {
	t := d.Lookup(r.ps.time)
	switch {
	case t.Kind() != value.KindDateTime:
		return true
	case r.ps.desc:
		return p.bound >= t.DateTime()
	}
	return p.bound <= t.DateTime()
}

// fillFromPacks gives the sorter the documents of the packs that may hold one
// of those that are wanted.
func (r *packSorting) fillFromPacks() error {
	for _, p := range r.closed {
		if worst, full := r.sorter.worst(); full && !r.mayPrecede(p, worst) {
			break
		}
		if err := r.openInto(p, r.sorter.addRecord); err != nil {
			return err
		}
	}
	r.closed = nil
	return nil
}

// openInto gives the documents of a pack, as records, to add.
func (r *packSorting) openInto(p numberedPack, add func(sortRecord) error) error {
	it := p.Docs()
	for i := 0; ; i++ {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
		if r.key, err = r.ps.s.appendKey(r.key[:0], r.x.Env, d); err != nil {
			return err
		}
		if err := r.x.tick(); err != nil {
			return err
		}
		if err := add(sortRecord{key: r.key, doc: d, meta: r.x.Env.Meta, seq: p.n*packRows + i}); err != nil {
			return err
		}
	}
}

// Next gives the documents of a sort without a limit.
func (r *packSorting) Next() (value.Doc, error) {
	for r.rest == nil && len(r.closed) > 0 && (len(r.heap) == 0 || r.mayPrecede(r.closed[0], r.heap[0].doc)) {
		p := r.closed[0]
		r.closed = r.closed[1:]
		if err := r.openInto(p, r.push); err != nil {
			return nil, err
		}
		if r.size > r.x.memoryLimit() {
			if err := r.giveUp(); err != nil {
				return nil, err
			}
		}
	}
	if r.rest != nil {
		return r.rest.Next()
	}
	if len(r.heap) == 0 {
		return nil, nil
	}
	rec := heap.Pop(&r.heap).(sortRecord)
	r.size -= rec.size()
	r.x.Env.Meta = rec.meta
	return rec.doc, r.x.tick()
}

func (r *packSorting) push(rec sortRecord) error {
	rec.key = bytes.Clone(rec.key)
	heap.Push(&r.heap, rec)
	r.size += rec.size()
	return nil
}

// giveUp leaves the rest to the sorter, which may use the disk.
func (r *packSorting) giveUp() (err error) {
	open := r.heap
	r.heap, r.size = nil, 0
	for _, rec := range open {
		if err := r.sorter.addRecord(rec); err != nil {
			return err
		}
	}
	if err := r.fillFromPacks(); err != nil {
		return err
	}
	r.rest, err = r.sorter.sorted()
	return err
}

// Close gives back what the run holds.
func (r *packSorting) Close() {
	r.closed, r.heap = nil, nil
	r.sorter.close()
}

// recordHeap has the record that comes first on top.
type recordHeap []sortRecord

func (h recordHeap) Len() int           { return len(h) }
func (h recordHeap) Less(i, j int) bool { return compareRecords(h[i], h[j]) < 0 }
func (h recordHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *recordHeap) Push(x any)        { *h = append(*h, x.(sortRecord)) }
func (h *recordHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = sortRecord{}
	*h = old[:len(old)-1]
	return last
}
