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

// Points makes a set of single values, which must be in order and distinct.
func Points(vs ...value.Value) Intervals {
	out := make([]Interval, len(vs))
	for i, v := range vs {
		out[i] = Between(v, v)
	}
	return Intervals{list: out}
}

// Between makes the interval of the values from lo to hi, both included.
func Between(lo, hi value.Value) Interval { return Interval{lo, hi, true, true} }

// IsPoint reports whether the interval is one value.
func (i Interval) IsPoint() bool { return i.LoInc && i.HiInc && value.Equal(i.Lo, i.Hi) }

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
	return d > 0 || d == 0 && (!i.LoInc || !i.HiInc)
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
	return Interval{Lo: lowest(k), Hi: following(k), LoInc: true}
}

// lowest is the first value of a type of variable length.
func lowest(k value.Kind) value.Value {
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
		return minDBPointer
	case value.KindCode:
		return value.Code("")
	case value.KindCodeScope:
		return minCodeScope
	}
	return value.MinKey()
}

// The least values of two types that have no constructor, as their bytes.
var (
	minDBPointer = value.Unmarshal(append([]byte{byte(value.KindDBPointer), 1, 0, 0, 0, 0}, make([]byte, 12)...))
	minCodeScope = value.Unmarshal([]byte{byte(value.KindCodeScope), 14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0})
)

// following is the least value of the next type, the end of a bracket without
// a greatest value.
func following(k value.Kind) value.Value {
	switch k {
	case value.KindString, value.KindSymbol:
		return lowest(value.KindDocument)
	case value.KindDocument:
		return lowest(value.KindArray)
	case value.KindArray:
		return lowest(value.KindBinary)
	case value.KindBinary:
		return value.ObjectID(value.OID{})
	case value.KindRegex:
		return lowest(value.KindDBPointer)
	case value.KindDBPointer:
		return lowest(value.KindCode)
	case value.KindCode:
		return lowest(value.KindCodeScope)
	}
	return value.MaxKey()
}
