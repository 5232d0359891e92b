package plan

import "strings"

// Choosing between indexes costs more than finding a few documents, so the
// choice is cached. The cache stores only the index: the bounds are always
// computed from the values of the present query, so that a plan from the cache
// may be slow but never wrong.

// Choice is the part of a plan that can be reused for other queries of its
// shape.
type Choice struct {
	Index  string
	Path   string // the path that a wildcard index is searched for
	Sorted bool
	Works  int64 // the number of entries that the plan was expected to examine
}

// Choice returns the choice to cache for a plan: the index chosen among
// several. ok is false if no entries were counted for the choice, or if the
// values determine how soon the plan can stop.
func (p *Plan) Choice(q *Query) (c Choice, ok bool) {
	if !p.compared || p.Type != IndexScan && p.Type != Merge || q.stopsEarly(p) {
		return c, false
	}
	return Choice{Index: p.Index.Name, Path: strings.Clone(p.wildcardPath()), Sorted: p.Sorted, Works: max(p.Examined, 1)}, true
}

// Uses reports whether a plan uses the index of a choice.
func (p *Plan) Uses(c Choice) bool {
	return p.Index.Name == c.Index && p.wildcardPath() == c.Path && p.Sorted == c.Sorted
}

// wildcardPath returns the path that a plan searches a wildcard index for, ""
// for any other plan.
func (p *Plan) wildcardPath() string { return p.path }

// stopsEarly reports whether a limit may end the plan before it has examined
// all of its entries.
func (q *Query) stopsEarly(p *Plan) bool {
	return q.Limit > 0 && (p.Sorted || q.Sort.IsEmpty())
}

// replanFactor is the factor by which the work of a cached plan may exceed the
// expected work before the query is planned again, as in mongod.
const replanFactor = 10

// Again plans a query with the index that is cached for its shape; coll need
// not contain any other. It returns nil if the index can no longer serve the
// query, or would be much more work than before.
func Again(q *Query, coll *Collection, c Choice) *Plan {
	if !q.Hint.IsZero() || !q.Min.IsEmpty() || !q.Max.IsEmpty() {
		return nil
	}
	pl := newPlanner(q, coll)
	if pl.c.never || pl.c.text != nil || pl.c.near != nil || naturalSort(q.Sort) != 0 {
		return nil
	}
	for _, x := range coll.Indexes {
		if x.Name != c.Index || x.Hidden {
			continue
		}
		for _, p := range candidates(x, q, pl.c, false) {
			if !p.Uses(c) || q.stopsEarly(p) {
				continue
			}
			limit := max(c.Works*replanFactor, estimateRanges)
			if pl.estimate(p, limit); p.Examined < limit {
				return p
			}
		}
	}
	return nil
}
