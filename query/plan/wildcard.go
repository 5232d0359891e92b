package plan

import (
	"strings"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// wildcardPlans returns a plan for each path in the conditions that the
// wildcard includes, and one for the fields before the wildcard. The index has the
// elements of an array under the path of the array, where it is not searched for a path
// that ends in an empty component.
func wildcardPlans(x *Index, q *Query, c *conditions) (out []*Plan) {
	at := 0
	for x.Fields[at].Kind != Wildcard {
		at++
	}
	seen := map[string]bool{}
	for i := range c.terms {
		path := c.terms[i].path
		if len(seen) == maxSolutions {
			break
		}
		if seen[path] || !x.Takes(path) || strings.HasSuffix(path, ".") || positional(path) && (x.Multikey != 0 || positional(wildcardRoot(x, at))) {
			continue
		}
		seen[path] = true
		if p := wildcardPlan(x, q, c, path, at); p != nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 && at > 0 {
		if p := wildcardPrefix(x, q, c, at); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// wildcardRoot returns the path before the wildcard. If it has numeric
// components, the index contains fields of that name only, and no array
// elements.
func wildcardRoot(x *Index, at int) string {
	return strings.TrimSuffix(strings.TrimSuffix(x.Fields[at].Path, "$**"), ".")
}

// wildcardPlan treats the wildcard, which is the field at, as an index on
// path.
func wildcardPlan(x *Index, q *Query, c *conditions, path string, at int) *Plan {
	as := *x
	as.Fields = append([]Field(nil), x.Fields...)
	as.Fields[at] = Field{Path: path, Desc: as.Fields[at].Desc, First: NoPlace}
	b := newBounder(&as, q, c)
	fields := b.bounds()
	paths, minUsed := point(value.String(path)), at+2
	if !b.scalars(fields[at].set) && !c.listedAsItIs(path) {
		if !c.demanded(path, x.Multikey != 0) || !x.TakesAll(path) {
			return nil
		}
		paths, minUsed = withBelow(path), at+1
		fields[at].set = all
	}
	p, used := wildcardScan(b, fields, paths, at)
	if used < minUsed || x.Partial != nil && !implies(b.reader, c, x.Partial.Root()) {
		return nil
	}
	p.Index, p.path = x, path
	p.Dedup = p.Dedup || minUsed == at+1
	p.equalities = leadingPoints(fields)
	return p
}

// wildcardPrefix scans a compound wildcard index by the fields before the
// wildcard, which contain every document.
func wildcardPrefix(x *Index, q *Query, c *conditions, at int) *Plan {
	b := newBounder(x, q, c)
	fields := b.bounds()
	for i := at; i < len(fields); i++ {
		fields[i] = anything
	}
	p, used := wildcardScan(b, fields, all, at)
	if used == 0 || x.Partial != nil && !implies(b.reader, c, x.Partial.Root()) {
		return nil
	}
	p.Bounds[at] = intervals(Between(value.MinKey(), value.MinKey()), Interval{Lo: value.String(""), Hi: value.Document(value.EmptyDoc), LoInc: true})
	p.Dedup = true
	p.equalities = leadingPoints(fields)
	return p
}

// wildcardScan returns the plan that scans the paths of a wildcard within the
// bounds of the fields; used is the number of key parts that bound it.
func wildcardScan(b *bounder, fields []fieldBounds, paths Intervals, at int) (p *Plan, used int) {
	p = &Plan{Type: IndexScan, Index: b.x, Dedup: b.x.Multikey != 0}
	var parts []part
	for i := range fields {
		desc := b.x.Fields[i].Desc
		if i == at {
			parts = append(parts, part{set: paths, desc: desc, raw: true})
			p.Bounds = append(p.Bounds, paths)
		}
		parts = append(parts, part{set: fields[i].set, desc: desc})
		p.Bounds = append(p.Bounds, fields[i].set)
	}
	p.Ranges, used = keyer{b.x.Collation}.ranges(parts)
	return p, used
}

// withBelow returns the interval of a path and all paths below it. A document
// or an array is not indexed under its own path but under those of its fields.
func withBelow(path string) Intervals {
	return intervals(Between(value.String(path), value.String(path)), Interval{Lo: value.String(path + "."), Hi: value.String(path + "/"), LoInc: true})
}

// scalars reports whether a set contains only values that a wildcard index
// stores: no missing values, no whole documents, no arrays.
func (b *bounder) scalars(s Intervals) bool {
	unlisted := intervals(
		Between(value.Undefined(), value.Null()),
		Interval{Lo: value.Document(value.EmptyDoc), Hi: value.Binary(0, nil), LoInc: false},
	)
	found := b.reader.intersect(s, unlisted)
	return found.Len() == 0
}

// listedAsItIs reports whether the conditions on a path, other than on
// scalars, concern values that are indexed under the path itself: an empty
// array as undefined or, inside another array, unchanged; and values of types
// that are not containers.
func (c *conditions) listedAsItIs(path string) bool {
	var only match.Node
	for i := range c.terms {
		if c.terms[i].path != path {
			continue
		}
		if only != nil {
			return false
		}
		only = c.terms[i].node
	}
	switch n := only.(type) {
	case *match.Compare:
		return n.Op == match.OpEq && n.Value.Kind() == value.KindArray && n.Value.Doc().IsEmpty()
	case *match.Type:
		return !n.Types.Has(value.KindArray) && !n.Types.Has(value.KindDocument)
	}
	return false
}

// demanded reports whether a condition demands any value at a path. If there
// may be arrays above the path, $ne: null does not: it is also true for
// documents without a value there.
func (c *conditions) demanded(path string, arrays bool) bool {
	for i := range c.terms {
		if c.terms[i].path != path {
			continue
		}
		switch n := c.terms[i].node.(type) {
		case *match.Exists:
			return true
		case *match.Type:
			if n.Types.Has(value.KindArray) {
				return true
			}
		case *match.Not:
			eq, ok := n.Node.(*match.Compare)
			if ok && eq.Op == match.OpEq && eq.Value.Kind() == value.KindNull && (!arrays || firstPart(path) == path) {
				return true
			}
		}
	}
	return false
}

// hintedUnion plans a disjunction with the hinted index alone, with a scan for
// each branch; nil if that is not possible.
func (pl *planner) hintedUnion(x *Index) *Plan {
	coll := *pl.coll
	coll.Indexes = []*Index{x}
	only := &planner{pl.q, &coll, pl.c}
	for _, or := range pl.c.ors {
		if p := only.union(or); p != nil {
			return p
		}
	}
	return nil
}
