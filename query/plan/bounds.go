package plan

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// fieldBounds are the bounds that the filter gives for one field of an index.
type fieldBounds struct {
	set   Intervals
	exact bool
	from  *term // the condition that the bounds come from, if only one may be used
	used  int   // the number of terms that the bounds account for
}

var anything = fieldBounds{set: all, exact: true}

// bounder derives the bounds of the fields of one index.
type bounder struct {
	x      *Index
	q      *Query
	c      *conditions
	reader reader
}

func newBounder(x *Index, q *Query, c *conditions) *bounder {
	same := bytes.Equal(x.CollationDoc, q.Collation)
	return &bounder{x, q, c, reader{order: order{x.Collation}, strings: same}}
}

// bounds returns the bounds of all fields, as far as they may be used
// together.
func (b *bounder) bounds() []fieldBounds {
	out := make([]fieldBounds, len(b.x.Fields))
	for i := range b.x.Fields {
		out[i] = b.field(i, out[:i])
	}
	return out
}

// field reads the bounds of the i-th field, given those before it.
func (b *bounder) field(i int, before []fieldBounds) fieldBounds {
	f := &b.x.Fields[i]
	out := anything
	if f.Kind == Text {
		return b.textTerms()
	}
	deepest := b.x.deepest(i, components(f.Path))
	more := joined{order: b.reader.order, join: order.intersect} // to be intersected with out.set
	for k := range b.c.terms {
		t := &b.c.terms[k]
		if t.path != f.Path {
			continue
		}
		if k%256 == 255 && b.q.interrupted() != nil {
			return anything
		}
		inElement := t.in != nil && deepest <= components(t.in.path) // one element has one key
		b.reader.multikey = deepest > 0 && !inElement
		r, ok := b.boundOf(f, t)
		switch {
		case !ok:
			out.exact = false
		case deepest == 0:
			if out.used == 0 {
				out.set = r.set
			} else {
				more.add(r.set)
			}
			out.exact = out.exact && r.exact
			out.used++
		case !b.together(i, t, before):
			out.exact = false
		default:
			out = b.among(out, r, t, inElement)
		}
	}
	out.set = more.result(out.set)
	return out
}

// among adds a condition on a field with arrays. Conditions that different
// elements may satisfy cannot be intersected: only one of them bounds the
// keys. Conditions on the same element are intersected.
func (b *bounder) among(out fieldBounds, r bound, t *term, inElement bool) fieldBounds {
	switch {
	case out.from == nil:
		exact := r.exact && !b.reader.contains(r.set, value.Null()) && !b.reader.contains(r.set, value.Undefined())
		return fieldBounds{set: r.set, exact: out.exact && exact, from: t, used: 1}
	case inElement && out.from.in == t.in:
		out.set = b.reader.intersect(out.set, r.set)
	case better(r.set, out.set):
		out.set, out.from = r.set, t
	}
	out.exact = false
	return out
}

// boundOf returns the bound that a term gives for a field; ok is false if it gives none.
func (b *bounder) boundOf(f *Field, t *term) (r bound, ok bool) {
	switch f.Kind {
	case Hashed:
		r = b.hashed(t.node)
	case Geo2D, Sphere:
		if b.x.Cover == nil {
			return unbounded, false
		}
		list := b.x.Cover(t.node)
		return bound{set: intervals(list...)}, list != nil
	default:
		r = b.reader.boundOf(t.node)
		if _, exists := t.node.(*match.Exists); exists && b.x.Sparse && len(b.x.Fields) == 1 {
			r.exact = true // missing values are not in the index
		}
	}
	if positional(f.Path) && !b.plainPositional(t, r) {
		return unbounded, false
	}
	return r, true
}

// textTerms returns the bounds for the terms of a text search.
func (b *bounder) textTerms() fieldBounds {
	if b.c.text == nil {
		return anything
	}
	terms := b.c.text.Query.Bounds
	sets := joined{order: b.reader.order, join: order.union}
	for _, t := range terms {
		sets.add(point(value.String(t)))
	}
	return fieldBounds{set: sets.result(none)}
}

// plainPositional reports whether a condition on a path with a position can
// give bounds: with nested arrays, queries and indexes resolve such a path
// differently.
func (b *bounder) plainPositional(t *term, r bound) bool {
	switch t.node.(type) {
	case *match.Compare, *match.In:
		return t.in == nil && !b.reader.contains(r.set, value.Null())
	}
	return false
}

// hashed converts an equality to the hashes of its values.
func (b *bounder) hashed(n match.Node) bound {
	var values []value.Value
	switch n := n.(type) {
	case *match.Compare:
		if n.Op != match.OpEq {
			return unbounded
		}
		values = []value.Value{n.Value}
	case *match.In:
		if len(n.Regexes) > 0 {
			return unbounded
		}
		values = slices.Collect(n.Values.All())
	default:
		return unbounded
	}
	sets := joined{order: b.reader.order, join: order.union}
	for _, v := range values {
		if v.Kind() == value.KindArray || v.Kind() == value.KindUndefined || !b.reader.usable(v) {
			return unbounded
		}
		sets.add(point(value.Int64(b.x.Hash(v))))
	}
	return bound{set: sets.result(none)}
}

// together reports whether a term may bound the i-th field of a multikey index
// along with the bounds of the fields before it. An index has one entry for
// each element of an array, so conditions on two fields below the same array
// must be about the same element.
func (b *bounder) together(i int, t *term, before []fieldBounds) bool {
	for k := range before {
		if before[k].set.isAll() {
			continue
		}
		n := shared(b.x.Fields[k].Path, t.path)
		array := max(b.x.deepest(i, n), b.x.deepest(k, n))
		if array == 0 {
			continue
		}
		from := before[k].from
		if from == nil || from.in == nil || from.in != t.in || components(t.in.path) < array {
			return false
		}
	}
	return true
}

// usable reports whether all matching documents are in the index. If it is
// sparse, the bounds of some field must exclude missing values.
func (b *bounder) usable(fields []fieldBounds) bool {
	special := false
	for i := range fields {
		switch b.x.Fields[i].Kind {
		case Geo2D, Sphere, Text:
			special = true
			if !fields[i].set.isAll() {
				return true
			}
		}
	}
	if special {
		return false
	}
	if !b.x.Sparse || asksForPresence(b.x, b.c) {
		return true
	}
	for i := range fields {
		absent := value.Null()
		if b.x.Fields[i].Kind == Hashed {
			absent = value.Int64(b.x.Hash(absent))
		}
		if !b.reader.contains(fields[i].set, absent) {
			return true
		}
	}
	return false
}
