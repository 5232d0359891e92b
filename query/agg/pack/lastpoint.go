package pack

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// lastPoint returns the last point of each series, or the first. It replaces a $sort by
// time and a $group with $first or $last, or a $group with $top or $bottom by time. It
// unpacks only the packs of a series that may have this point.
type lastPoint struct {
	stages int // the number of stages that it replaces
	sort   *order.Stage
	group  *group.Stage
	key    *packKey
	time   string
	most   bool // the point with the greatest time
	first  bool // the document that comes first in the order of the $sort
}

// sortedPoint returns nil if the pipeline does not begin with such a $sort and $group.
func sortedPoint(stages []stage.Stage, shared, time string) *lastPoint {
	if len(stages) < 2 {
		return nil
	}
	s, ok := stages[0].(*order.Stage)
	g, ok2 := stages[1].(*group.Stage)
	if !ok || !ok2 || s.Limit > 0 || len(g.Fields) == 0 {
		return nil
	}
	op := g.Fields[0].Op
	for _, a := range g.Fields {
		if a.Op != op || op != "$first" && op != "$last" {
			return nil
		}
	}
	l := &lastPoint{stages: 2, sort: s, group: g, first: op == "$first"}
	return l.over(shared, time)
}

// topPoint returns nil if the $group is not for one point of each series.
func topPoint(s *group.Stage, shared, time string) *lastPoint {
	if len(s.Fields) == 0 || len(s.Fields[0].SortBy) == 0 {
		return nil
	}
	op, by := s.Fields[0].Op, s.Fields[0].SortBy
	for _, a := range s.Fields {
		if a.Op != op || op != "$top" && op != "$bottom" || !bytes.Equal(a.SortBy.Doc(), by.Doc()) {
			return nil
		}
	}
	l := &lastPoint{stages: 1, sort: &order.Stage{Pattern: by, Collator: s.Collator}, group: s, first: op == "$top"}
	return l.over(shared, time)
}

// over completes the plan. It returns nil if the documents of a series are not ordered
// by time.
func (l *lastPoint) over(shared, time string) *lastPoint {
	pattern := l.sort.Pattern
	if pattern.MetaOnly() {
		return nil
	}
	l.time, l.key = time, newPackKey(l.group.By, shared, time)
	last := pattern[len(pattern)-1]
	if l.key == nil || l.key.timed || last.Path != time || !l.sortsSeries(pattern[:len(pattern)-1], shared) {
		return nil
	}
	l.most = l.first == last.Desc
	return l
}

// sortsSeries reports whether the fields of a sort before the time have the same value
// for all documents of a group.
func (l *lastPoint) sortsSeries(parts order.Pattern, shared string) bool {
	if len(parts) == 0 {
		return true
	}
	path, plain := l.group.By.FieldPath()
	return plain && len(parts) == 1 && parts[0].Path == path && within(path, shared)
}

// point is the best document of a series so far.
type point struct {
	doc  value.Doc
	time value.Value
	sort []byte // key of the $sort
	seq  int
}

// pointing is one run.
type pointing struct {
	l      *lastPoint
	x      *stage.Exec
	points map[string]*point
	closed []pointPack
	size   int64
	key    []byte
	plain  *packSorting // once there are too many series
}

type pointPack struct {
	numberedPack
	series string
}

func (l *lastPoint) Replaces() int { return l.stages }

func (l *lastPoint) AppendSpec(*value.Builder) bool { return false }

func (l *lastPoint) Open(x *stage.Exec, src stage.Packs) stage.Iterator {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		r := &pointing{l: l, x: x, points: map[string]*point{}}
		if err := r.collect(src); err != nil {
			if r.plain != nil {
				r.plain.sorter.Close()
			}
			return nil, err
		}
		src.Close()
		if r.plain != nil {
			sorted, err := r.plain.sorter.Sorted()
			if err != nil {
				return nil, err
			}
			return l.group.Open(x, sorted)
		}
		return l.group.Open(x, stage.Docs(r.sorted()...))
	})
}

// order is that of the packs by the time that decides.
func (l *lastPoint) order() *packedSort { return &packedSort{time: l.time, desc: l.most} }

