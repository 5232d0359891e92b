package catalog

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// PlanCache remembers which index was chosen for the queries of a shape, so that most
// queries need not choose. It belongs to a collection with its present indexes: when the
// indexes change, an empty cache replaces it.
//
// The choice of the first query of a shape is stored as inactive. A second query that
// chooses the same plan without expecting more work activates it. When a query with an
// active plan turns out to be much more work, it chooses again, and its choice begins as
// inactive.
type PlanCache struct {
	Mu      sync.RWMutex           // guards Entries
	Entries map[uint64]*CachedPlan // by shape and indexes
}

// maxCachedPlans bounds a [PlanCache].
const maxCachedPlans = 1000

// CachedPlan is what is known of one shape.
type CachedPlan struct {
	choice  plan.Choice
	active  bool
	works   int64
	Created int64     // when, in milliseconds since the epoch
	Key     string    // planCacheKey
	Shape   uint64    // without what only the server knows
	Filter  bool      // chosen among the indexes of an index filter
	Query   value.Doc // {query, sort, projection, collation}; nil if it was too large
	Stages  value.Doc // stages of the plan; nil as well

	Candidates []Candidate // the plan, and those considered beside it; nil as well
}

// Candidate is a plan that was considered for a cached query. Plans are compared by the
// entries of their indexes, which are counted, not by trial runs.
type Candidate struct {
	Examined int64     // index entries
	Stages   value.Doc // nil if it is too large
}

// appendTo writes what the choice knew of the candidate.
func (n *Candidate) appendTo(b *value.Builder) {
	b.StartDocument("").Int32("nReturned", 0).Int32("executionTimeMillisEstimate", 0).
		Append("totalKeysExamined", value.Int(n.Examined)).Int32("totalDocsExamined", 0).Document("executionStages", orEmpty(n.Stages)).End()
}

func orEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}

// Active returns the choice for a shape and its planCacheKey, if it has proved
// itself.
func (pc *PlanCache) Active(key uint64) (c plan.Choice, name string, ok bool) {
	pc.Mu.RLock()
	defer pc.Mu.RUnlock()
	if e := pc.Entries[key]; e != nil && e.active {
		return e.choice, e.Key, true
	}
	return c, "", false
}

// Chosen notes a plan that was chosen among several. failed reports whether it replaces
// an active choice that was not good enough.
func (pc *PlanCache) Chosen(key uint64, choice plan.Choice, failed bool, entry func() *CachedPlan) {
	pc.Mu.Lock()
	defer pc.Mu.Unlock()
	e := pc.Entries[key]
	switch {
	case e == nil || failed || e.choice.Index != choice.Index && !e.active:
		if pc.Entries == nil {
			pc.Entries = map[uint64]*CachedPlan{}
		}
		pc.makeRoom()
		e = entry()
		e.choice, e.works = choice, choice.Works
		pc.Entries[key] = e
	case e.active:
	case choice.Works <= e.works:
		e.choice, e.works, e.active = choice, choice.Works, true
	default: // allow more work, up to what most queries need
		e.works *= 2
	}
}

// makeRoom removes any one entry if there are too many.
func (pc *PlanCache) makeRoom() {
	if len(pc.Entries) < maxCachedPlans {
		return
	}
	for key := range pc.Entries {
		delete(pc.Entries, key)
		return
	}
}

// Clear removes all choices, or those for one shape.
func (pc *PlanCache) Clear(shape *uint64) {
	if pc == nil {
		return
	}
	pc.Mu.Lock()
	defer pc.Mu.Unlock()
	for key, e := range pc.Entries {
		if shape == nil || e.Shape == *shape {
			delete(pc.Entries, key)
		}
	}
}

// IsCached reports whether a plan that is explained is the active choice.
func (pc *PlanCache) IsCached(key uint64, p *plan.Plan) bool {
	if pc == nil || key == 0 || p.Index == nil {
		return false
	}
	c, _, ok := pc.Active(key)
	return ok && p.Uses(c)
}

// Append writes the entry as $planCacheStats shows it.
func (e *CachedPlan) Append(b *value.Builder) {
	b.String("version", "1").String("queryHash", ShapeHash(e.Shape)).String("planCacheShapeHash", ShapeHash(e.Shape)).
		String("planCacheKey", e.Key).Bool("isActive", e.active).Int64("works", e.works).Date("timeOfCreation", e.Created)
	if e.Query != nil {
		b.Document("createdFromQuery", e.Query).Document("cachedPlan", e.Stages)
		b.StartArray("creationExecStats")
		for i := range e.Candidates {
			e.Candidates[i].appendTo(b)
		}
		b.End().StartArray("candidatePlanScores")
		best := e.fewest()
		for i := range e.Candidates {
			b.Double("", e.Candidates[i].score(best))
		}
		b.End()
	}
	b.Bool("indexFilterSet", e.Filter)
	b.Int64("estimatedSizeBytes", e.size())
}

// fewest is the smallest number of index entries of a candidate.
func (e *CachedPlan) fewest() int64 {
	n := int64(math.MaxInt64)
	for i := range e.Candidates {
		n = min(n, e.Candidates[i].Examined)
	}
	return n
}

// score rates a candidate from 1 to 2, which is the score of the one with the fewest entries.
func (n *Candidate) score(fewest int64) float64 {
	return 1 + float64(max(fewest, 1))/float64(max(n.Examined, 1))
}

// size is about how much memory the entry takes.
func (e *CachedPlan) size() int64 {
	n := int(unsafe.Sizeof(*e)) + len(e.choice.Index) + len(e.choice.Path) + len(e.Key) + len(e.Query) + len(e.Stages)
	for i := range e.Candidates {
		n += int(unsafe.Sizeof(e.Candidates[i])) + len(e.Candidates[i].Stages)
	}
	return int64(n)
}

// ShapeHash returns a shape as explain shows it, eight hexadecimal digits.
func ShapeHash(shape uint64) string { return fmt.Sprintf("%08X", uint32(shape)^uint32(shape>>32)) }
