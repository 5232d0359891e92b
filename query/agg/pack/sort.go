package pack

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// packedSort is a $sort by time over packs: these are opened in the order of
// their times, and a document is given as soon as no pack that is still
// closed can hold one before it. With a limit most packs are never opened.
type packedSort struct {
	s    *order.Stage
	time string
	desc bool
}

// packSize is what a closed pack is reckoned to take.
const packSize = 256

// sortPacks returns nil if the $sort is not by time in the first place.
func sortPacks(s *order.Stage, time string) *packedSort {
	if first := s.Pattern[0]; first.Meta || first.Path != time || s.Pattern.MetaOnly() {
		return nil
	}
	return &packedSort{s: s, time: time, desc: s.Pattern[0].Desc}
}

func (ps *packedSort) Replaces() int { return 1 }

// AppendSpec shows the sort as mongod's bounded sorter.
func (ps *packedSort) AppendSpec(b *value.Builder) bool {
	base := "min"
	if ps.desc {
		base = "max"
	}
	bounded := value.NewBuilder().Document("sortKey", ps.s.Pattern.Doc())
	bounded.StartDocument("bound").String("base", base).End().Int64("limit", ps.s.Limit)
	b.Document("$_internalBoundedSort", bounded.Doc())
	return true
}

// numberedPack is a pack with its place in the source, and the first instant,
// in the order of the sort, that a document of it may have.
type numberedPack struct {
	stage.Pack
	n     int
	bound int64
}

// packRows bounds the documents of a pack that are told apart by their order.
const packRows = 1 << 24

func (ps *packedSort) Open(x *stage.Exec, src stage.Packs) stage.Iterator {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		r := newPackSorting(x, ps, ps.s.Limit)
		if err := r.collect(src); err != nil {
			r.sorter.Close()
			return nil, err
		}
		if ps.s.Limit == 0 && !r.overflow {
			return r, nil
		}
		if err := r.fillFromPacks(); err != nil {
			r.sorter.Close()
			return nil, err
		}
		src.Close()
		return r.sorter.Sorted()
	})
}

// packSorting is one run: the sorter that holds what is open, and the packs
// that are still closed, in order.
type packSorting struct {
	x        *stage.Exec
	ps       *packedSort
	sorter   *order.Sorter
	closed   []numberedPack
	overflow bool            // more packs than memory: all is left to the sorter
	heap     recordHeap      // of a sort without a limit
	size     int64           // of what is in it
	rest     *order.Iterator // once it had become too large
	key      []byte
}

func newPackSorting(x *stage.Exec, ps *packedSort, limit int64) *packSorting {
	r := &packSorting{x: x, ps: ps, sorter: order.NewSorter(x, ps.s, limit, x.SortLimit())}
	r.sorter.CopyDocs()
	return r
}

// collect asks for all packs and puts them in order. Packs beyond the memory
// limit are opened at once.
func (r *packSorting) collect(src stage.Packs) error {
	err := r.ps.each(r.x, src, func(p numberedPack) error {
		if r.overflow {
			return r.openInto(p, r.sorter.AddRecord)
		}
		r.closed = append(r.closed, p)
		r.overflow = int64(len(r.closed))*packSize > r.x.SortLimit()
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(r.closed, r.ps.compare)
	return nil
}

// each numbers all packs of a source and hands them to f.
func (ps *packedSort) each(x *stage.Exec, src stage.Packs, f func(numberedPack) error) error {
	for n := 0; ; n++ {
		if err := x.Tick(); err != nil {
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

func (ps *packedSort) bound(p stage.Pack) int64 {
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
		if worst, full := r.sorter.Worst(); full && !r.mayPrecede(p, worst) {
			break
		}
		if err := r.openInto(p, r.sorter.AddRecord); err != nil {
			return err
		}
	}
	r.closed = nil
	return nil
}

// openInto gives the documents of a pack, as records, to add.
func (r *packSorting) openInto(p numberedPack, add func(order.Record) error) error {
	it := p.Docs()
	for i := 0; ; i++ {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
		if r.key, err = r.ps.s.AppendKey(r.key[:0], r.x.Env, d); err != nil {
			return err
		}
		if err := r.x.Tick(); err != nil {
			return err
		}
		if err := add(order.Record{Key: r.key, Doc: d, Meta: r.x.Env.Meta, Seq: p.n*packRows + i}); err != nil {
			return err
		}
	}
}

// Next gives the documents of a sort without a limit.
func (r *packSorting) Next() (value.Doc, error) {
	for r.rest == nil && len(r.closed) > 0 && (len(r.heap) == 0 || r.mayPrecede(r.closed[0], r.heap[0].Doc)) {
		p := r.closed[0]
		r.closed = r.closed[1:]
		if err := r.openInto(p, r.push); err != nil {
			return nil, err
		}
		if r.size > r.x.SortLimit() {
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
	rec := heap.Pop(&r.heap).(order.Record)
	r.size -= rec.Size()
	r.x.Env.Meta = rec.Meta
	return rec.Doc, r.x.Tick()
}

func (r *packSorting) push(rec order.Record) error {
	rec.Key = bytes.Clone(rec.Key)
	heap.Push(&r.heap, rec)
	r.size += rec.Size()
	return nil
}

// giveUp leaves the rest to the sorter, which may use the disk.
func (r *packSorting) giveUp() (err error) {
	open := r.heap
	r.heap, r.size = nil, 0
	for _, rec := range open {
		if err := r.sorter.AddRecord(rec); err != nil {
			return err
		}
	}
	if err := r.fillFromPacks(); err != nil {
		return err
	}
	r.rest, err = r.sorter.Sorted()
	return err
}

// Close gives back what the run holds.
func (r *packSorting) Close() {
	r.closed, r.heap = nil, nil
	r.sorter.Close()
}

// recordHeap has the record that comes first on top.
type recordHeap []order.Record

func (h recordHeap) Len() int { return len(h) }

func (h recordHeap) Less(i, j int) bool { return order.Compare(h[i], h[j]) < 0 }

func (h recordHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *recordHeap) Push(x any) { *h = append(*h, x.(order.Record)) }

func (h *recordHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = order.Record{}
	*h = old[:len(old)-1]
	return last
}
