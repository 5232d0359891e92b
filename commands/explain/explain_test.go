package explain_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// stagesOf lists the stages of a plan from the root to the leaf.
func stagesOf(plan value.Doc) string {
	var names []string
	for !plan.IsEmpty() {
		names = append(names, plan.Lookup("stage").Str())
		plan = plan.Lookup("inputStage").Doc()
	}
	return strings.Join(names, " ")
}

func withDocuments(t *testing.T) *harness.Harness {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 1}, {_id: 2, a: 2, b: 1}, {_id: 3, a: 2, b: 2}, {_id: 4, a: 3}, {_id: 5, x: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 2}}]}`)
	return h
}

// The stages are those of the manual's "Explain Results" and of its pages on indexes.
func TestWinningPlans(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	for command, want := range map[string]string{
		`{find: "c", filter: {x: 1}}`:                                           "COLLSCAN",
		`{find: "c", filter: {a: 2}}`:                                           "FETCH IXSCAN",
		`{find: "c", filter: {_id: 2}}`:                                         "EXPRESS_IXSCAN",
		`{find: "c", filter: {a: 2}, projection: {_id: 0, a: 1}}`:               "PROJECTION_COVERED IXSCAN",
		`{find: "c", filter: {a: 2}, projection: {x: 1}}`:                       "PROJECTION_SIMPLE FETCH IXSCAN",
		`{find: "c", filter: {a: 2}, projection: {y: {$add: ["$x", 1]}}}`:       "PROJECTION_DEFAULT FETCH IXSCAN",
		`{find: "c", sort: {x: 1}}`:                                             "SORT COLLSCAN",
		`{find: "c", sort: {a: 1}}`:                                             "FETCH IXSCAN",
		`{find: "c", filter: {x: 1}, limit: 1}`:                                 "LIMIT COLLSCAN",
		`{find: "c", filter: {a: 2}, returnKey: true}`:                          "RETURN_KEY IXSCAN",
		`{find: "missing", filter: {a: 1}}`:                                     "EOF",
		`{count: "c"}`:                                                          "RECORD_STORE_FAST_COUNT",
		`{count: "c", query: {a: 2}}`:                                           "COUNT COUNT_SCAN",
		`{count: "c", query: {x: 1}}`:                                           "COUNT COLLSCAN",
		`{distinct: "c", key: "a", query: {a: {$gt: 0}}}`:                       "PROJECTION_COVERED DISTINCT_SCAN",
		`{distinct: "c", key: "x"}`:                                             "COLLSCAN",
		`{update: "c", updates: [{q: {a: 2}, u: {$set: {x: 1}}, multi: true}]}`: "UPDATE FETCH IXSCAN",
		`{delete: "c", deletes: [{q: {x: 1}, limit: 0}]}`:                       "DELETE COLLSCAN",
		`{findAndModify: "c", query: {a: 2}, update: {$set: {x: 1}}}`:           "UPDATE FETCH IXSCAN",
		`{findAndModify: "c", query: {a: 2}, remove: true}`:                     "DELETE FETCH IXSCAN",
		`{find: "v"}`: "FETCH IXSCAN",
		`{aggregate: "c", pipeline: [{$match: {a: 2}}, {$limit: 1}], cursor: {}}`: "LIMIT FETCH IXSCAN",
	} {
		reply := h.OK(`{explain: ` + command + `, verbosity: "queryPlanner"}`)
		if got := stagesOf(reply.Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc()); got != want {
			t.Errorf("%s is planned as %s, want %s", command, got, want)
		}
		if reply.Has("executionStats") {
			t.Errorf("%s was run", command)
		}
	}
	h.Holds("c", `{_id: 1, a: 1, b: 1} {_id: 2, a: 2, b: 1} {_id: 3, a: 2, b: 2} {_id: 4, a: 3} {_id: 5, x: 1}`)
}

// What a plan examines follows from the documents: one key and one document for each
// match through an index, every document without one.
func TestExecutionStats(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	for _, test := range []struct {
		command              string
		returned, keys, docs int64
	}{
		{`{find: "c", filter: {x: 1}}`, 1, 0, 5},
		{`{find: "c", filter: {a: 2}}`, 2, 2, 2},
		{`{find: "c", filter: {a: {$in: [1, 3]}}, sort: {x: 1}, limit: 1}`, 1, 3, 2},
		{`{find: "c", filter: {a: 2}, projection: {_id: 0, a: 1}}`, 2, 2, 0},
		{`{find: "missing", filter: {a: 2}}`, 0, 0, 0},
		{`{count: "c"}`, 0, 0, 0},
		{`{count: "c", query: {x: 1}, skip: 1}`, 0, 0, 5},
		{`{find: "c", filter: {x: 1}, skip: 1}`, 0, 0, 5},
		{`{find: "c", filter: {$or: [{a: 1}, {b: 2}]}}`, 2, 2, 2},
	} {
		s := h.OK(`{explain: ` + test.command + `, verbosity: "executionStats"}`).Lookup("executionStats").Doc()
		got := [3]int64{s.Lookup("nReturned").SafeInt64(), s.Lookup("totalKeysExamined").SafeInt64(), s.Lookup("totalDocsExamined").SafeInt64()}
		if got != [3]int64{test.returned, test.keys, test.docs} || !s.Lookup("executionSuccess").Truthy() {
			t.Errorf("%s: nReturned, totalKeysExamined, totalDocsExamined %v, want %d %d %d", test.command, got, test.returned, test.keys, test.docs)
		}
	}
}

// An explained write changes nothing; its stage says what it would do.
func TestWritesAreNotMade(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	for command, want := range map[string]string{
		`{update: "c", updates: [{q: {a: 2}, u: {$set: {b: 1}}, multi: true}]}`:  `nMatched 2 nWouldModify 1 nWouldUpsert 0`,
		`{update: "c", updates: [{q: {a: 9}, u: {$set: {b: 1}}, upsert: true}]}`: `nMatched 0 nWouldModify 0 nWouldUpsert 1`,
		`{delete: "c", deletes: [{q: {a: 2}, limit: 0}]}`:                        `nWouldDelete 2`,
		`{delete: "c", deletes: [{q: {a: 2}, limit: 1}]}`:                        `nWouldDelete 1`,
		`{findAndModify: "c", query: {a: 2}, update: {$set: {b: 7}}}`:            `nMatched 1 nWouldModify 1 nWouldUpsert 0`,
	} {
		stage := h.OK(`{explain: ` + command + `}`).Lookup("executionStats").Doc().Lookup("executionStages").Doc()
		words := strings.Fields(want)
		for i := 0; i < len(words); i += 2 {
			if got := value.Int(stage.Lookup(words[i]).SafeInt64()).String(); got != words[i+1] {
				t.Errorf("%s: %s is %s, want %s", command, words[i], got, words[i+1])
			}
		}
	}
	h.Holds("c", `{_id: 1, a: 1, b: 1} {_id: 2, a: 2, b: 1} {_id: 3, a: 2, b: 2} {_id: 4, a: 3} {_id: 5, x: 1}`)
}

// allPlansExecution runs every plan that was considered; one plan alone needs no trial.
func TestAllPlans(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	for command, want := range map[string]int{
		`{find: "c", filter: {a: 2, b: 1}}`: 2,
		`{find: "c", filter: {x: 1}}`:       0,
		`{find: "missing"}`:                 0,
	} {
		reply := h.OK(`{explain: ` + command + `, verbosity: "allPlansExecution"}`)
		if n := reply.Lookup("executionStats").Doc().Lookup("allPlansExecution").Doc().Len(); n != want {
			t.Errorf("%s: %d trials, want %d", command, n, want)
		}
		if rejected := reply.Lookup("queryPlanner").Doc().Lookup("rejectedPlans").Doc().Len(); rejected != max(want-1, 0) {
			t.Errorf("%s: %d rejected plans, want %d", command, rejected, max(want-1, 0))
		}
	}
}

// Pipelines that are more than a find have {stages: […]}, the first of which reads the
// collection.
func TestPipelines(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	h.OK(`{create: "ts", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "ts", documents: [{t: {$date: "2026-01-01T00:00:00Z"}, m: 1, v: 1}, {t: {$date: "2026-01-01T00:00:01Z"}, m: 1, v: 2}]}`)
	for command, want := range map[string]string{
		`{aggregate: "c", pipeline: [{$match: {a: 2}}, {$group: {_id: "$b", n: {$sum: "$a"}}}], cursor: {}}`: "$cursor $group",
		`{aggregate: "c", pipeline: [{$unwind: "$a"}, {$sort: {x: 1}}], cursor: {}}`:                         "$cursor $unwind $sort",
		`{aggregate: "c", pipeline: [{$collStats: {count: {}}}], cursor: {}}`:                                "$collStats",
		`{aggregate: "missing", pipeline: [{$group: {_id: 1, n: {$sum: "$x"}}}], cursor: {}}`:                "$cursor $group",
		`{find: "ts", filter: {v: 1}}`: "$cursor $_internalUnpackBucket",
		`{aggregate: "ts", pipeline: [{$match: {m: 1}}, {$project: {v: 1}}], cursor: {}}`: "$cursor $_internalUnpackBucket $project",
	} {
		for _, verbosity := range []string{"queryPlanner", "executionStats"} {
			var names []string
			for v := range h.OK(`{explain: ` + command + `, verbosity: "` + verbosity + `"}`).Lookup("stages").Doc().Values() {
				name, _ := v.Doc().First()
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s with %s has the stages %s, want %s", command, verbosity, got, want)
			}
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	t.Parallel()
	withDocuments(t).Refuses([]harness.Refusal{
		{DB: "test", Command: `{explain: {find: "c"}, verbosity: "all"}`, Code: 2, Text: "Enumeration value 'all' for field 'explain.verbosity' is not a valid value."},
		{DB: "test", Command: `{explain: 1}`, Code: 14},
		{DB: "test", Command: `{explain: {nothing: 1}}`, Code: 59, Text: "Explain failed due to unknown command: nothing"},
		{DB: "test", Command: `{explain: {ping: 1}}`, Code: 20},
		{DB: "test", Command: `{explain: {find: "c", hint: "none"}}`, Code: 2},
		{DB: "test", Command: `{explain: {find: "c", filter: {$bad: 1}}}`, Code: 2},
		{DB: "test", Command: `{explain: {count: "c", limit: "x"}}`, Code: 2, Text: "limit value is not a valid number"},
		{DB: "test", Command: `{explain: {distinct: "c", key: 1}}`, Code: 14},
		{DB: "test", Command: `{explain: {delete: "c", deletes: [{q: {}, limit: 0}, {q: {}, limit: 0}]}}`, Code: 16},
		{DB: "test", Command: `{explain: {aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}, verbosity: "executionStats"}`, Code: 51029},
		{DB: "test", Command: `{explain: {aggregate: "c", pipeline: [{$nothing: 1}], cursor: {}}}`, Code: 40324},
	})
}

// Several scans at once: those of $or without and with an order, and the rings of $near.
func TestPlansWithSeveralScans(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, x: 1}, name: "a_x"}, {key: {p: "2dsphere"}, name: "p"}, {key: {s: "text"}, name: "s"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 6, p: [0, 0]}, {_id: 7, p: [1, 1]}, {_id: 8, s: "red fox"}, {_id: 9, s: "red"}]}`)
	for command, want := range map[string]string{
		`{find: "c", filter: {$or: [{a: 1}, {b: 2}]}}`:                                               "OR",
		`{find: "c", filter: {a: {$in: [1, 2]}}, sort: {x: 1}, hint: "a_x"}`:                         "SORT_MERGE",
		`{find: "c", filter: {p: {$nearSphere: {$geometry: {type: "Point", coordinates: [0, 0]}}}}}`: "GEO_NEAR_2DSPHERE",
		`{find: "c", filter: {$text: {$search: "red"}}}`:                                             "TEXT_MATCH",
	} {
		reply := h.OK(`{explain: ` + command + `, verbosity: "executionStats"}`)
		if plan := reply.Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc().JSON(); !strings.Contains(plan, `"`+want+`"`) {
			t.Errorf("%s: no stage %s in %s", command, want, plan)
		}
		n := len(harness.Docs(h.OK(command)))
		if got := reply.Lookup("executionStats").Doc().Lookup("nReturned").SafeInt64(); got != int64(n) {
			t.Errorf("%s: nReturned %d, want %d", command, got, n)
		}
	}
}
