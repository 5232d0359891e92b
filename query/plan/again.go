package plan

import "strings"

// A choice between indexes costs more than the search for a few documents, so
// it is worth remembering. What is remembered is the index alone: the bounds
// are always made of the values of the query at hand, so that a plan made
// again may be slow but never wrong.

// Choice is what of a plan holds for other queries of its shape.
type Choice struct {
	Index  string
	Path   string // that a wildcard index is asked about
	Sorted bool
	Works  int64 // how many entries the plan was expected to look at
}

// Choice returns what is worth remembering of a plan: which index was chosen
// among several. It is not ok where nothing was counted to choose, and where
// it depends on the values how soon the plan can stop.
func (p *Plan) Choice(q *Query) (c Choice, ok bool) {
	if !p.compared || p.Type != IndexScan && p.Type != Merge || q.stopsEarly(p) {
		return c, false
	}
	return Choice{Index: p.Index.Name, Path: strings.Clone(p.wildcardPath()), Sorted: p.Sorted, Works: max(p.Examined, 1)}, true
}

// Uses reports whether a plan is the one that a choice stands for.
func (p *Plan) Uses(c Choice) bool {
	return p.Index.Name == c.Index && p.wildcardPath() == c.Path && p.Sorted == c.Sorted
}

// wildcardPath is the path that a plan over a wildcard index is about, "" for
// any other plan.
func (p *Plan) wildcardPath() string { return p.path }

// stopsEarly reports whether a limit may end the plan before it has looked at
// all of its entries.
func (q *Query) stopsEarly(p *Plan) bool {
	return q.Limit > 0 && (p.Sorted || q.Sort.IsEmpty())
}

// Patience is how many times the work that was expected a plan made again may
// turn out to be before the choice is put in question, as in mongod.
const Patience = 10

// Again plans a query with the index that was chosen for its shape; coll needs
// to have no other. It returns nil if that is no use any more, or much more
// work than it was.
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
			limit := max(c.Works*Patience, estimateRanges)
			if pl.estimate(p, limit); p.Examined < limit {
				return p
			}
		}
	}
	return nil
}
