package catalog_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// An entry of the plan cache is inactive at first, active once a choice needs no more
// works, and begins again when it fails: the manual's page "Query Plans, Plan Cache Entry
// State". While it is inactive, more works raise its bound.
func TestPlanCacheEntryStates(t *testing.T) {
	t.Parallel()
	var pc catalog.PlanCache
	key := func() *catalog.CachedPlan { return &catalog.CachedPlan{Key: "K", Shape: 5} }
	for i, step := range []struct {
		index  string
		works  int64
		failed bool
		active string
	}{
		{"a", 10, false, ""},   // the first
		{"a", 25, false, ""},   // more works: the bound is 20
		{"a", 19, false, "a"},  // no more works
		{"b", 1, false, "a"},   // an active choice stays
		{"b", 100, true, ""},   // until it fails
		{"c", 200, false, ""},  // another choice than the inactive one
		{"c", 200, false, "c"}, // which proves itself
	} {
		pc.Chosen(1, plan.Choice{Index: step.index, Works: step.works}, step.failed, key)
		c, name, ok := pc.Active(1)
		if ok != (step.active != "") || c.Index != step.active || ok && name != "K" {
			t.Errorf("step %d: active %+v, %q, %v; want %q", i, c, name, ok, step.active)
		}
	}
	p := &plan.Plan{Index: &plan.Index{Name: "c"}}
	other := &plan.Plan{Index: &plan.Index{Name: "d"}}
	var none *catalog.PlanCache
	for name, got := range map[string]bool{
		"another key": pc.IsCached(2, p), "no key": pc.IsCached(0, p), "another index": pc.IsCached(1, other), "no index": pc.IsCached(1, &plan.Plan{}), "no cache": none.IsCached(1, p),
	} {
		if got {
			t.Errorf("%s: the plan is cached", name)
		}
	}
	if !pc.IsCached(1, p) {
		t.Error("the active plan is not cached")
	}
	none.Clear(nil)
}

// planCacheClear forgets a shape, or all.
func TestPlanCacheIsCleared(t *testing.T) {
	t.Parallel()
	var pc catalog.PlanCache
	fill := func() {
		for key := range uint64(4) {
			pc.Chosen(key, plan.Choice{Index: "a"}, false, func() *catalog.CachedPlan { return &catalog.CachedPlan{Shape: key % 2} })
		}
	}
	fill()
	one := uint64(1)
	if pc.Clear(&one); len(pc.Entries) != 2 || pc.Entries[0] == nil || pc.Entries[2] == nil {
		t.Errorf("left %v", pc.Entries)
	}
	fill()
	if pc.Clear(nil); len(pc.Entries) != 0 {
		t.Errorf("left %v", pc.Entries)
	}
	for key := range uint64(1100) {
		pc.Chosen(key, plan.Choice{}, false, func() *catalog.CachedPlan { return &catalog.CachedPlan{} })
	}
	if len(pc.Entries) != 1000 || pc.Entries[1099] == nil {
		t.Errorf("%d entries", len(pc.Entries))
	}
}

// The fields of $planCacheStats.
func TestPlanCacheStats(t *testing.T) {
	t.Parallel()
	var pc catalog.PlanCache
	made := &catalog.CachedPlan{Key: "0000ABCD", Shape: 1<<32 | 0xFF, Created: 5, Filter: true, Query: harness.Relaxed(`{query: {a: 1}}`), Stages: harness.Relaxed(`{stage: "IXSCAN"}`),
		Candidates: []catalog.Candidate{{Examined: 2, Stages: harness.Relaxed(`{stage: "FETCH"}`)}, {Examined: 8}}}
	for range 2 {
		pc.Chosen(1, plan.Choice{Index: "a", Works: 3}, false, func() *catalog.CachedPlan { return made })
	}
	b := value.NewBuilder()
	made.Append(b)
	d := b.Doc()
	size := d.Lookup("estimatedSizeBytes").Int64()
	want := `{version: "1", queryHash: "000000FE", planCacheShapeHash: "000000FE", planCacheKey: "0000ABCD", isActive: true, works: {$numberLong: "3"}, timeOfCreation: {$date: {$numberLong: "5"}},
		createdFromQuery: {query: {a: 1}}, cachedPlan: {stage: "IXSCAN"},
		creationExecStats: [{nReturned: 0, executionTimeMillisEstimate: 0, totalKeysExamined: 2, totalDocsExamined: 0, executionStages: {stage: "FETCH"}},
			{nReturned: 0, executionTimeMillisEstimate: 0, totalKeysExamined: 8, totalDocsExamined: 0, executionStages: {}}],
		candidatePlanScores: [2.0, 1.25], indexFilterSet: true, estimatedSizeBytes: {$numberLong: "` + value.Int64(size).String() + `"}}`
	if got := d.CanonicalJSON(); got != harness.Relaxed(want).CanonicalJSON() || size < int64(len(made.Query)+len(made.Stages)) {
		t.Errorf("%s, want %s", got, want)
	}
	b = value.NewBuilder()
	(&catalog.CachedPlan{}).Append(b)
	if d := b.Doc(); d.Has("createdFromQuery") || d.Has("cachedPlan") || d.Lookup("isActive").Bool() {
		t.Errorf("without a query: %s", d)
	}
}

// $indexStats counts from when an index was first seen, and anew for one that was made
// again.
func TestIndexUse(t *testing.T) {
	t.Parallel()
	var u catalog.IndexUse
	a, b := &storage.Info{UUID: [16]byte{1}, Indexes: []storage.IndexInfo{{IndexSpec: storage.IndexSpec{Name: "x"}}, {IndexSpec: storage.IndexSpec{Name: "y"}}}}, &storage.Info{UUID: [16]byte{2}}
	u.Of(a, "x", 10).Ops.Add(3)
	u.Of(b, "x", 20).Ops.Add(1)
	u.Of(a, "y", 30).Ops.Add(7)
	check := func(info *storage.Info, name string, ops, since int64) {
		t.Helper()
		if c := u.Of(info, name, 99); c.Ops.Load() != ops || c.Since != since {
			t.Errorf("%s: %d since %d, want %d since %d", name, c.Ops.Load(), c.Since, ops, since)
		}
	}
	check(a, "x", 3, 10)
	u.Forget(a, "x")
	check(a, "x", 0, 99)
	check(a, "y", 7, 30)
	u.ForgetAll(a)
	check(a, "y", 0, 99)
	check(b, "x", 1, 20)
}
