package match

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Mod is $mod: the whole part of a number leaves Remainder when divided by
// Divisor.
type Mod struct {
	leafPath
	Divisor, Remainder int64
}

func (n *Mod) rank() int { return rankMod }

func (n *Mod) shape() uint64 { return leafShape("$mod", n) }

func (n *Mod) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Mod) reasons() reasons {
	return reasons{
		failed:  "$mod did not evaluate to expected remainder",
		matched: "$mod did evaluate to expected remainder",
	}
}

func (n *Mod) debug(w *treeWriter, depth int) {
	w.line(depth, "%s mod %d %% x == %d", n.Path.String(), n.Divisor, n.Remainder)
}

func (n *Mod) cheap() bool { return true }

func (n *Mod) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

// matchValue truncates a number to a long and tests its remainder. NaN,
// infinities and numbers out of range do not match.
func (n *Mod) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	if !v.IsNumber() {
		return false, nil
	}
	if k := v.Kind(); k == value.KindDouble || k == value.KindDecimal {
		f := v.AsDouble()
		if math.IsNaN(f) || f >= 1<<63 || f < -(1<<63) {
			return false, nil
		}
	}
	if n.Divisor == -1 { // MinInt64 % -1 overflows
		return n.Remainder == 0, nil
	}
	return v.TowardZeroInt64()%n.Divisor == n.Remainder, nil
}

func (n *Mod) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Mod) appendOperator(b *value.Builder) {
	b.StartArray("$mod").Int64("", n.Divisor).Int64("", n.Remainder).End()
}

// parseMod parses $mod: an array with divisor and remainder, which are
// truncated to longs.
func parseMod(_ *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	malformed := func(what string) (Node, error) {
		return nil, mongoerr.New(mongoerr.BadValue, "malformed mod, "+what)
	}
	if e.v.Kind() != value.KindArray {
		return malformed("needs to be an array")
	}
	list := e.v.Doc()
	divisor, remainder := list.Index(0), list.Index(1)
	switch {
	case divisor.IsMissing():
		return malformed("not enough elements")
	case !divisor.IsNumber():
		return malformed("divisor not a number")
	case remainder.IsMissing():
		return malformed("not enough elements")
	case !remainder.IsNumber():
		return malformed("remainder not a number")
	case list.Len() > 2:
		return malformed("too many elements")
	}
	d, problem := coerce(divisor)
	if problem != "" {
		return malformed("divisor value is invalid :: caused by :: " + problem)
	}
	r, problem := coerce(remainder)
	if problem != "" {
		return malformed("remainder value is invalid :: caused by :: " + problem)
	}
	if d == 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "divisor cannot be 0")
	}
	return &Mod{leafPath{Path: path}, d, r}, nil
}

// coerce truncates a number to a long, or returns why that is not possible.
func coerce(v value.Value) (n int64, problem string) {
	if k := v.Kind(); k == value.KindDouble || k == value.KindDecimal {
		f := v.AsDouble()
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return 0, "Unable to coerce NaN/Inf to integral type"
		case f >= 1<<63 || f < -(1<<63):
			return 0, "Out of bounds coercing to integral value"
		}
	}
	return v.TowardZeroInt64(), ""
}