// collect reads all packs. Whenever the packs that it keeps fill the memory, it finds
// their points.
func (r *pointing) collect(src stage.Packs) error {
	limit := r.x.Limit(r.x.Limits.Group)
	err := r.l.order().each(r.x, src, func(p numberedPack) error {
		if r.plain != nil {
			return r.plain.openInto(p, r.plain.sorter.AddRecord)
		}
		if err := r.keep(p); err != nil {
			return err
		}
		if int64(len(r.closed))*packSize <= limit/2 {
			return nil
		}
		if err := r.find(); err != nil {
			return err
		}
		if r.size > limit/2 {
			return r.giveUp()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.find()
}

// keep stores a pack under the key of its series. A key that cannot be computed is an
// error only if a document of the pack passes the filter.
func (r *pointing) keep(p numberedPack) error {
	id, _, err := r.l.key.value(r.x, p)
	if err != nil {
		if d, bad := p.Docs().Next(); d == nil || bad != nil {
			return bad
		}
		return err
	}
	if id.IsMissing() {
		id = value.Null()
	}
	r.key = value.AppendKeyWith(r.key[:0], id, r.l.group.Collator)
	r.closed = append(r.closed, pointPack{p, string(r.key)})
	return nil
}

// find finds the points of the packs that were kept.
func (r *pointing) find() error {
	order := r.l.order()
	slices.SortFunc(r.closed, func(a, b pointPack) int { return order.compare(a.numberedPack, b.numberedPack) })
	for _, p := range r.closed {
		if best := r.points[p.series]; best != nil && !r.mayBeat(p, best) {
			continue
		}
		if err := r.look(p); err != nil {
			return err
		}
	}
	r.closed = r.closed[:0]
	return nil
}

func (r *pointing) mayBeat(p pointPack, best *point) bool {
	switch {
	case best.time.Kind() != value.KindDateTime:
		return true
	case r.l.most:
		return p.bound >= best.time.DateTime()
	}
	return p.bound <= best.time.DateTime()
}

// look looks for a better point in a pack.
func (r *pointing) look(p pointPack) error {
	it := p.Docs()
	for i := 0; ; i++ {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
		if err := r.x.Tick(); err != nil {
			return err
		}
		if r.key, err = r.l.sort.AppendKey(r.key[:0], r.x.Env, d); err != nil {
			return err
		}
		seq, best := p.n*packRows+i, r.points[p.series]
		if best != nil && !r.better(r.key, seq, best) {
			continue
		}
		if best == nil {
			best = &point{}
			r.points[p.series] = best
			r.size += int64(len(p.series) + 160)
		}
		r.size += int64(len(d) - len(best.doc))
		best.doc, best.seq, best.sort = d.Clone(), seq, append(best.sort[:0], r.key...)
		best.time = best.doc.Lookup(r.l.time)
	}
}

// better reports whether a document replaces the best one so far. Of several with the
// same key, $last takes the last one; $first, $top and $bottom take the first.
func (r *pointing) better(key []byte, seq int, best *point) bool {
	c := bytes.Compare(key, best.sort)
	if c == 0 {
		return (seq > best.seq) == (r.l.stages == 2 && !r.l.first)
	}
	return (c < 0) == r.l.first
}

// giveUp continues with a sorter, which may use the disk. It gives the sorter the points
// found so far in place of the packs that they were found in.
func (r *pointing) giveUp() error {
	r.plain = newPackSorting(r.x, &packedSort{s: r.l.sort, time: r.l.time}, 0)
	for _, p := range r.points {
		if err := r.plain.sorter.AddRecord(order.Record{Key: p.sort, Doc: p.doc, Seq: p.seq}); err != nil {
			return err
		}
	}
	r.points = nil
	return nil
}

// sorted returns the points in the order of the $sort.
func (r *pointing) sorted() []value.Doc {
	points := make([]*point, 0, len(r.points))
	for _, p := range r.points {
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b *point) int { return cmp.Or(bytes.Compare(a.sort, b.sort), a.seq-b.seq) })
	docs := make([]value.Doc, len(points))
	for i, p := range points {
		docs[i] = p.doc
	}
	return docs
}
