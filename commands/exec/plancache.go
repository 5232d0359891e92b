package exec

import (
	"os"
	"slices"
	"strconv"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// mostCachedQuery is up to how many bytes of a query are kept for show.
const mostCachedQuery = 16 << 10

// CacheKey is the shape of a query in the cache, 0 if it has no place there.
func (q *Query) CacheKey(m *catalog.Meta) uint64 {
	if len(m.Indexes) < 3 || m.Plans == nil || q.Matcher == nil || q.near != nil || q.Distinct != "" ||
		!q.Hint.IsMissing() || q.Min != nil || q.Max != nil {
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
	b.Document("query", kernel.OrEmpty(q.Filter)).Document("sort", kernel.OrEmpty(q.Sort)).Document("projection", kernel.OrEmpty(q.Projection))
	if d := CollationDoc(q.Collator); d != nil {
		b.Document("collation", d)
	}
	return b.Doc()
}

// rememberPlan notes how a query was planned.
func rememberPlan(c *kernel.Call, m *catalog.Meta, key uint64, q *Query, pq *plan.Query, a *AccessPath, failed bool) {
	choice, ok := a.Plan.Choice(pq)
	if !ok {
		return
	}
	m.Plans.Chosen(key, choice, failed, func() *catalog.CachedPlan {
		e := &catalog.CachedPlan{Created: c.Now, Key: PlanCacheKey(q, a.Plan), Shape: q.Shape(), Filter: a.Filtered}
		if len(q.Filter)+len(q.Sort)+len(q.Projection) <= mostCachedQuery {
			e.Query, e.Stages = q.described(), a.Plan.Described(q.Matcher, q.Sort)
		}
		return e
	})
}

// findIndexFilter returns the index filter for a query, nil if its shape has none.
func findIndexFilter(f *kernel.IndexFilters, ns storage.Namespace, q *Query) *kernel.IndexFilter {
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

// PlanCacheStats describes the plans of a collection as $planCacheStats does.
// Of the trial runs by which mongod chooses there is nothing to tell.
func PlanCacheStats(c *kernel.Call, pc *catalog.PlanCache) (docs []value.Doc) {
	if pc == nil {
		return nil
	}
	pc.Mu.RLock()
	entries := make([]catalog.CachedPlan, 0, len(pc.Entries))
	for _, e := range pc.Entries {
		entries = append(entries, *e)
	}
	pc.Mu.RUnlock()
	slices.SortFunc(entries, func(a, b catalog.CachedPlan) int { return int(a.Created - b.Created) })
	host, _ := os.Hostname()
	for i := range entries {
		b := value.NewBuilder()
		entries[i].Append(b)
		b.String("host", host+":"+strconv.Itoa(int(LocalPort(c))))
		docs = append(docs, b.Doc())
	}
	return docs
}
