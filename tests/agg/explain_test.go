package agg

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// at follows a dotted path.
func at(d value.Doc, path string) value.Value { return value.ParsePath(path).Get(d) }

func TestExplain(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 300, 10)
	s.ok(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k_1"}]}`)
	explain := func(pipeline, verbosity string) []value.Doc {
		var out []value.Doc
		reply := s.ok(`{explain: {aggregate: "c", pipeline: %s, cursor: {}}, verbosity: "%s"}`, pipeline, verbosity)
		for v := range reply.Lookup("stages").Doc().Values() {
			out = append(out, v.Doc())
		}
		return out
	}
	stages := explain(`[{$match: {k: 7}}, {$group: {_id: "$s", n: {$sum: 1}}}, {$lookup: {from: "c", localField: "n", foreignField: "k", as: "r"}}]`, "executionStats")
	if len(stages) != 3 {
		t.Fatal(stages)
	}
	cursor := stages[0].Lookup("$cursor").Doc()
	if st := at(cursor, "queryPlanner.winningPlan.inputStage.stage").Str(); st != "IXSCAN" {
		t.Error(cursor)
	}
	for path, want := range map[string]int64{"executionStats.nReturned": 3, "executionStats.totalKeysExamined": 3, "executionStats.totalDocsExamined": 3} {
		if got := at(cursor, path).SafeInt64(); got != want {
			t.Errorf("%s is %d, want %d", path, got, want)
		}
	}
	if n := stages[1].Lookup("nReturned").SafeInt64(); n != 1 {
		t.Error(stages[1])
	}
	if n := stages[2].Lookup("totalDocsExamined").SafeInt64(); n != 3 {
		t.Error(stages[2])
	}
	// Stages that the source executes are no longer in the pipeline.
	if stages = explain(`[{$sort: {k: 1}}, {$limit: 5}, {$set: {x: 1}}]`, "executionStats"); len(stages) != 3 || !stages[1].Has("$limit") {
		t.Error(stages)
	}
	if n := at(stages[0], "$cursor.executionStats.nReturned").SafeInt64(); n != 5 {
		t.Error(stages[0])
	}
	if stages = explain(`[{$sort: {s: 1}}, {$limit: 5}, {$set: {x: 1}}]`, "queryPlanner"); len(stages) != 3 || !stages[1].Has("$sort") {
		t.Error(stages)
	}
	// Views are explained as their pipelines.
	s.ok(`{create: "v", viewOn: "c", pipeline: [{$match: {k: 7}}]}`)
	reply := s.ok(`{explain: {aggregate: "v", pipeline: [{$count: "n"}], cursor: {}}, verbosity: "executionStats"}`)
	first := reply.Lookup("stages").Doc().Index(0).Doc()
	if at(first, "$cursor.queryPlanner.namespace").Str() != "test.c" || at(first, "$cursor.executionStats.nReturned").SafeInt64() != 3 {
		t.Error(reply)
	}
	s.ok(`{explain: {find: "v", filter: {_id: 7}}, verbosity: "executionStats"}`)
	s.ok(`{explain: {aggregate: 1, pipeline: [{$documents: [{a: 1}]}], cursor: {}}, verbosity: "executionStats"}`)
	s.ok(`{aggregate: "nosuch", pipeline: [{$match: {a: 1}}], explain: true}`)
	// Nothing is written by an explain.
	explain(`[{$out: "d"}]`, "queryPlanner")
	s.gives("d", `[]`, `[]`)
}

// A pipeline that is equivalent to a find is explained as a find:
// jstests/libs/analyze_plan.js and the drivers' tests expect queryPlanner and not stages.
func TestExplainOfAPipelineThatIsAFind(t *testing.T) {
	s := newServer(t)
	s.numbers("c", 300, 10)
	s.ok(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k_1"}]}`)
	for _, tt := range []struct {
		pipeline, find string
		returned       int64
	}{
		{`[]`, ``, 300},
		{`[{$match: {k: {$lt: 10}}}]`, `, filter: {k: {$lt: 10}}`, 30},
		{`[{$match: {k: {$gte: 0}}}, {$sort: {s: 1}}]`, `, filter: {k: {$gte: 0}}, sort: {s: 1}`, 300},
		{`[{$sort: {s: -1}}, {$limit: 7}]`, `, sort: {s: -1}, limit: 7`, 7},
		{`[{$sort: {k: 1}}, {$limit: 7}]`, `, sort: {k: 1}, limit: 7`, 7},
		{`[{$match: {k: 7}}, {$limit: 2}]`, `, filter: {k: 7}, limit: 2`, 2},
	} {
		for _, verbosity := range []string{"queryPlanner", "executionStats", "allPlansExecution"} {
			got := s.ok(`{explain: {aggregate: "c", pipeline: %s, cursor: {}}, verbosity: "%s"}`, tt.pipeline, verbosity)
			want := s.ok(`{explain: {find: "c"%s}, verbosity: "%s"}`, tt.find, verbosity)
			if got.Has("stages") || at(got, "queryPlanner.winningPlan").Doc().String() != at(want, "queryPlanner.winningPlan").Doc().String() {
				t.Errorf("%s\nis explained as %s\nthe find as      %s", tt.pipeline, got, want)
			}
			if n := at(got, "executionStats.nReturned").SafeInt64(); verbosity != "queryPlanner" && n != tt.returned {
				t.Errorf("%s: nReturned is %d, want %d", tt.pipeline, n, tt.returned)
			}
		}
	}
	if got := s.ok(`{explain: {aggregate: "nosuch", pipeline: [{$sort: {a: 1}}], cursor: {}}, verbosity: "executionStats"}`); at(got, "queryPlanner.winningPlan.stage").Str() != "EOF" {
		t.Error(got)
	}
}
