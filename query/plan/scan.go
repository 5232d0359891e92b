package plan

import (
	"slices"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// candidates returns the plans that scan one index for the conditions; none if
// the index is not useful. A hinted index is always used, if necessary with a
// full scan, unless it is a wildcard index.
func candidates(x *Index, q *Query, c *conditions, hinted bool) []*Plan {
	if hasKind(x, Wildcard) {
		return wildcardPlans(x, q, c)
	}
	if !hinted && !promising(x, q, c) {
		return nil
	}
	b := newBounder(x, q, c)
	fields := b.bounds()
	usable := b.usable(fields) && (x.Partial == nil || implies(b.reader, c, x.Partial.Root()))
	if !usable {
		if !hinted {
			return nil
		}
		for i := range fields {
			fields[i] = fieldBounds{set: all}
		}
	}
	p := scan(x, q, c, fields, hinted)
	if p == nil {
		return nil
	}
	p.Exact = p.Exact && usable
	p.cover(q, c)
	return []*Plan{p}
}

// promising reports whether the first field of an index occurs in a condition
// or is the first of the sort. Otherwise only special fields can make the
// index useful.
func promising(x *Index, q *Query, c *conditions) bool {
	first := x.Fields[0].Path
	for i := range c.terms {
		if c.terms[i].path == first {
			return true
		}
	}
	if name, _ := q.Sort.First(); name == first && name != "" {
		return true
	}
	return hasKind(x, Text) || hasKind(x, Geo2D) || hasKind(x, Sphere)
}

func hasKind(x *Index, k Kind) bool {
	for i := range x.Fields {
		if x.Fields[i].Kind == k {
			return true
		}
	}
	return false
}

// scan makes the plan for the given bounds.
func scan(x *Index, q *Query, c *conditions, fields []fieldBounds, hinted bool) *Plan {
	var room [8]part
	parts := room[:0]
	p := &Plan{Type: IndexScan, Index: x, Bounds: make([]Intervals, len(fields))}
	for i := range fields {
		parts = append(parts, part{set: fields[i].set, desc: x.Fields[i].Desc, raw: x.Fields[i].Kind == Text})
		if x.Fields[i].Kind == Text { // the score follows the term in the key
			parts = append(parts, part{set: all})
		}
		p.Bounds[i] = fields[i].set
	}
	var used int
	p.Ranges, used = keyer{x.Collation}.ranges(parts)
	p.Whole = used == 0
	p.equalities = leadingPoints(fields)
	p.Dedup = x.Multikey != 0 || !p.Ranges.Disjoint(false)
	p.Exact = exact(c, fields, used)
	p.sort(q, fields, used)
	if p.Whole && !p.Sorted && !hinted && !asksForPresence(x, c) && (!c.besideText || !c.present(x.Fields[0].Path)) {
		return nil
	}
	return p
}

// asksForPresence reports whether the conditions exclude the documents that a
// sparse index lacks: those without one of its fields.
func asksForPresence(x *Index, c *conditions) bool {
	return x.Sparse && slices.ContainsFunc(x.Fields, func(f Field) bool { return f.Kind == Plain && c.present(f.Path) })
}

func leadingPoints(fields []fieldBounds) (n int) {
	for n < len(fields) && fields[n].set.isPoint() {
		n++
	}
	return n
}

// exact reports whether the ranges hold matching documents only: each
// condition is accounted for, by bounds that the ranges use in full.
func exact(c *conditions, fields []fieldBounds, used int) bool {
	if c.opaque > 0 || len(c.ors) > 0 || c.never {
		return false
	}
	n := 0
	for i := range fields {
		if fields[i].used == 0 {
			continue
		}
		if !fields[i].exact || i >= used && !fields[i].set.isAll() {
			return false
		}
		n += fields[i].used
	}
	return n == len(c.terms)
}

// wholeIndex scans all of an index.
func wholeIndex(x *Index) *Plan {
	p := &Plan{Type: IndexScan, Index: x, Ranges: RangesOf(Range{}), Whole: true, Dedup: x.Multikey != 0}
	for i := range x.Fields {
		if x.Fields[i].Kind == Wildcard {
			p.Bounds = append(p.Bounds, all)
		}
		p.Bounds = append(p.Bounds, all)
	}
	return p
}

// implies reports whether the conditions imply a partial index's filter, so
// that the index contains all matching documents.
func implies(r reader, c *conditions, filter match.Node) bool {
	switch f := filter.(type) {
	case *match.And:
		for _, n := range f.Nodes {
			if !implies(r, c, n) {
				return false
			}
		}
		return true
	case *match.Or:
		for _, n := range f.Nodes {
			if implies(r, c, n) {
				return true
			}
		}
		return impliesByBranches(r, c, filter)
	case *match.Constant:
		return f.Result
	case match.Leaf:
		for i := range c.terms {
			if c.terms[i].path == f.FieldPath().String() && impliesLeaf(r, &c.terms[i], f) {
				return true
			}
		}
		return impliesByBranches(r, c, filter)
	}
	return false
}

// impliesByBranches reports whether every branch of some disjunction implies
// the filter.
func impliesByBranches(r reader, c *conditions, filter match.Node) bool {
	for _, or := range c.ors {
		proven := true
		for _, branch := range or.Nodes {
			proven = proven && implies(r, takeApart(branch), filter)
		}
		if proven {
			return true
		}
	}
	return false
}

// impliesLeaf reports whether one condition implies another on the same path.
func impliesLeaf(r reader, have *term, want match.Leaf) bool {
	if _, negated := have.node.(*match.Not); negated || positional(have.path) {
		return false
	}
	r.multikey = true // compare values, not keys
	known := r.boundOf(have.node)
	null := r.contains(known.set, value.Null())
	if have.in != nil && null { // the element need not be a document
		return false
	}
	if _, ok := want.(*match.Exists); ok {
		_, same := have.node.(*match.Exists)
		return same || !null
	}
	wanted := r.boundOf(want)
	return wanted.exact && !known.set.isAll() && r.subset(known.set, wanted.set)
}
