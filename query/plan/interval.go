package plan

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// Interval is an interval of values in index order.
type Interval struct {
	Lo, Hi       value.Value
	LoInc, HiInc bool
}

// Intervals is a set of values: intervals in order that do not touch.
type Intervals []Interval

// all is every value.
var all = Intervals{{value.MinKey(), value.MaxKey(), true, true}}

// none is the empty set.
var none = Intervals{}

func point(v value.Value) Intervals { return Intervals{{v, v, true, true}} }

// Points makes a set of single values, which must be in order and distinct.
func Points(vs ...value.Value) Intervals {
	out := make(Intervals, len(vs))
	for i, v := range vs {
		out[i] = Interval{v, v, true, true}
	}
	return out
}

// Between makes the interval of the values from lo to hi, both included.
func Between(lo, hi value.Value) Interval { return Interval{lo, hi, true, true} }

// IsPoint reports whether the interval is one value.
func (i Interval) IsPoint() bool { return i.LoInc && i.HiInc && value.Equal(i.Lo, i.Hi) }

// isAll reports whether the set is every value.
func (s Intervals) isAll() bool {
	return len(s) == 1 && s[0].LoInc && s[0].HiInc &&
		s[0].Lo.Kind() == value.KindMinKey && s[0].Hi.Kind() == value.KindMaxKey
}

// isPoints reports whether the set is one or more single values.
func (s Intervals) isPoints() bool {
	for _, i := range s {
		if !i.IsPoint() {
			return false
		}
	}
	return len(s) > 0
}

// order compares values as an index with a collation does.
type order struct{ c value.Collator }

func (o order) compare(a, b value.Value) int { return value.CompareWith(a, b, o.c) }

// compareLo and compareHi compare where intervals begin and end.
func (o order) compareLo(a, b Interval) int {
	if d := o.compare(a.Lo, b.Lo); d != 0 || a.LoInc == b.LoInc {
		return d
	}
	if a.LoInc {
		return -1
	}
	return 1
}

func (o order) compareHi(a, b Interval) int {
	if d := o.compare(a.Hi, b.Hi); d != 0 || a.HiInc == b.HiInc {
		return d
	}
	if a.HiInc {
		return 1
	}
	return -1
}

func (o order) empty(i Interval) bool {
	d := o.compare(i.Lo, i.Hi)
	return d > 0 || d == 0 && !(i.LoInc && i.HiInc)
}

// intersect returns the values in both sets.
func (o order) intersect(a, b Intervals) Intervals {
	switch {
	case a.isAll():
		return b
	case b.isAll():
		return a
	}
	out := Intervals{}
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		if o.compareLo(x, y) < 0 {
			x.Lo, x.LoInc = y.Lo, y.LoInc
		}
		d := o.compareHi(a[0], y)
		if d > 0 {
			x.Hi, x.HiInc = y.Hi, y.HiInc
		}
		if !o.empty(x) {
			out = append(out, x)
		}
		if d <= 0 {
			a = a[1:]
		}
		if d >= 0 {
			b = b[1:]
		}
	}
	return out
}

// union returns the values in either set.
func (o order) union(a, b Intervals) Intervals {
	out := Intervals{}
	for len(a) > 0 || len(b) > 0 {
		var next Interval
		if len(b) == 0 || len(a) > 0 && o.compareLo(a[0], b[0]) <= 0 {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0], b[1:]
		}
		if n := len(out); n > 0 && o.touch(out[n-1], next) {
			if o.compareHi(next, out[n-1]) > 0 {
				out[n-1].Hi, out[n-1].HiInc = next.Hi, next.HiInc
			}
			continue
		}
		out = append(out, next)
	}
	return out
}

// intersectAll and unionAll combine many sets by halves: one after the other
// would be quadratic in their number if the result grows with each.

func (o order) intersectAll(sets []Intervals) Intervals { return halves(sets, all, o.intersect) }

func (o order) unionAll(sets []Intervals) Intervals { return halves(sets, none, o.union) }

