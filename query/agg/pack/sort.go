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

// packedSort is a $sort by time over packs. It unpacks them in the order of their times,
// and returns a document as soon as none of the other packs can have one before it. With
// a limit most packs are never unpacked.
type packedSort struct {
	s    *order.Stage
	time string
	desc bool
}

// packSize is the assumed memory of a pack that is not unpacked.
const packSize = 256

// sortPacks returns nil if the first field of the $sort is not the time.
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

// numberedPack is a pack with its position in the source, and with the bound of its
// times that comes first in the order of the sort.
type numberedPack struct {
	stage.Pack
	n     int
	bound int64
}

// packRows is the greatest number of documents of a pack whose order is kept.
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

// packSorting is one run: a sorter with the unpacked documents, and the packs that are
// not unpacked yet, in order.
type packSorting struct {
	x        *stage.Exec
	ps       *packedSort
	sorter   *order.Sorter
	closed   []numberedPack
	overflow bool            // the packs do not fit into memory: the sorter does everything
	heap     recordHeap      // the heap of a sort without a limit
	size     int64           // the bytes of the records in heap
	rest     *order.Iterator // set when the heap has become too large
	key      []byte
}

func newPackSorting(x *stage.Exec, ps *packedSort, limit int64) *packSorting {
	r := &packSorting{x: x, ps: ps, sorter: order.NewSorter(x, ps.s, limit, x.SortLimit())}
	r.sorter.CopyDocs()
	return r
}

// collect reads all packs and sorts them. It unpacks those beyond the memory limit at
// once.
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

// each calls f with each pack of a source and its number.
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

// compare orders packs by their bounds, and packs with equal bounds by their position in
// the source.
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

// fillFromPacks adds to the sorter the documents of those packs that may have one of the
// first limit documents.
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

// openInto unpacks a pack and calls add with each document as a record.
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

// Next returns the next document of a sort without a limit.
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

// giveUp continues with a sorter, which may use the disk.
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

// Close releases what the run holds.
func (r *packSorting) Close() {
	r.closed, r.heap = nil, nil
	r.sorter.Close()
}

// recordHeap is a heap with the record that comes first on top.
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
