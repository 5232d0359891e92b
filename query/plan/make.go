package plan

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// # How a plan is chosen
//
// A look-up by _id is recognised before anything else (LookupID). Any other
// filter is decomposed into conditions: terms on single paths that every
// matching document satisfies, and disjunctions. The planner then takes the
// first of these ways that applies:
//
//   - min or max: the range of the hinted index between the two bounds;
//   - a hint $natural: a collection scan;
//   - a filter that no document can match: no scan at all;
//   - $text or $near: only text and geo indexes can serve them (special);
//   - a sort by $natural: a collection scan;
//   - a hint: the plans of the hinted index;
//   - otherwise the plans of all indexes that are not hidden and, for each
//     disjunction, a union of one plan for each branch. Without any of them, a
//     collection scan. A collection scan never competes with an index: as in
//     mongod, an index with bounds is preferred.
//
// candidates (scan.go) makes the plans of one index. It derives bounds for
// each field, and drops a sparse or partial index that may lack matching
// documents. An index with another collation has no bounds for strings. The
// bounds may always contain too much: the executor matches each record again.
// They must never contain too little.
//
// choose picks among several plans. Counting entries costs time, so it is done
// only if it can matter: not for a single plan, not if one plan looks up a
// unique key (surest), and not if the entries of one plan are exactly the
// matching records in the order of the sort (precise), which no other plan can
// undercut. Otherwise estimate counts the entries of each plan in the present
// state of the index, up to estimateLimit entries in estimateRanges ranges,
// and extrapolates to the other ranges; once a plan is known to be cheap,
// counting the next one stops at its cost. mongod runs its candidates for a
// trial period instead. Counting is cheaper here, because the indexes are in
// memory and a count reads no records.
//
// costs turns counts into costs. Two facts are not in the counts: a plan that
// must sort costs half as much again, and a plan in the order of the sort may
// stop at the limit. Equal costs are decided by comparePlans, at the end by
// the name of the index, so that the choice does not depend on the order in
// which indexes were created.
//
// A choice that was made by counting is cached for the shape of the query
// (again.go). Explain shows the losing plans as rejectedPlans.

// estimateLimit is the largest number of entries to count for a candidate, and
// estimateRanges the largest number of ranges to count them in.
const (
	estimateLimit  = 2000
	estimateRanges = 32
)

// maxSolutions limits the disjunctions, and the paths of a wildcard index,
// that are considered: the cost of each grows with the number of conditions.
// mongod has the same limit of solutions.
const maxSolutions = 64

// Make plans a query.
func Make(q *Query, coll *Collection) (*Plan, error) {
	for _, x := range coll.Indexes {
		if p := LookupID(q, x); p != nil {
			return p, nil
		}
	}
	pl := newPlanner(q, coll)
	p, err := pl.plan()
	if stopped := q.interrupted(); stopped != nil { // the loops may have ended early
		return nil, stopped
	}
	if p != nil {
		p.Near, p.Text = pl.c.near, pl.c.text
	}
	return p, err
}

type planner struct {
	q    *Query
	coll *Collection
	c    *conditions
}

func newPlanner(q *Query, coll *Collection) *planner {
	c := takeApart(root(q))
	for _, n := range q.Implied {
		c.add(n, nil)
	}
	return &planner{q, coll, c}
}

func root(q *Query) match.Node {
	if q.Matcher == nil {
		return nil
	}
	return q.Matcher.Root()
}