func halves(sets []Intervals, empty Intervals, join func(a, b Intervals) Intervals) Intervals {
	switch n := len(sets); n {
	case 0:
		return empty
	case 1:
		return sets[0]
	default:
		return join(halves(sets[:n/2], empty, join), halves(sets[n/2:], empty, join))
	}
}

// touch reports whether nothing lies between a and the later b.
func (o order) touch(a, b Interval) bool {
	d := o.compare(a.Hi, b.Lo)
	return d > 0 || d == 0 && (a.HiInc || b.LoInc)
}

// complement returns the values that are not in the set.
func (o order) complement(s Intervals) Intervals {
	out := Intervals{}
	gap := Interval{Lo: value.MinKey(), LoInc: true}
	for _, i := range s {
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
	return out
}

// contains reports whether v is in the set.
func (o order) contains(s Intervals, v value.Value) bool {
	return len(o.intersect(s, point(v))) > 0
}

// subset reports whether all of a is in b.
func (o order) subset(a, b Intervals) bool {
	return len(o.intersect(a, o.complement(b))) == 0
}

// bracket is the interval of all values of the types that compare with k.
func bracket(k value.Kind) Interval {
	switch k {
	case value.KindDouble, value.KindInt32, value.KindInt64, value.KindDecimal:
		return Between(value.Double(math.NaN()), value.Double(math.Inf(1)))
	case value.KindBool:
		return Between(value.Bool(false), value.Bool(true))
	case value.KindDateTime:
		return Between(value.DateTime(math.MinInt64), value.DateTime(math.MaxInt64))
	case value.KindTimestamp:
		return Between(value.Timestamp(0, 0), value.Timestamp(math.MaxUint32, math.MaxUint32))
	case value.KindObjectID:
		last := value.OID{}
		for i := range last {
			last[i] = 0xff
		}
		return Between(value.ObjectID(value.OID{}), value.ObjectID(last))
	case value.KindMinKey, value.KindMaxKey, value.KindNull, value.KindUndefined:
		v := value.MinKey()
		switch k {
		case value.KindMaxKey:
			v = value.MaxKey()
		case value.KindNull:
			v = value.Null()
		case value.KindUndefined:
			v = value.Undefined()
		}
		return Between(v, v)
	}
	return Interval{Lo: least(k), Hi: following(k), LoInc: true}
}

// least is the first value of a type of variable length.
func least(k value.Kind) value.Value {
	switch k {
	case value.KindString, value.KindSymbol:
		return value.String("")
	case value.KindDocument:
		return value.Document(value.EmptyDoc)
	case value.KindArray:
		return value.Array(value.EmptyDoc)
	case value.KindBinary:
		return value.Binary(0, nil)
	case value.KindRegex:
		return value.Regex("", "")
	case value.KindDBPointer:
		return leastDBPointer
	case value.KindCode:
		return value.Code("")
	case value.KindCodeScope:
		return leastCodeScope
	}
	return value.MinKey()
}

// The least values of two types that have no constructor, as their bytes.
var (
	leastDBPointer = value.Unmarshal(append([]byte{byte(value.KindDBPointer), 1, 0, 0, 0, 0}, make([]byte, 12)...))
	leastCodeScope = value.Unmarshal([]byte{byte(value.KindCodeScope), 14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0})
)

// following is the least value of the next type, the end of a bracket without
// a greatest value.
func following(k value.Kind) value.Value {
	switch k {
	case value.KindString, value.KindSymbol:
		return least(value.KindDocument)
	case value.KindDocument:
		return least(value.KindArray)
	case value.KindArray:
		return least(value.KindBinary)
	case value.KindBinary:
		return value.ObjectID(value.OID{})
	case value.KindRegex:
		return least(value.KindDBPointer)
	case value.KindDBPointer:
		return least(value.KindCode)
	case value.KindCode:
		return least(value.KindCodeScope)
	}
	return value.MaxKey()
}
