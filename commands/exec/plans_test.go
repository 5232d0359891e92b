package exec_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// The profile names the plan of each command, in the words of mongod's planSummary, and
// the shape of what was planned.
func TestPlanSummaries(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	numbers(h, 3)
	h.OK(`{profile: 2}`)
	for _, tt := range []struct {
		command, summary string
		shape            bool
	}{
		{`{find: "c", filter: {b: 1}}`, "COLLSCAN", true},
		{`{find: "c", filter: {a: 1}, hint: "a"}`, "IXSCAN { a: 1 }", true},
		{`{find: "c", filter: {a: 1}, hint: "ab"}`, "IXSCAN { a: 1, b: 1 }", true},
		{`{find: "c", filter: {_id: 1}}`, "EXPRESS_IXSCAN { _id: 1 }", false},
		{`{count: "c", query: {b: 1}}`, "COLLSCAN", true},
		{`{distinct: "c", key: "a", hint: "a"}`, "DISTINCT_SCAN { a: 1 }", true},
		{`{find: "c", filter: {$alwaysFalse: 1}}`, "EOF", true},
		{`{update: "c", updates: [{q: {b: 1}, u: {$set: {z: 1}}}]}`, "COLLSCAN", true},
		{`{aggregate: "c", pipeline: [{$match: {a: {$gt: 1}}}], cursor: {}, hint: "a"}`, "IXSCAN { a: 1 }", true},
	} {
		h.OK(tt.command)
		entry := harness.Docs(h.OK(`{find: "system.profile", filter: {ns: "test.c"}, sort: {$natural: -1}, limit: 1}`))[0]
		if got := entry.Lookup("planSummary").Str(); got != tt.summary {
			t.Errorf("%s: planSummary %q, want %q", tt.command, got, tt.summary)
		}
		if shape := len(entry.Lookup("planCacheShapeHash").Str()) == 8; shape != tt.shape {
			t.Errorf("%s: planCacheShapeHash %s", tt.command, entry.Lookup("planCacheShapeHash"))
		}
	}
}

// $planCacheStats lists the plans that are remembered, with the server that does.
func TestPlanCacheStats(t *testing.T) {
	t.Parallel()
	harness.SkipHostile(t, "a change of the catalog forgets plans")
	h := harness.New(t)
	numbers(h, 3)
	list := func() []value.Doc {
		return harness.Docs(h.OK(`{aggregate: "c", pipeline: [{$planCacheStats: {}}], cursor: {}}`))
	}
	if docs := list(); len(docs) != 0 {
		t.Errorf("remembered before any query: %v", docs)
	}
	const find = `{find: "c", filter: {a: {$gt: 1}}, sort: {b: 1}}`
	for range 3 {
		h.Finds(find, `[{"_id":2,"a":2,"b":-2}]`)
	}
	docs := list()
	if len(docs) != 1 || !strings.HasSuffix(docs[0].Lookup("host").Str(), ":27017") || docs[0].Lookup("createdFromQuery").Doc().Lookup("query").String() != `{ a: { $gt: 1 } }` {
		t.Errorf("remembered: %v", docs)
	}
	tried, scores := docs[0].Lookup("creationExecStats").Doc(), docs[0].Lookup("candidatePlanScores").Doc()
	if tried.Len() < 2 || tried.Len() != scores.Len() || scores.Index(0).AsDouble() != 2 {
		t.Errorf("chosen among %s with the scores %s", tried, scores)
	}
	for d := range tried.Values() {
		if !d.Doc().Lookup("executionStages").Doc().Has("stage") {
			t.Errorf("a candidate is %s", d)
		}
	}
	h.OK(`{find: "c", filter: {a: {$lt: 1}}, sort: {b: -1}}`)
	if docs := list(); len(docs) != 2 {
		t.Errorf("remembered: %v", docs)
	}
	h.OK(`{planCacheClear: "c"}`)
	if docs := list(); len(docs) != 0 {
		t.Errorf("remembered after planCacheClear: %v", docs)
	}
}

// An index filter leaves a shape of query no other index, also against a hint; other
// shapes are not concerned, and explain says that it was set.
func TestIndexFilters(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	numbers(h, 3)
	h.OK(`{planCacheSetFilter: "c", query: {a: 1}, indexes: ["ab"]}`)
	planned := func(find string) (index string, filtered bool) {
		planner := h.OK(`{explain: ` + find + `, verbosity: "queryPlanner"}`).Lookup("queryPlanner").Doc()
		stage := planner.Lookup("winningPlan").Doc()
		for stage.Has("inputStage") {
			stage = stage.Lookup("inputStage").Doc()
		}
		return stage.Lookup("indexName").Str(), planner.Lookup("indexFilterSet").Bool()
	}
	for find, want := range map[string]string{`{find: "c", filter: {a: 2}}`: "ab", `{find: "c", filter: {a: 2}, hint: "a"}`: "ab"} {
		if index, filtered := planned(find); index != want || !filtered {
			t.Errorf("%s uses %q, filtered: %v", find, index, filtered)
		}
		h.Finds(find, `[{"_id":2,"a":2,"b":-2}]`)
	}
	if _, filtered := planned(`{find: "c", filter: {a: {$gt: 2}}}`); filtered {
		t.Error("the filter holds for another shape")
	}
	h.OK(`{planCacheClearFilters: "c"}`)
	if index, filtered := planned(`{find: "c", filter: {a: 2}, hint: "a"}`); index != "a" || filtered {
		t.Errorf("after planCacheClearFilters: %q, filtered: %v", index, filtered)
	}
}

// By the verbosity of its component a command is logged although it was not slow.
func TestCommandsAreLogged(t *testing.T) {
	t.Parallel()
	for component, command := range map[string]string{
		"query": `{find: "c", filter: {b: 1}}`, "command": `{ping: 1}`, "write": `{insert: "c", documents: [{_id: 9}]}`,
	} {
		var log bytes.Buffer
		h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log)})
		numbers(h, 3)
		h.Admin(`{setParameter: 1, logComponentVerbosity: {` + component + `: {verbosity: 2}}}`)
		log.Reset()
		h.OK(command)
		want := "Slow query"
		if component == "query" {
			want = `"planSummary":"COLLSCAN"`
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("verbosity of %s: %s logged %q", component, command, log.String())
		}
		log.Reset()
		h.Admin(`{setParameter: 1, logComponentVerbosity: {` + component + `: {verbosity: 0}}}`)
		log.Reset()
		if h.Run(command); component != "write" && strings.Contains(log.String(), want) {
			t.Errorf("without verbosity: %s logged %q", command, log.String())
		}
	}
}
