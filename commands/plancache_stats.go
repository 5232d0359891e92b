package commands

import (
	"os"
	"slices"
	"strconv"
	"unsafe"

	"github.com/duskdb/duskdb/value"
)

// planCacheStats describes the plans of a collection as $planCacheStats does.
// Of the trial runs by which mongod chooses there is nothing to tell.
func (c *Call) planCacheStats(pc *planCache) (docs []value.Doc) {
	if pc == nil {
		return nil
	}
	pc.mu.RLock()
	entries := make([]cachedPlan, 0, len(pc.entries))
	for _, e := range pc.entries {
		entries = append(entries, *e)
	}
	pc.mu.RUnlock()
	slices.SortFunc(entries, func(a, b cachedPlan) int { return int(a.created - b.created) })
	host, _ := os.Hostname()
	for i := range entries {
		b := value.NewBuilder()
		entries[i].append(b)
		b.String("host", host+":"+strconv.Itoa(int(c.localPort())))
		docs = append(docs, b.Doc())
	}
	return docs
}

func (e *cachedPlan) append(b *value.Builder) {
	b.String("version", "1").String("queryHash", shapeHash(e.shape)).String("planCacheShapeHash", shapeHash(e.shape)).
		String("planCacheKey", e.key).Bool("isActive", e.active).Int64("works", e.works).Date("timeOfCreation", e.created)
	if e.query != nil {
		b.Document("createdFromQuery", e.query).Document("cachedPlan", e.stages)
	}
	b.Bool("indexFilterSet", e.filter)
	b.Int64("estimatedSizeBytes", e.size())
}

// size is about how much memory the entry takes.
func (e *cachedPlan) size() int64 {
	return int64(int(unsafe.Sizeof(*e)) + len(e.choice.Index) + len(e.choice.Path) + len(e.key) + len(e.query) + len(e.stages))
}