// plan handles hints, min and max, and the special queries ($text, $near,
// $natural) first; other queries get the cheapest of all candidate plans.
func (pl *planner) plan() (*Plan, error) {
	q := pl.q
	hinted, err := pl.hinted()
	if err != nil {
		return nil, err
	}
	if !q.Min.IsEmpty() || !q.Max.IsEmpty() {
		return pl.minMax(hinted)
	}
	if q.Hint.Natural != 0 {
		if pl.c.text != nil || pl.c.near != nil {
			return nil, q.failed(mongoerr.NoQueryExecutionPlans, "hint $natural cannot be used with a $text or $near query")
		}
		return pl.collScan(q.Hint.Natural < 0), nil
	}
	if pl.c.never {
		return &Plan{Type: Nothing, Sorted: true, Exact: true}, nil
	}
	if pl.c.text != nil || pl.c.near != nil {
		return pl.special(hinted)
	}
	if n := naturalSort(q.Sort); n != 0 {
		p := pl.collScan(n < 0)
		p.Sorted = true
		return p, nil
	}
	if hinted != nil {
		plans := candidates(hinted, q, pl.c, true)
		if len(plans) == 0 {
			if p := pl.hintedUnion(hinted); p != nil {
				return p, nil
			}
			return nil, q.failed(mongoerr.NoQueryExecutionPlans, "$hint: refusing to build whole-index solution, because it's a wildcard index")
		}
		return pl.choose(plans), nil
	}
	p := pl.choose(pl.all())
	if p.Type == CollScan && pl.c.textBranch() {
		return nil, q.failed(mongoerr.NoQueryExecutionPlans, "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to be indexed as well.")
	}
	return p, nil
}

// all returns the plans for each useful index and for each disjunction.
func (pl *planner) all() (plans []*Plan) {
	for _, x := range pl.coll.Indexes {
		if !x.Hidden {
			plans = append(plans, candidates(x, pl.q, pl.c, false)...)
		}
	}
	for _, or := range pl.c.ors[:min(len(pl.c.ors), maxSolutions)] {
		if p := pl.union(or); p != nil {
			plans = append(plans, p)
		}
	}
	if len(plans) == 0 {
		plans = append(plans, pl.collScan(false))
	}
	return plans
}

func (pl *planner) collScan(reverse bool) *Plan {
	return &Plan{
		Type: CollScan, Reverse: reverse, Examined: pl.coll.Count, Whole: true,
		Sorted: pl.q.Sort.IsEmpty(), Exact: pl.c.opaque == 0 && len(pl.c.terms) == 0 && len(pl.c.ors) == 0,
	}
}

// special plans a query that only a text or geo index can serve.
func (pl *planner) special(hinted *Index) (*Plan, error) {
	var plans []*Plan
	haveText := false
	for _, x := range pl.coll.Indexes {
		haveText = haveText || hasKind(x, Text)
		if x.Hidden || hinted != nil && x != hinted || !pl.serves(x) {
			continue
		}
		for _, p := range candidates(x, pl.q, pl.c, false) {
			if pl.prefixed(p) {
				plans = append(plans, p)
			}
		}
	}
	switch {
	case len(plans) > 0:
		return pl.choose(plans), nil
	case pl.c.near != nil:
		return nil, pl.q.NoGeoIndex()
	case !haveText:
		return nil, mongoerr.New(mongoerr.IndexNotFound, "text index required for $text query")
	}
	return nil, pl.q.failed(mongoerr.NoQueryExecutionPlans, "failed to use text index to satisfy $text query (if text index is compound, are equality predicates given for all prefix fields?)")
}

// serves reports whether an index is of the kind that the query needs.
func (pl *planner) serves(x *Index) bool {
	if pl.c.text != nil {
		return hasKind(x, Text)
	}
	path := pl.c.near.Path.String()
	for _, f := range x.Fields {
		if (f.Kind == Geo2D || f.Kind == Sphere) && f.Path == path {
			return x.Cover != nil && x.Cover(pl.c.near) != nil
		}
	}
	return false
}

// prefixed reports whether the fields before the terms of a text index are
// bound to single values.
func (pl *planner) prefixed(p *Plan) bool {
	for i, f := range p.Index.Fields {
		if f.Kind == Text {
			return true
		}
		if pl.c.text != nil && !p.Bounds[i].isPoints() {
			return false
		}
	}
	return true
}

