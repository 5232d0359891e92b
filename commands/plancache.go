package commands

import (
	"sync"

	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// planCache remembers which index was chosen for the queries of a shape, so
// that most of them need no choice. It belongs to a collection as its indexes
// are: when these change, an empty one takes its place.
//
// A choice must have proved itself before it is used. The first query of a
// shape leaves it inactive; a second that chooses and expects no more work
// activates it. When a query turns out to be much more work, it chooses anew,
// and the choice starts from the beginning.
type planCache struct {
	mu      sync.RWMutex
	entries map[uint64]*cachedPlan
}

// mostCachedPlans bounds a planCache.
const mostCachedPlans = 1000

// mostCachedQuery is up to how many bytes of a query are kept for show.
const mostCachedQuery = 16 << 10

// cachedPlan is what is known of one shape.
type cachedPlan struct {
	choice  plan.Choice
	active  bool
	works   int64
	created int64
	key     string
	shape   uint64    // without what only the server knows
	filter  bool      // chosen among the indexes of an index filter
	query   value.Doc // {query, sort, projection, collation}; nil if it was too large
	stages  value.Doc // of the plan; nil as well
}

// cacheKey is the shape of a query in the cache, 0 if it has no place there.
func (q *readQuery) cacheKey(m *collectionMeta) uint64 {
	if len(m.indexes) < 3 || m.plans == nil || q.matcher == nil || q.near != nil || q.distinct != "" ||
		!q.hint.IsMissing() || q.min != nil || q.max != nil {
		return 0
	}
	key := q.shape()
	if q.fields != nil {
		key++ // an index may cover it
	}
	return key
}

// active returns the choice for a shape and its planCacheKey, if it has proved
// itself.
func (pc *planCache) active(key uint64) (c plan.Choice, name string, ok bool) {
	pc.mu.RLock()
	defer pc.mu.RUnlock()
	if e := pc.entries[key]; e != nil && e.active {
		return e.choice, e.key, true
	}
	return c, "", false
}

// chosen notes a plan that was chosen among several. failed tells that an
// active choice was not good enough.
func (pc *planCache) chosen(key uint64, choice plan.Choice, failed bool, entry func() *cachedPlan) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	e := pc.entries[key]
	switch {
	case e == nil || failed || e.choice.Index != choice.Index && !e.active:
		if pc.entries == nil {
			pc.entries = map[uint64]*cachedPlan{}
		}
		pc.makeRoom()
		e = entry()
		e.choice, e.works = choice, choice.Works
		pc.entries[key] = e
	case e.active:
	case choice.Works <= e.works:
		e.choice, e.works, e.active = choice, choice.Works, true
	default: // let it grow into what most queries need
		e.works *= 2
	}
}

// makeRoom removes any one entry if there are too many.
func (pc *planCache) makeRoom() {
	if len(pc.entries) < mostCachedPlans {
		return
	}
	for key := range pc.entries {
		delete(pc.entries, key)
		return
	}
}

// clear forgets all that was chosen, or for one shape.
func (pc *planCache) clear(shape *uint64) {
	if pc == nil {
		return
	}
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for key, e := range pc.entries {
		if shape == nil || e.shape == *shape {
			delete(pc.entries, key)
		}
	}
}

// isCached tells of a plan that is explained whether it is the active choice.
func (pc *planCache) isCached(key uint64, p *plan.Plan) bool {
	if pc == nil || key == 0 || p.Index == nil {
		return false
	}
	c, _, ok := pc.active(key)
	return ok && p.Uses(c)
}

// described is the query as $planCacheStats shows it.
func (q *readQuery) described() value.Doc {
	b := value.NewBuilder()
	b.Document("query", orEmpty(q.filter)).Document("sort", orEmpty(q.sort)).Document("projection", orEmpty(q.projection))
	if d := collationDoc(q.collator); d != nil {
		b.Document("collation", d)
	}
	return b.Doc()
}

// remember notes how a query was planned.
func (c *Call) remember(m *collectionMeta, key uint64, q *readQuery, pq *plan.Query, a *access, failed bool) {
	choice, ok := a.plan.Choice(pq)
	if !ok {
		return
	}
	m.plans.chosen(key, choice, failed, func() *cachedPlan {
		e := &cachedPlan{created: c.now, key: planCacheKey(q, a.plan), shape: q.shape(), filter: a.filtered}
		if len(q.filter)+len(q.sort)+len(q.projection) <= mostCachedQuery {
			e.query, e.stages = q.described(), a.plan.Described(q.matcher, q.sort)
		}
		return e
	})
}
