package plan

import (
	"slices"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// The values of fields without arrays can be decoded from the keys of an
// ordinary index without a collation. Such an index can do more than find
// records: it can check conditions before a record is fetched, and it can
// cover a query, whose result is then computed from the keys alone.

// cover sets whether the plan's index can filter and cover the query without
// records.
func (p *Plan) cover(q *Query, c *conditions) {
	if !readable(p.Index) {
		return
	}
	p.Covered = q.Fields != nil && p.Index.tellsAll(q.Fields)
	if p.Exact {
		return
	}
	if !p.Index.checks(c) {
		p.Covered = false
		return
	}
	p.Filtered = true
}

// stands reports whether the entries of one branch of a disjunction cover it:
// they are exactly the matching ones, and contain all needed fields.
func (p *Plan) stands(needs []string) bool {
	return p.Type == IndexScan && p.Exact && readable(p.Index) && p.Index.tellsAll(needs)
}

// readable reports whether values can be decoded from the keys of an index.
func readable(x *Index) bool {
	return x.Collation == nil && !x.Clustered &&
		!slices.ContainsFunc(x.Fields, func(f Field) bool { return f.Kind != Plain })
}

// tells reports whether the keys contain the value at a path.
func (x *Index) tells(path string) bool {
	for i := range x.Fields {
		if x.Fields[i].Path == path {
			return !x.arrays(i)
		}
	}
	return false
}

func (x *Index) tellsAll(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return !x.tells(path) })
}

// Readable lists the fields whose values can be decoded from the keys of the
// index.
func (x *Index) Readable() []bool {
	out := make([]bool, len(x.Fields))
	for i := range out {
		out[i] = !x.arrays(i)
	}
	return out
}

// checks reports whether all conditions can be checked with the values in the
// keys.
func (x *Index) checks(c *conditions) bool {
	if c.opaque > 0 || len(c.ors) > 0 || len(c.terms) == 0 {
		return false
	}
	for i := range c.terms {
		if t := &c.terms[i]; !x.tells(t.path) || !checkable(t.node) {
			return false
		}
	}
	return true
}

// checkable reports whether a condition can be checked with keys: conditions
// on scalars. For $exists, mongod fetches the record.
func checkable(n match.Node) bool {
	switch n := n.(type) {
	case *match.Compare:
		return n.Value.Kind() != value.KindNull && n.Value.Kind() != value.KindArray
	case *match.In:
		for v := range n.Values.All() {
			if v.Kind() == value.KindNull || v.Kind() == value.KindArray {
				return false
			}
		}
		return true
	case *match.Regex, *match.Mod, *match.Bits, *match.Type:
		return true
	case *match.Not:
		return checkable(n.Node)
	case *match.And:
		return !slices.ContainsFunc(n.Nodes, func(n match.Node) bool { return !checkable(n) })
	}
	return false
}