// LookupID returns the plan for a look-up of one _id, which needs no planning;
// nil for other queries and other indexes.
func LookupID(q *Query, x *Index) *Plan {
	if q.Matcher == nil || !q.Hint.IsZero() || !q.Min.IsEmpty() || !q.Max.IsEmpty() {
		return nil
	}
	eq, ok := idEquality(q.Matcher.Root())
	if !ok {
		return nil
	}
	if len(x.Fields) != 1 || x.Fields[0].Path != "_id" || x.Fields[0].Kind != Plain || x.Name != reserved.IDIndex {
		return nil
	}
	if string(x.CollationDoc) != string(q.Collation) && hasStrings(eq.Value) {
		return nil
	}
	lo := value.AppendKeyWith(nil, eq.Value, x.Collation)
	return &Plan{
		Type: ByID, Index: x, Ranges: RangesOf(Range{Lo: lo, Hi: behind(lo), Prefix: len(lo)}),
		Bounds: []Intervals{point(eq.Value)}, Sorted: true, Exact: true, Examined: 1, equalities: 1,
	}
}

func idEquality(n match.Node) (*match.Compare, bool) {
	if and, ok := n.(*match.And); ok && len(and.Nodes) == 1 {
		n = and.Nodes[0]
	}
	eq, ok := n.(*match.Compare)
	if !ok || eq.Op != match.OpEq || eq.Path.String() != "_id" {
		return nil, false
	}
	switch eq.Value.Kind() { // a stored _id never has these types
	case value.KindArray, value.KindRegex, value.KindNull, value.KindUndefined, value.Missing:
		return nil, false
	}
	return eq, true
}

// union plans each branch of a disjunction separately, together with the other
// conditions of the filter; nil if there is no index for a branch.
func (pl *planner) union(or *match.Or) *Plan {
	out := &Plan{Type: Union, Dedup: true, Exact: true}
	q := *pl.q
	q.Sort, q.Fields = nil, nil
	text := hasTextBranch(or)
	rest := pl.c.without(or)
	for _, branch := range or.Nodes {
		if q.interrupted() != nil {
			return nil
		}
		c := rest.with(branch)
		c.besideText = text
		if c.never {
			continue
		}
		best := pl.branch(&q, c)
		if best == nil && len(c.ors) > len(rest.ors) { // of the branch itself
			sub := &planner{&q, pl.coll, c}
			best = sub.union(c.ors[0])
		}
		if best == nil || best.Whole && !text {
			return nil
		}
		out.Parts = append(out.Parts, best)
		out.Examined += best.Examined
		out.Exact = out.Exact && best.Exact
	}
	if len(out.Parts) == 0 {
		return nil
	}
	out.Sorted = pl.q.Sort.IsEmpty()
	out.Covered = pl.q.Fields != nil && !slices.ContainsFunc(out.Parts, func(p *Plan) bool { return !p.stands(pl.q.Fields) })
	out.rooted = len(pl.c.terms) == 0 && len(pl.c.ors) == 1 && pl.c.opaque == 0
	return out
}

// branch finds the best index for one branch of a disjunction.
func (pl *planner) branch(q *Query, c *conditions) (best *Plan) {
	for _, x := range pl.coll.Indexes {
		if x.Hidden {
			continue
		}
		for _, p := range candidates(x, q, c, false) {
			p.Filtered = false // its conditions are not the whole filter
			pl.estimate(p, estimateLimit)
			if best == nil || comparePlans(p, best) < 0 {
				best = p
			}
		}
	}
	return best
}

// without returns the conditions without one of the disjunctions.
func (c *conditions) without(or *match.Or) *conditions {
	out := *c
	out.ors = slices.DeleteFunc(slices.Clone(c.ors), func(o *match.Or) bool { return o == or })
	return &out
}

// with returns the conditions and those of one branch of a disjunction, whose
// own disjunctions come first.
func (c *conditions) with(branch match.Node) *conditions {
	out := takeApart(branch)
	out.terms = append(out.terms, c.terms...)
	out.opaque += c.opaque
	out.never = out.never || c.never
	out.ors = append(out.ors, c.ors...)
	return out
}

