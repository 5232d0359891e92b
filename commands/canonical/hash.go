package canonical

import (
	"hash/fnv"
	"slices"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// Shape is what queries have in common that differ in values only: operators
// and paths of the filter, the sort, the projection, the collation.
func (q *Query) Shape() uint64 {
	return QueryShape(q.Matcher, q.Sort, q.Command.Projection, CollationDoc(q.Collator))
}

// QueryShape hashes the shape of a query; see [Query.Shape].
func QueryShape(m *match.Matcher, sort, projection, collation value.Doc) uint64 {
	h := m.Shape()
	for _, d := range []value.Doc{sort, projection, collation} {
		if d != nil && !d.IsEmpty() {
			for _, b := range d {
				h = (h ^ uint64(b)) * 1099511628211 // FNV-1a
			}
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return h
}

// PlanCacheKey names a shape together with the indexes that are of use for it.
func PlanCacheKey(q *Query, p *plan.Plan) string {
	names := []string{}
	for _, p := range append([]*plan.Plan{p}, p.Rejected...) {
		if p.Index != nil {
			names = append(names, p.Index.Name)
		}
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, name := range slices.Compact(names) {
		_, _ = h.Write(append([]byte(name), 0))
	}
	return catalog.ShapeHash(q.Shape() ^ h.Sum64())
}

// SortedFields orders the fields of a document by name, for comparison.
func SortedFields(d value.Doc) value.Doc {
	names := map[string]value.Value{}
	var order []string
	for name, v := range d.All() {
		names[name] = v
		order = append(order, name)
	}
	slices.Sort(order)
	var b value.Builder
	b.Reset(nil)
	for _, name := range order {
		b.Append(name, names[name])
	}
	return b.Doc()
}
