package commands

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/parameters"
)

// Which queries have the same shape: by the manual's page on query shapes, and
// functional-tests of documentdb on mongod.
func TestQueryShapes(t *testing.T) {
	shape := func(text string) string { return exec.QueryShapeHash("test", relaxed(text)) }
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: 2.5}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: {$eq: 1}}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{find: "c", filter: {a: "x"}}`, false},
		{`{find: "c", filter: {a: 1}}`, `{find: "d", filter: {a: 1}}`, false},
		{`{find: "c", filter: {a: 1, b: 2}}`, `{find: "c", filter: {$and: [{a: 3}, {b: 4}]}}`, true},
		{`{find: "c", filter: {a: 1, b: 2}}`, `{find: "c", filter: {b: 2, a: 1}}`, false},
		{`{find: "c", filter: {a: {$in: [1]}}}`, `{find: "c", filter: {a: {$in: [3, 4]}}}`, true},
		{`{find: "c", filter: {a: {$in: [1, 2]}}}`, `{find: "c", filter: {a: {$in: [3, 4, 5]}}}`, true},
		{`{find: "c", filter: {a: {$in: [1, 2]}}}`, `{find: "c", filter: {a: {$nin: [1, 2]}}}`, false},
		{`{find: "c", filter: {a: {$exists: true}}}`, `{find: "c", filter: {a: {$exists: false}}}`, false},
		{`{find: "c", filter: {a: {$type: "int"}}}`, `{find: "c", filter: {a: {$type: ["int"]}}}`, true},
		{`{find: "c", filter: {a: {$type: "int"}}}`, `{find: "c", filter: {a: {$type: "string"}}}`, false},
		{`{find: "c", filter: {$expr: {$gt: ["$a", 1]}}}`, `{find: "c", filter: {$expr: {$gt: ["$a", 9]}}}`, true},
		{`{find: "c", filter: {$expr: {$gt: ["$a", "$b"]}}}`, `{find: "c", filter: {$expr: {$lt: ["$a", "$b"]}}}`, false},
		{`{find: "c", filter: {a: {$elemMatch: {$gt: 1}}}}`, `{find: "c", filter: {a: {$elemMatch: {$gt: 2}}}}`, true},
		{`{find: "c", filter: {a: {$elemMatch: {$gt: 1}}}}`, `{find: "c", filter: {a: {$elemMatch: {$lt: 1}}}}`, false},
		{`{find: "c", filter: {a: 1}, sort: {}}`, `{find: "c", filter: {a: 1}}`, true},
		{`{find: "c", filter: {a: 1}, sort: {a: 1}}`, `{find: "c", filter: {a: 1}, sort: {a: -1}}`, false},
		{`{find: "c", filter: {a: 1}, sort: {a: 1}}`, `{sort: {a: 1.0}, filter: {a: 1}}`, false},
		{`{find: "c", filter: {a: 1}, limit: 1}`, `{find: "c", limit: 7, filter: {a: 1}}`, true},
		{`{find: "c", filter: {a: 1}, projection: {a: 1}}`, `{find: "c", filter: {a: 1}, projection: {a: true}}`, true},
		{`{find: "c", filter: {a: 1}, projection: {a: 1}}`, `{find: "c", filter: {a: 1}, projection: {a: 0}}`, false},
		{`{find: "c", collation: {locale: "en"}}`, `{find: "c", collation: {locale: "en", strength: 3}}`, true},
		{`{find: "c", collation: {locale: "en"}}`, `{find: "c", collation: {locale: "en", strength: 2}}`, false},
		{`{find: "c"}`, `{find: "c", filter: {}}`, true},
		{`{find: "c", filter: {a: 1}}`, `{distinct: "c", key: "a", query: {a: 1}}`, false},
		{`{distinct: "c", key: "a"}`, `{distinct: "c", key: "b"}`, false},
		{`{aggregate: "c", pipeline: [{$match: {a: 1}}, {$limit: 1}]}`, `{aggregate: "c", pipeline: [{$match: {a: 9}}, {$limit: 2}]}`, true},
		{`{aggregate: "c", pipeline: [{$match: {a: 1}}]}`, `{aggregate: "c", pipeline: [{$match: {a: 1}}, {$limit: 2}]}`, false},
		{`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: [{$match: {a: 1}}]}}]}`,
			`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: [{$match: {a: 5}}]}}]}`, true},
		{`{aggregate: "c", pipeline: [{$lookup: {from: "x", as: "y", pipeline: []}}]}`, `{aggregate: "c", pipeline: [{$lookup: {from: "z", as: "y", pipeline: []}}]}`, false},
		{`{aggregate: "c", pipeline: [{$group: {_id: "$a", n: {$sum: 1}}}]}`, `{aggregate: "c", pipeline: [{$group: {_id: "$b", n: {$sum: 1}}}]}`, false},
	} {
		if got := shape(tt.a) == shape(tt.b); got != tt.same {
			t.Errorf("%s\n%s\nsame shape: %v", tt.a, tt.b, got)
		}
	}
	if hash := shape(`{find: "c"}`); len(hash) != 64 || hash != strings.ToUpper(hash) {
		t.Errorf("hash %q", hash)
	}
}

// Settings are kept, shown, changed field by field, obeyed and removed.
func TestQuerySettings(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{insert: "c", documents: [{_id: 1, a: 1, b: 1}, {_id: 2, a: 1, b: 2}]}`)
	h.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {a: 1, b: 1}, name: "a_1_b_1"}]}`)
	const query = `{find: "c", filter: {a: 1}, $db: "test"}`
	index := func() string {
		plan := h.ok(`{explain: {find: "c", filter: {a: 5}}, verbosity: "queryPlanner"}`).Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc()
		return plan.Lookup("inputStage").Doc().Lookup("indexName").Str()
	}
	before := index()
	other := map[string]string{"a_1": "a_1_b_1", "a_1_b_1": "a_1"}[before]
	set := h.admin(`{setQuerySettings: ` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: ["` + other + `"]}, comment: "mine"}}`)
	hash := set.Lookup("queryShapeHash").Str()
	if got := index(); got != other || other == "" {
		t.Errorf("planned with %q, allowed is %q", got, other)
	}
	explained := h.ok(`{explain: {find: "c", filter: {a: 7}}, verbosity: "queryPlanner"}`)
	if explained.Lookup("queryShapeHash").Str() != hash || !explained.Lookup("queryPlanner").Doc().Has("querySettings") {
		t.Errorf("explain tells %s", explained)
	}
	h.admin(`{setQuerySettings: "` + hash + `", settings: {reject: true, queryFramework: "classic"}}`)
	list := h.admin(`{aggregate: 1, pipeline: [{$querySettings: {showDebugQueryShape: true}}], cursor: {}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
	one := list.Index(0).Doc()
	if list.Len() != 1 || one.Lookup("settings").Doc().Lookup("comment").Str() != "mine" || !one.Lookup("settings").Doc().Has("indexHints") ||
		one.Lookup("representativeQuery").Doc().Lookup("find").Str() != "c" || one.Lookup("debugQueryShape").Doc().Lookup("command").Str() != "find" {
		t.Errorf("listed %s", list)
	}
	h.fails(411, `{find: "c", filter: {a: 3}}`)
	h.ok(`{explain: {find: "c", filter: {a: 3}}}`)
	h.ok(`{find: "c", filter: {a: "x"}}`)
	h.ok(`{find: "c", filter: {_id: 1}}`)
	h.svc.Settings.Queries.List = nil
	if err := parameters.LoadSettings(h.svc); err != nil { // as after a restart
		t.Fatal(err)
	}
	h.fails(411, `{find: "c", filter: {a: 3}}`)
	h.admin(`{setQuerySettings: ` + query + `, settings: {reject: false}}`)
	h.ok(`{find: "c", filter: {a: 3}}`)
	h.admin(`{removeQuerySettings: ` + query + `}`)
	h.admin(`{removeQuerySettings: ` + query + `}`)
	if got := index(); got != before {
		t.Errorf("planned with %q after the removal, before with %q", got, before)
	}
	h.admin(`{setQuerySettings: {distinct: "c", key: "b", query: {a: 1}, $db: "test"}, settings: {reject: true}}`)
	h.fails(411, `{distinct: "c", key: "b", query: {a: 2}}`)
	h.admin(`{setQuerySettings: {aggregate: "c", pipeline: [{$match: {a: 1}}], $db: "test"}, settings: {reject: true}}`)
	h.fails(411, `{aggregate: "c", pipeline: [{$match: {a: 2}}], cursor: {}}`)
}

func TestQuerySettingsRefusals(t *testing.T) {
	h := newHarness(t).asMember()
	const good = `settings: {queryFramework: "sbe"}`
	const query = `setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}`
	h.refuses([]refusal{
		{"admin", `{setQuerySettings: null, ` + good + `}`, 14, ""},
		{"admin", `{setQuerySettings: 1, ` + good + `}`, 14, ""},
		{"admin", `{setQuerySettings: "", ` + good + `}`, 16, ""},
		{"admin", `{setQuerySettings: "nothex", ` + good + `}`, 2, ""},
		{"admin", `{setQuerySettings: {}, ` + good + `}`, 7746402, ""},
		{"admin", `{setQuerySettings: {count: "c", $db: "test"}, ` + good + `}`, 7746402, ""},
		{"admin", `{setQuerySettings: {find: "c"}, ` + good + `}`, 40414, ""},
		{"admin", `{setQuerySettings: {find: "c", $db: ""}, ` + good + `}`, 73, ""},
		{"admin", `{setQuerySettings: {find: "c", $db: "local"}, ` + good + `}`, 8584900, ""},
		{"admin", `{setQuerySettings: {find: "c", filter: {_id: 1}, $db: "test"}, ` + good + `}`, 7746606, ""},
		{"admin", `{` + query + `}`, 40414, ""},
		{"admin", `{` + query + `, settings: {}}`, 8727502, ""},
		{"admin", `{` + query + `, settings: {reject: false}}`, 7746604, ""},
		{"admin", `{` + query + `, settings: {reject: null}}`, 14, ""},
		{"admin", `{` + query + `, settings: {queryFramework: "x"}}`, 2, ""},
		{"admin", `{` + query + `, settings: {indexHints: {allowedIndexes: ["a"]}}}`, 40414, ""},
		{"admin", `{` + query + `, settings: {indexHints: {ns: {coll: "c"}, allowedIndexes: ["a"]}}}`, 8727500, ""},
		{"admin", `{` + query + `, settings: {indexHints: {ns: {db: "test"}, allowedIndexes: ["a"]}}}`, 8727501, ""},
		{"admin", `{` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: [1]}}}`, 9, ""},
		{"admin", `{` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: []}}}`, 7746604, ""},
		{"test", `{` + query + `, ` + good + `}`, 13, ""},
	})
	newHarness(t).refuses([]refusal{{"admin", `{` + query + `, ` + good + `}`, 20, ""}})
}
