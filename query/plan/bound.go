package plan

import (
	"math"
	"slices"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// bound is what one node tells of the keys of a field: a matching
// document has at least one key in the set.
type bound struct {
	set Intervals
	// exact reports whether a key in the set proves the match, as long as the
	// document has no array on the path.
	exact bool
}

var unbounded = bound{set: all}

// reader derives bounds for one field of one index.
type reader struct {
	order
	multikey bool
	// strings reports whether the index compares strings as the query does.
	strings bool
	// nested reports whether the node is inside a $elemMatch: then a key is an
	// element, and does not show the elements inside it.
	nested bool
}

// boundOf returns the bound that a node gives for the keys of the field.
func (r reader) boundOf(n match.Node) bound {
	switch n := n.(type) {
	case *match.Compare:
		return r.compareNode(n.Op, n.Value)
	case *match.ExprCompare:
		return r.expression(n)
	case *match.In:
		return r.in(n)
	case *match.Regex:
		return r.regex(n)
	case *match.Exists:
		return bound{set: all}
	case *match.Type:
		return r.types(n.Types)
	case *match.Mod:
		return bound{set: intervals(bracket(value.KindDouble))}
	case *match.Bits:
		return bound{set: intervals(bracket(value.KindDouble), bracket(value.KindBinary))}
	case *match.ElemMatchValue:
		return r.elements(n)
	case *match.Not:
		return r.not(n.Node)
	case *match.And:
		return r.and(n.Nodes)
	}
	return unbounded
}

// usable reports whether the value sorts in the index as the query wants it.
func (r reader) usable(v value.Value) bool { return r.strings || !hasStrings(v) }

func hasStrings(v value.Value) bool {
	switch v.Kind() {
	case value.KindString, value.KindSymbol:
		return true
	case value.KindDocument, value.KindArray:
		for e := range v.Doc().Values() {
			if hasStrings(e) {
				return true
			}
		}
	}
	return false
}

// compareNode returns the bound of a comparison with a value, by the type of
// the value.
func (r reader) compareNode(op match.Op, v value.Value) bound {
	if !r.usable(v) {
		return unbounded
	}
	switch v.Kind() {
	case value.Missing, value.KindUndefined:
		return unbounded
	case value.KindArray:
		if op == match.OpEq {
			return r.array(v)
		}
		return unbounded
	case value.KindNull:
		if op == match.OpLt || op == match.OpGt {
			return bound{none, true}
		}
		return bound{point(v), true}
	case value.KindMinKey, value.KindMaxKey:
		if r.multikey && op != match.OpEq {
			return unbounded // arrays as a whole sort between the two
		}
		return bound{r.extreme(op, v), true}
	}
	if op == match.OpEq {
		return bound{point(v), true}
	}
	return bound{r.ranged(op, v), true}
}

// array returns the bound for equality with a whole array: its key is that of
// its first element, or undefined if it is empty, or itself inside another
// array.
func (r reader) array(v value.Value) bound {
	first := v.Doc().Index(0)
	if first.IsMissing() {
		first = value.Undefined()
	}
	return bound{set: r.union(point(first), point(v))}
}

// extreme reads a comparison with MinKey or MaxKey, which reaches over all
// types.
func (r reader) extreme(op match.Op, v value.Value) Intervals {
	low := v.Kind() == value.KindMinKey
	switch op {
	case match.OpEq:
		return point(v)
	case match.OpGte, match.OpLte:
		if low == (op == match.OpGte) {
			return all
		}
		return point(v)
	}
	if low == (op == match.OpLt) {
		return none
	}
	return r.complement(point(v))
}

// ranged reads $lt, $lte, $gt, $gte within the type of the value.
func (r reader) ranged(op match.Op, v value.Value) Intervals {
	i := bracket(v.Kind())
	if v.IsNumber() {
		if v.IsNaN() {
			if op == match.OpLte || op == match.OpGte {
				return point(v)
			}
			return none
		}
		i.Lo = value.Double(math.Inf(-1)) // NaN is not less than any value
	}
	switch op {
	case match.OpLt, match.OpLte:
		i.Hi, i.HiInc = v, op == match.OpLte
	default:
		i.Lo, i.LoInc = v, op == match.OpGte
	}
	if r.empty(i) {
		return none
	}
	return intervals(i)
}

// expression reads a comparison within $expr, which reaches over all types.
// An array is compared as a whole, which the keys do not show.
func (r reader) expression(n *match.ExprCompare) bound {
	if r.multikey || !r.usable(n.Value) {
		return unbounded
	}
	i := all.At(0)
	switch n.Op {
	case match.OpLt, match.OpLte:
		i.Hi, i.HiInc = n.Value, n.Op == match.OpLte
		if n.Value.Kind() == value.KindNull {
			i.HiInc = true // the key of a missing field, which is below null
		}
	default:
		i.Lo, i.LoInc = n.Value, n.Op == match.OpGte
	}
	if r.empty(i) {
		return bound{set: none}
	}
	return bound{set: intervals(i)}
}

// in returns the bound of $in: the union of the bounds of its values and
// regular expressions.
func (r reader) in(n *match.In) bound {
	out := bound{none, true}
	sets := joined{order: r.order, join: order.union}
	take := func(one bound) {
		sets.add(one.set)
		out.exact = out.exact && one.exact
	}
	if points, ok := r.points(&n.Values); ok {
		sets.add(points)
	} else {
		for v := range n.Values.All() {
			take(r.compareNode(match.OpEq, v))
		}
	}
	for _, rx := range n.Regexes {
		take(r.regex(rx))
	}
	out.set = sets.result(none)
	return out
}

// points converts the values of $in, which are in order, to a set in one step
// if they are all simple.
func (r reader) points(vs *match.Values) (Intervals, bool) {
	var last value.Value
	many := vs.Len() >= manyPoints
	for i := range vs.Len() {
		v := vs.At(i)
		switch v.Kind() {
		case value.KindArray, value.KindUndefined, value.Missing:
			return none, false
		case value.KindMinKey, value.KindMaxKey:
			many = false // there is no gap beyond
		}
		if !r.usable(v) || i > 0 && r.compare(last, v) >= 0 {
			return none, false
		}
		last = v
	}
	if many {
		return Intervals{points: vs}, true
	}
	return Points(slices.Collect(vs.All())...), true
}

// regex reads a regular expression: strings with its prefix, and the same
// expression stored as a value.
func (r reader) regex(n *match.Regex) bound {
	i := bracket(value.KindString)
	prefix, exact := n.Prefix()
	if r.c != nil || !r.strings {
		prefix, exact = "", false
	}
	if prefix != "" {
		i.Lo = value.String(prefix)
		if next := successor(prefix); next != "" {
			i.Hi = value.String(next)
		}
	}
	itself := value.Regex(n.Pattern, n.Options)
	return bound{r.union(intervals(i), point(itself)), exact && prefix != ""}
}

// successor returns the first string after all strings with the prefix, or "" if no
// string is after them.
func successor(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 {
		if b[len(b)-1] != 0xff {
			b[len(b)-1]++
			return string(b)
		}
		b = b[:len(b)-1]
	}
	return ""
}

func (r reader) types(t match.TypeSet) bound {
	out := bound{set: none}
	if t.Number {
		out.set = intervals(bracket(value.KindDouble))
	}
	for _, k := range t.Kinds {
		if k == value.KindArray { // indexed by its elements
			return unbounded
		}
		out.set = r.union(out.set, intervals(bracket(k)))
	}
	out.exact = t.Number && len(t.Kinds) == 0
	return out
}

// elements reads $elemMatch with operators: one element, and so one key,
// satisfies all of them.
func (r reader) elements(n *match.ElemMatchValue) bound {
	out := bound{set: all}
	if r.nested {
		return out
	}
	inner := r
	inner.multikey, inner.nested = false, true // the condition applies to the element itself
	sets := joined{order: r.order, join: order.intersect}
	for _, c := range n.Nodes {
		sets.add(inner.boundOf(c).set)
	}
	out.set = sets.result(all)
	return out
}

// not returns the complement for a negation if that is sound: the negated set
// must be exact, and must not contain missing values if there may be arrays.
func (r reader) not(n match.Node) bound {
	if _, ok := n.(*match.Exists); ok {
		return bound{set: point(value.Null())}
	}
	inner := r.boundOf(n)
	if !inner.exact {
		return unbounded
	}
	if r.multikey && (r.contains(inner.set, value.Null()) || r.contains(inner.set, value.Undefined())) {
		return unbounded
	}
	return bound{r.complement(inner.set), !r.multikey}
}

// and reads several conditions that stand below one $not or $elemMatch.
func (r reader) and(nodes []match.Node) bound {
	out := bound{all, true}
	sets := joined{order: r.order, join: order.intersect}
	for _, c := range nodes {
		in := r.boundOf(c)
		if r.multikey {
			out.exact = false // different elements may satisfy them
			if better(in.set, out.set) {
				out.set = in.set
			}
			continue
		}
		sets.add(in.set)
		out.exact = out.exact && in.exact
	}
	if !r.multikey {
		out.set = sets.result(all)
	}
	return out
}

// better reports whether a is likely to hold fewer keys than b.
func better(a, b Intervals) bool { return selectivity(a) < selectivity(b) }

// selectivity ranks sets by their form alone.
func selectivity(s Intervals) int {
	switch {
	case s.Len() == 0:
		return 0
	case s.isPoint():
		return 1
	case s.isPoints():
		return 2
	case s.isAll():
		return 9
	}
	worst := 3
	for i := range s.All() {
		if i.Lo.Kind() == value.KindMinKey || i.Hi.Kind() == value.KindMaxKey {
			return 6
		}
		if halfOpen(i) {
			worst = 4
		}
	}
	return worst + min(s.Len()-1, 1)
}

// halfOpen reports whether one end is that of the type's bracket.
func halfOpen(i Interval) bool {
	b := bracket(i.Lo.Kind())
	return value.Equal(i.Hi, b.Hi) || value.Equal(i.Lo, b.Lo) || i.Lo.IsNumber() && math.IsInf(i.Lo.AsDouble(), -1)
}
