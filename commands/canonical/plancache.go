package canonical

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maxCachedQuery bounds the queries that the cache keeps for $planCacheStats, in bytes.
const maxCachedQuery = 16 << 10

// CacheKey returns the key of a query in the plan cache, 0 if the query is not cached.
func (q *Query) CacheKey(m *catalog.Meta) uint64 {
	if len(m.Indexes) < 3 || m.Plans == nil || q.Matcher == nil || q.Near != nil || q.Distinct != "" ||
		!q.Hint.IsZero() || q.Min != nil || q.Max != nil {
		return 0
	}
	key := q.Shape()
	if q.Fields != nil {
		key++ // an index may cover it
	}
	return key
}

// described is the query as $planCacheStats shows it.
func (q *Query) described() value.Doc {
	b := value.NewBuilder()
	b.Document("query", kernel.OrEmpty(q.Filter)).Document("sort", kernel.OrEmpty(q.Sort)).Document("projection", kernel.OrEmpty(q.Command.Projection))
	if d := CollationDoc(q.Collator); d != nil {
		b.Document("collation", d)
	}
	return b.Doc()
}

// Planned is how a query was planned.
type Planned struct {
	Query    *Query
	Input    *plan.Query // Query as the planner saw it
	Plan     *plan.Plan
	Filtered bool // whether an index filter restricted the choice
	Replaces bool // the cached plan no longer fits
}

// RememberPlan stores how a query was planned in the plan cache of its collection.
func RememberPlan(m *catalog.Meta, key uint64, now int64, d Planned) {
	q, p := d.Query, d.Plan
	choice, ok := p.Choice(d.Input)
	if !ok {
		return
	}
	m.Plans.Chosen(key, choice, d.Replaces, func() *catalog.CachedPlan {
		e := &catalog.CachedPlan{Created: now, Key: PlanCacheKey(q, p), Shape: q.Shape(), Filter: d.Filtered}
		if len(q.Filter)+len(q.Sort)+len(q.Command.Projection) <= maxCachedQuery {
			e.Query, e.Stages = q.described(), p.Described(q.Matcher, q.Sort)
			e.Candidates = q.candidates(p, e.Stages)
		}
		return e
	})
}

// candidates describes the plans among which p was chosen, itself first.
func (q *Query) candidates(p *plan.Plan, stages value.Doc) []catalog.Candidate {
	list := []catalog.Candidate{{Examined: p.Examined, Stages: stages}}
	room := maxCachedQuery
	for _, r := range p.Rejected {
		one := catalog.Candidate{Examined: r.Examined}
		if d := r.Described(q.Matcher, q.Sort); len(d) <= room {
			one.Stages = d
			room -= len(d)
		}
		list = append(list, one)
	}
	return list
}

// FindIndexFilter returns the index filter for a query, nil if its shape has none.
func FindIndexFilter(f *kernel.IndexFilters, ns storage.Namespace, q *Query) *kernel.IndexFilter {
	if !f.Any.Load() {
		return nil
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	list := f.Of[ns]
	if len(list) == 0 {
		return nil
	}
	shape := q.Shape()
	for _, x := range list {
		if x.Shape == shape {
			return x
		}
	}
	return nil
}
