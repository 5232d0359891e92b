package match

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Op is the operator of a [Compare].
type Op uint8

// The five comparisons; $ne is the [Not] of OpEq.
const (
	OpEq Op = iota
	OpLt
	OpLte
	OpGt
	OpGte
)

var opNames = [...]string{"$eq", "$lt", "$lte", "$gt", "$gte"}

var opRanks = [...]int{rankEq, rankLt, rankLte, rankGt, rankGte}

// String returns the operator's name: "$eq".
func (o Op) String() string { return opNames[o] }

// Compare is $eq, $lt, $lte, $gt or $gte.
//
// Values of different types are not ordered (type bracketing): only null,
// which missing equals, and MinKey and MaxKey reach over their type. NaN
// equals NaN and is neither below nor above anything.
type Compare struct {
	leafPath
	Op        Op
	Value     value.Value
	Collation value.Collator // nil: binary
}

func (n *Compare) rank() int { return opRanks[n.Op] }

func (n *Compare) shape() uint64 { return leafShape(n.Op.String(), n) }

func (n *Compare) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Compare) reasons() reasons {
	return reasons{failed: "comparison failed", matched: "comparison succeeded"}
}

func (n *Compare) debug(w *treeWriter, depth int) {
	w.line(depth, "%s %s %v", n.Path.String(), n.Op, n.Value)
}

func (n *Compare) cheap() bool { return true }

func (n *Compare) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	first := d.Lookup(n.Path.Parts()[0])
	if n.Path.Len() == 1 && first.Kind() != value.KindArray {
		return n.holds(first), nil
	}
	return n.Path.EachFrom(first, 1, value.LeafTraverse, func(v value.Value, at int) bool {
		if !n.holds(v) {
			return false
		}
		if pos != nil && at >= 0 {
			*pos = at
		}
		return true
	}), nil
}

func (n *Compare) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	return n.holds(v), nil
}

// holds compares one value; values of the same type class are compared, others
// by holdsAcross.
func (n *Compare) holds(v value.Value) bool {
	kind, want := v.Kind(), n.Value.Kind()
	if isInteger(kind) && isInteger(want) {
		return n.Op.of(cmp.Compare(v.Int64(), n.Value.Int64()))
	}
	if kind.Rank() != want.Rank() {
		return n.holdsAcross(kind, want)
	}
	if n.Op == OpEq && kind == value.KindString && want == value.KindString && n.Collation == nil {
		return bytes.Equal(v.Bytes(), n.Value.Bytes())
	}
	c := value.CompareWith(v, n.Value, n.Collation)
	if c != 0 && want.IsNumber() && (v.IsNaN() || n.Value.IsNaN()) {
		return false
	}
	return n.Op.of(c)
}

func isInteger(k value.Kind) bool { return k == value.KindInt32 || k == value.KindInt64 }

// of reports whether the comparison holds if a value is below (-1), equal to (0) or above
// (1) the operand.
func (o Op) of(c int) bool {
	switch o {
	case OpEq:
		return c == 0
	case OpLt:
		return c < 0
	case OpLte:
		return c <= 0
	case OpGt:
		return c > 0
	}
	return c >= 0
}

// holdsAcross compares values of different types.
func (n *Compare) holdsAcross(kind, want value.Kind) bool {
	switch want {
	case value.KindNull:
		return kind == value.Missing && n.Op != OpLt && n.Op != OpGt
	case value.KindMaxKey:
		return n.Op == OpLt || n.Op == OpLte
	case value.KindMinKey:
		return n.Op == OpGt || n.Op == OpGte
	}
	return false
}

func (n *Compare) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Compare) appendOperator(b *value.Builder) { b.Append(n.Op.String(), n.Value) }

// In is $in: one of the values, or matching one of the regular expressions.
type In struct {
	leafPath
	Values    Values
	Regexes   []*Regex
	Collation value.Collator // nil: binary
	hasNull   bool
}

func (n *In) rank() int { return rankIn }

func (n *In) shape() uint64 { return leafShape("$in", n) }

func (n *In) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *In) reasons() reasons {
	return reasons{failed: "no matching value found in array", matched: "matching value found in array"}
}

func (n *In) debug(w *treeWriter, depth int) {
	var list strings.Builder
	for v := range n.Values.All() {
		fmt.Fprintf(&list, "%v ", v)
	}
	for _, r := range n.Regexes {
		fmt.Fprintf(&list, "/%s/%s ", r.Pattern, r.Options)
	}
	w.line(depth, "%s $in [ %s]", n.Path.String(), list.String())
}

