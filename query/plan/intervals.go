package plan

import (
	"iter"
	"sort"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Intervals is a set of values: intervals in order that do not touch.
type Intervals struct {
	list []Interval
	// points, unless nil, are in place of list the many values of a $in, or what is between
	// them and beyond.
	points *match.Values
	gaps   bool
}

// manyPoints is the number of values from which those of a filter are used as they are.
const manyPoints = 16

// all is every value.
var all = intervals(Between(value.MinKey(), value.MaxKey()))

// none is the empty set.
var none = Intervals{}

func intervals(list ...Interval) Intervals { return Intervals{list: list} }

func point(v value.Value) Intervals { return intervals(Between(v, v)) }

// Len is the number of intervals.
func (s *Intervals) Len() int {
	switch {
	case s.points == nil:
		return len(s.list)
	case s.gaps:
		return s.points.Len() + 1
	}
	return s.points.Len()
}

// At returns the i-th interval.
func (s *Intervals) At(i int) Interval {
	switch {
	case s.points == nil:
		return s.list[i]
	case !s.gaps:
		v := s.points.At(i)
		return Between(v, v)
	}
	gap := Between(value.MinKey(), value.MaxKey())
	if i > 0 {
		gap.Lo, gap.LoInc = s.points.At(i-1), false
	}
	if i < s.points.Len() {
		gap.Hi, gap.HiInc = s.points.At(i), false
	}
	return gap
}

// All iterates over the intervals.
func (s *Intervals) All() iter.Seq[Interval] {
	return func(yield func(Interval) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// isAll reports whether the set is every value.
func (s *Intervals) isAll() bool {
	return len(s.list) == 1 && s.list[0].LoInc && s.list[0].HiInc &&
		s.list[0].Lo.Kind() == value.KindMinKey && s.list[0].Hi.Kind() == value.KindMaxKey
}

// isPoint reports whether the set is one value.
func (s *Intervals) isPoint() bool { return len(s.list) == 1 && s.list[0].IsPoint() }

// isPoints reports whether the set is one or more single values.
func (s *Intervals) isPoints() bool {
	if s.points != nil {
		return !s.gaps
	}
	for _, i := range s.list {
		if !i.IsPoint() {
			return false
		}
	}
	return len(s.list) > 0
}

// intersect returns the values in both sets.
func (o order) intersect(a, b Intervals) Intervals {
	switch {
	case a.isAll():
		return b
	case b.isAll():
		return a
	}
	var out []Interval
	for i, j := 0, 0; i < a.Len() && j < b.Len(); {
		x, y := a.At(i), b.At(j)
		d := o.compareHi(x, y)
		if o.compareLo(x, y) < 0 {
			x.Lo, x.LoInc = y.Lo, y.LoInc
		}
		if d > 0 {
			x.Hi, x.HiInc = y.Hi, y.HiInc
		}
		if !o.empty(x) {
			out = append(out, x)
		}
		if d <= 0 {
			i++
		}
		if d >= 0 {
			j++
		}
	}
	return Intervals{list: out}
}

// union returns the values in either set.
func (o order) union(a, b Intervals) Intervals {
	switch {
	case a.Len() == 0:
		return b
	case b.Len() == 0:
		return a
	}
	var out []Interval
	for i, j := 0, 0; i < a.Len() || j < b.Len(); {
		var next Interval
		if j == b.Len() || i < a.Len() && o.compareLo(a.At(i), b.At(j)) <= 0 {
			next = a.At(i)
			i++
		} else {
			next = b.At(j)
			j++
		}
		if n := len(out); n > 0 && o.touch(out[n-1], next) {
			if o.compareHi(next, out[n-1]) > 0 {
				out[n-1].Hi, out[n-1].HiInc = next.Hi, next.HiInc
			}
			continue
		}
		out = append(out, next)
	}
	return Intervals{list: out}
}

// joined combines many sets as a binary counter counts: one after the other would be quadratic
// in their number if the result grows with each, and not many are kept at a time.
type joined struct {
	order order
	join  func(o order, a, b Intervals) Intervals
	sets  []Intervals // pending sets, each of half as many as the one before it, or fewer
	n     int
}

// add adds a set.
func (j *joined) add(s Intervals) {
	j.n++
	for i := j.n; i&1 == 0; i >>= 1 {
		last := len(j.sets) - 1
		s = j.join(j.order, j.sets[last], s)
		j.sets = j.sets[:last]
	}
	j.sets = append(j.sets, s)
}

// result combines all sets with one more.
func (j *joined) result(s Intervals) Intervals {
	for i := len(j.sets) - 1; i >= 0; i-- {
		s = j.join(j.order, j.sets[i], s)
	}
	return s
}

// touch reports whether nothing lies between a and the later b.
func (o order) touch(a, b Interval) bool {
	d := o.compare(a.Hi, b.Lo)
	return d > 0 || d == 0 && (a.HiInc || b.LoInc)
}

// complement returns the values that are not in the set.
func (o order) complement(s Intervals) Intervals {
	if s.points != nil {
		s.gaps = !s.gaps
		return s
	}
	var out []Interval
	gap := Interval{Lo: value.MinKey(), LoInc: true}
	for _, i := range s.list {
		gap.Hi, gap.HiInc = i.Lo, !i.LoInc
		if !o.empty(gap) {
			out = append(out, gap)
		}
		gap.Lo, gap.LoInc = i.Hi, !i.HiInc
	}
	gap.Hi, gap.HiInc = value.MaxKey(), true
	if !o.empty(gap) {
		out = append(out, gap)
	}
	return Intervals{list: out}
}

// contains reports whether v is in the set.
func (o order) contains(s Intervals, v value.Value) bool {
	one := Between(v, v)
	at := sort.Search(s.Len(), func(i int) bool { return o.compareHi(s.At(i), one) >= 0 })
	return at < s.Len() && o.compareLo(s.At(at), one) <= 0
}

// subset reports whether all of a is in b.
func (o order) subset(a, b Intervals) bool {
	out := o.intersect(a, o.complement(b))
	return out.Len() == 0
}