// choose returns the plan with the lowest estimated cost. A single candidate,
// or one that finds at most one record, is chosen without counting.
func (pl *planner) choose(plans []*Plan) *Plan {
	if len(plans) == 1 {
		p := plans[0]
		if p.Type != CollScan {
			p.Examined = p.formEstimate()
		}
		return p
	}
	if p := surest(plans); p != nil {
		return p
	}
	if p := pl.precise(plans); p != nil {
		return p
	}
	limit := int64(estimateLimit)
	for _, p := range plans {
		if p.Type != Union {
			pl.estimate(p, limit)
		}
		if pl.q.Sort.IsEmpty() { // more entries than the best plan so far are too many
			limit = min(limit, p.Examined+1)
		}
	}
	costs := pl.costs(plans)
	order := make([]int, len(plans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[a], costs[b]), comparePlans(plans[a], plans[b]))
	})
	winner := plans[order[0]]
	winner.compared = true
	for _, i := range order[1:] {
		winner.Rejected = append(winner.Rejected, plans[i])
	}
	return winner
}

// surest returns a plan that looks up all fields of a unique index, with the
// other plans as rejected; nil if there is no such plan.
func surest(plans []*Plan) *Plan {
	for i, p := range plans {
		if p.Index != nil && p.Type == IndexScan && p.Index.Unique && p.equalities == len(p.Index.Fields) {
			p.Examined = 1
			p.Rejected = slices.Concat(plans[:i], plans[i+1:])
			return p
		}
	}
	return nil
}

// precise returns a plan whose entries are exactly those of the matching
// records, in the order of the sort: no other plan can examine fewer. nil if
// there is no such plan.
func (pl *planner) precise(plans []*Plan) (best *Plan) {
	at := 0
	for i, p := range plans {
		if p.Type != IndexScan || !p.Exact || !p.Sorted && !pl.q.Sort.IsEmpty() {
			continue
		}
		if p.Examined = p.formEstimate(); best == nil || comparePlans(p, best) < 0 {
			best, at = p, i
		}
	}
	if best != nil {
		best.Rejected = slices.Concat(plans[:at], plans[at+1:])
	}
	return best
}

// costs estimates the number of entries that each plan has to examine. A plan
// in the order of the sort may stop early; the fraction of its entries that
// match is estimated from the most selective plan.
func (pl *planner) costs(plans []*Plan) []float64 {
	fewest := pl.coll.Count
	for _, p := range plans {
		fewest = min(fewest, p.Examined)
	}
	costs := make([]float64, len(plans))
	for i, p := range plans {
		costs[i] = float64(p.Examined)
		switch {
		case pl.q.Limit > 0 && p.Sorted && fewest > 0:
			costs[i] = min(costs[i], float64(pl.q.Limit)*float64(p.Examined)/float64(fewest))
		case !p.Sorted:
			costs[i] *= 1.5 // the results have to be sorted
		}
	}
	return costs
}

// formEstimate estimates the entries of a plan without counting.
func (p *Plan) formEstimate() int64 {
	switch {
	case p.Index == nil:
		n := int64(0)
		for _, part := range p.Parts {
			n += part.Examined
		}
		return n
	case p.Index.Unique && p.equalities == len(p.Index.Fields):
		return 1
	case p.Whole:
		return p.Index.Entries
	}
	return min(p.Index.Entries, int64(p.Ranges.Len()))
}

// estimate counts the entries of a plan, up to a limit.
func (pl *planner) estimate(p *Plan, limit int64) {
	switch {
	case p.Index == nil:
		return
	case p.Whole, p.Index.Unique && p.equalities == len(p.Index.Fields), pl.coll.Estimate == nil:
		p.Examined = p.formEstimate()
		return
	}
	n := int64(0)
	sample := min(p.Ranges.Len(), estimateRanges)
	for i := range sample {
		if n += pl.coll.Estimate(p.Index, p.Ranges.At(i), limit-n); n >= limit {
			break
		}
	}
	if sample < p.Ranges.Len() {
		n = n * int64(p.Ranges.Len()) / int64(sample)
	}
	p.Examined = n
}
