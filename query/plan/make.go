package plan

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/reserved"
	"github.com/duskdb/duskdb/value"
)

// estimateLimit is how many entries of a candidate are counted at most, and
// estimateRanges in how many ranges.
const (
	estimateLimit  = 2000
	estimateRanges = 32
)

// mostSolutions is how many disjunctions, and how many paths of a wildcard
// index, are considered: each costs as much as there are conditions. mongod
// stops at so many solutions as well.
const mostSolutions = 64

// Make plans a query.
func Make(q *Query, coll *Collection) (*Plan, error) {
	for _, x := range coll.Indexes {
		if p := LookupID(q, x); p != nil {
			return p, nil
		}
	}
	pl := newPlanner(q, coll)
	p, err := pl.plan()
	if stopped := q.interrupted(); stopped != nil { // then loops may have ended early
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
		c.add(n, "", 0)
	}
	return &planner{q, coll, c}
}

func root(q *Query) match.Node {
	if q.Filter == nil {
		return nil
	}
	return q.Filter.Root()
}

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

// all makes a plan for each index that is of use and for each disjunction.
func (pl *planner) all() (plans []*Plan) {
	for _, x := range pl.coll.Indexes {
		if !x.Hidden {
			plans = append(plans, candidates(x, pl.q, pl.c, false)...)
		}
	}
	for _, or := range pl.c.ors[:min(len(pl.c.ors), mostSolutions)] {
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
// bound to values.
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

// LookupID recognises a look-up of one _id, which needs no planning; nil if the
// query is anything else or the index is not the one on _id.
func LookupID(q *Query, x *Index) *Plan {
	if q.Filter == nil || !q.Hint.IsZero() || !q.Min.IsEmpty() || !q.Max.IsEmpty() {
		return nil
	}
	eq, ok := idEquality(q.Filter.Root())
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
		Type: ByID, Index: x, Ranges: []Range{{Lo: lo, Hi: behind(lo), Prefix: len(lo)}},
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
	switch eq.Value.Kind() { // a stored _id is none of these
	case value.KindArray, value.KindRegex, value.KindNull, value.KindUndefined, value.Missing:
		return nil, false
	}
	return eq, true
}

// union plans each branch of a disjunction on its own, together with
// everything else the filter demands; nil if a branch finds no index.
func (pl *planner) union(or *match.Or) *Plan {
	out := &Plan{Type: Union, Dedup: true, Exact: true}
	q := *pl.q
	q.Sort, q.Needs = nil, nil
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
	out.Covered = pl.q.Needs != nil && !slices.ContainsFunc(out.Parts, func(p *Plan) bool { return !p.stands(pl.q.Needs) })
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
	for i := range out.terms { // groups of the branch and of the rest differ
		if out.terms[i].group > 0 {
			out.terms[i].group += c.groups
		}
	}
	out.terms = append(out.terms, c.terms...)
	out.opaque += c.opaque
	out.groups += c.groups
	out.never = out.never || c.never
	out.ors = append(out.ors, c.ors...)
	return out
}

// choose picks the plan that looks cheapest. With one candidate, or one that
// finds one record at most, there is nothing to count.
func (pl *planner) choose(plans []*Plan) *Plan {
	if len(plans) == 1 {
		p := plans[0]
		if p.Type != CollScan {
			p.Examined = p.guess()
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
		if pl.q.Sort.IsEmpty() { // then more than the best so far is too much
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
// others rejected; nil if there is none.
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

// precise returns a plan whose entries are those of the matching records and
// no others, in the order that is wanted: none can do with fewer. nil if there
// is none.
func (pl *planner) precise(plans []*Plan) (best *Plan) {
	at := 0
	for i, p := range plans {
		if p.Type != IndexScan || !p.Exact || !p.Sorted && !pl.q.Sort.IsEmpty() {
			continue
		}
		if p.Examined = p.guess(); best == nil || comparePlans(p, best) < 0 {
			best, at = p, i
		}
	}
	if best != nil {
		best.Rejected = slices.Concat(plans[:at], plans[at+1:])
	}
	return best
}

// costs estimates how many entries each plan has to look at. A plan in the
// order of the sort may stop once it has found enough: what share of its
// entries will match is judged by the most selective of the plans.
func (pl *planner) costs(plans []*Plan) []float64 {
	fewest := pl.coll.Count
	for _, p := range plans {
		fewest = min(fewest, p.Examined)
	}
	costs := make([]float64, len(plans))
	wanted := pl.q.Limit + pl.q.Skip
	for i, p := range plans {
		costs[i] = float64(p.Examined)
		switch {
		case pl.q.Limit > 0 && p.Sorted && fewest > 0:
			costs[i] = min(costs[i], float64(wanted)*float64(p.Examined)/float64(fewest))
		case !p.Sorted:
			costs[i] *= 1.5 // what is found has to be sorted
		}
	}
	return costs
}

// guess is the estimate that costs nothing.
func (p *Plan) guess() int64 {
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
	return min(p.Index.Entries, int64(len(p.Ranges)))
}

// estimate counts the entries of a plan, up to a limit.
func (pl *planner) estimate(p *Plan, limit int64) {
	switch {
	case p.Index == nil:
		return
	case p.Whole, p.Index.Unique && p.equalities == len(p.Index.Fields), pl.coll.Estimate == nil:
		p.Examined = p.guess()
		return
	}
	n := int64(0)
	sample := p.Ranges[:min(len(p.Ranges), estimateRanges)]
	for _, r := range sample {
		if n += pl.coll.Estimate(p.Index, r, limit-n); n >= limit {
			break
		}
	}
	if len(sample) < len(p.Ranges) {
		n = n * int64(len(p.Ranges)) / int64(len(sample))
	}
	p.Examined = n
}

// comparePlans orders plans of equal cost.
func comparePlans(a, b *Plan) int {
	return cmp.Or(
		cmp.Compare(a.Examined, b.Examined),
		compareBool(b.Sorted, a.Sorted),
		cmp.Compare(b.equalities, a.equalities),
		compareBool(b.Covered, a.Covered),
		cmp.Compare(a.name(), b.name()),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (p *Plan) name() string {
	if p.Index != nil {
		return p.Index.Name
	}
	return ""
}