// cheap reports whether all regular expressions search plain strings.
func (n *In) cheap() bool {
	return !slices.ContainsFunc(n.Regexes, func(r *Regex) bool { return !r.literal })
}

func (n *In) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

// matchValue looks the value up in the sorted list, then tries the regular
// expressions.
func (n *In) matchValue(env *expr.Env, v value.Value, pos *int) (bool, error) {
	if v.IsMissing() {
		return n.hasNull, nil
	}
	if err := env.Tick(); err != nil {
		return false, err
	}
	if n.Values.has(v, n.order) {
		return true, nil
	}
	for _, r := range n.Regexes {
		if ok, err := r.matchValue(env, v, pos); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// simplest returns the condition as an equality or a regular expression if the
// list has only one value.
func (n *In) simplest() Node {
	switch {
	case n.Values.Len()+len(n.Regexes) > 1:
		return n
	case n.Values.Len() == 1:
		return &Compare{leafPath: n.leafPath, Op: OpEq, Value: n.Values.At(0), Collation: n.Collation}
	case len(n.Regexes) == 1:
		return n.Regexes[0]
	}
	return &Constant{}
}

func (n *In) order(a, b value.Value) int { return value.CompareWith(a, b, n.Collation) }

func (n *In) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *In) appendOperator(b *value.Builder) {
	b.StartArray("$in")
	for v := range n.Values.All() {
		b.Append("", v)
	}
	for _, r := range n.Regexes {
		b.Append("", value.Regex(r.Pattern, r.Options))
	}
	b.End()
}

// parseCompare makes the parser of one comparison operator.
func parseCompare(op Op) fieldParser {
	return func(p *parser, path value.Path, _ value.Doc, e element) (Node, error) {
		return p.compare(op, path, e.v)
	}
}

func (p *parser) compare(op Op, path value.Path, v value.Value) (Node, error) {
	if v.Kind() == value.KindRegex && op != OpEq {
		return nil, mongoerr.Newf(mongoerr.BadValue, "Can't have RegEx as arg to non-equality predicate over field '%s'.", path)
	}
	if v.Kind() == value.KindUndefined {
		return nil, mongoerr.New(mongoerr.BadValue, "cannot compare to undefined")
	}
	return &Compare{leafPath: leafPath{Path: path}, Op: op, Value: v, Collation: p.o.Collation}, nil
}

func parseNe(p *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	if e.v.Kind() == value.KindRegex {
		return nil, mongoerr.New(mongoerr.BadValue, "Can't have regex as arg to $ne.")
	}
	return not(e.name)(p.compare(OpEq, path, e.v))
}

// not negates the result of a parser, for the operator op ("" for $not).
func not(op string) func(Node, error) (Node, error) {
	return func(n Node, err error) (Node, error) {
		if err != nil {
			return nil, err
		}
		return &Not{n, op}, nil
	}
}

// parseIn parses $in: values and regular expressions, but no operators.
func parseIn(p *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	if e.v.Kind() != value.KindArray {
		return nil, mongoerr.Newf(mongoerr.BadValue, "%s needs an array", e.name)
	}
	n := &In{leafPath: leafPath{Path: path}, Collation: p.o.Collation, Values: valuesOf(e.v.Doc(), e.v.Doc().Len())}
	it := e.v.Doc().Iter()
	for it.Next() {
		v := it.Value()
		switch {
		case IsCondition(v):
			return nil, mongoerr.New(mongoerr.BadValue, "cannot nest $ under $in")
		case v.Kind() == value.KindUndefined:
			return nil, mongoerr.New(mongoerr.BadValue, "InMatchExpression equality cannot be undefined")
		case v.Kind() == value.KindRegex:
			pattern, options := v.Regex()
			r, err := newRegex(path, pattern, options)
			if err != nil {
				return nil, err
			}
			n.Regexes = append(n.Regexes, r)
		default:
			n.hasNull = n.hasNull || v.Kind() == value.KindNull
			n.Values.add(&it)
		}
	}
	n.Values.sort(n.order)
	return n, nil
}

func parseNin(p *parser, path value.Path, context value.Doc, e element) (Node, error) {
	return not(e.name)(parseIn(p, path, context, e))
}
