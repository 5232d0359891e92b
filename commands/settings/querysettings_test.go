package settings_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// Settings are kept, shown, changed field by field, obeyed and removed.
func TestQuerySettings(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 1}, {_id: 2, a: 1, b: 2}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {a: 1, b: 1}, name: "a_1_b_1"}]}`)
	const query = `{find: "c", filter: {a: 1}, $db: "test"}`
	index := func() string {
		plan := h.OK(`{explain: {find: "c", filter: {a: 5}}, verbosity: "queryPlanner"}`).Lookup("queryPlanner").Doc().Lookup("winningPlan").Doc()
		return plan.Lookup("inputStage").Doc().Lookup("indexName").Str()
	}
	before := index()
	other := map[string]string{"a_1": "a_1_b_1", "a_1_b_1": "a_1"}[before]
	set := h.Admin(`{setQuerySettings: ` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: ["` + other + `"]}, comment: "mine"}}`)
	hash := set.Lookup("queryShapeHash").Str()
	if got := index(); got != other || other == "" {
		t.Errorf("planned with %q, allowed is %q", got, other)
	}
	explained := h.OK(`{explain: {find: "c", filter: {a: 7}}, verbosity: "queryPlanner"}`)
	if explained.Lookup("queryShapeHash").Str() != hash || !explained.Lookup("queryPlanner").Doc().Has("querySettings") {
		t.Errorf("explain tells %s", explained)
	}
	h.Admin(`{setQuerySettings: "` + hash + `", settings: {reject: true, queryFramework: "classic"}}`)
	list := h.Admin(`{aggregate: 1, pipeline: [{$querySettings: {showDebugQueryShape: true}}], cursor: {}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
	one := list.Index(0).Doc()
	if list.Len() != 1 || one.Lookup("settings").Doc().Lookup("comment").Str() != "mine" || !one.Lookup("settings").Doc().Has("indexHints") ||
		one.Lookup("representativeQuery").Doc().Lookup("find").Str() != "c" || one.Lookup("debugQueryShape").Doc().Lookup("command").Str() != "find" {
		t.Errorf("listed %s", list)
	}
	h.Fails(411, `{find: "c", filter: {a: 3}}`)
	h.OK(`{explain: {find: "c", filter: {a: 3}}}`)
	h.OK(`{find: "c", filter: {a: "x"}}`)
	h.OK(`{find: "c", filter: {_id: 1}}`)
	h.Svc.Settings = kernel.NewSettings() // as after a restart
	h.Fails(411, `{find: "c", filter: {a: 3}}`)
	h.Admin(`{setQuerySettings: ` + query + `, settings: {reject: false}}`)
	h.OK(`{find: "c", filter: {a: 3}}`)
	h.Admin(`{removeQuerySettings: ` + query + `}`)
	h.Admin(`{removeQuerySettings: ` + query + `}`)
	if got := index(); got != before {
		t.Errorf("planned with %q after the removal, before with %q", got, before)
	}
	h.Admin(`{setQuerySettings: {distinct: "c", key: "b", query: {a: 1}, $db: "test"}, settings: {reject: true}}`)
	h.Fails(411, `{distinct: "c", key: "b", query: {a: 2}}`)
	h.Admin(`{setQuerySettings: {aggregate: "c", pipeline: [{$match: {a: 1}}], $db: "test"}, settings: {reject: true}}`)
	h.Fails(411, `{aggregate: "c", pipeline: [{$match: {a: 2}}], cursor: {}}`)
}

func TestQuerySettingsRefusals(t *testing.T) {
	h := harness.New(t).AsMember()
	const good = `settings: {queryFramework: "sbe"}`
	const query = `setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}`
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{setQuerySettings: null, ` + good + `}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: 1, ` + good + `}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: "", ` + good + `}`, Code: 16, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: "nothex", ` + good + `}`, Code: 2, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {}, ` + good + `}`, Code: 7746402, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {count: "c", $db: "test"}, ` + good + `}`, Code: 7746402, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {find: "c"}, ` + good + `}`, Code: 40414, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {find: "c", $db: ""}, ` + good + `}`, Code: 73, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {find: "c", $db: "local"}, ` + good + `}`, Code: 8584900, Text: ""},
		{DB: "admin", Command: `{setQuerySettings: {find: "c", filter: {_id: 1}, $db: "test"}, ` + good + `}`, Code: 7746606, Text: ""},
		{DB: "admin", Command: `{` + query + `}`, Code: 40414, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {}}`, Code: 8727502, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {reject: false}}`, Code: 7746604, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {reject: null}}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {queryFramework: "x"}}`, Code: 2, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {indexHints: {allowedIndexes: ["a"]}}}`, Code: 40414, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {indexHints: {ns: {coll: "c"}, allowedIndexes: ["a"]}}}`, Code: 8727500, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {indexHints: {ns: {db: "test"}, allowedIndexes: ["a"]}}}`, Code: 8727501, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: [1]}}}`, Code: 9, Text: ""},
		{DB: "admin", Command: `{` + query + `, settings: {indexHints: {ns: {db: "test", coll: "c"}, allowedIndexes: []}}}`, Code: 7746604, Text: ""},
		{DB: "test", Command: `{` + query + `, ` + good + `}`, Code: 13, Text: ""},
	})
	harness.New(t).LoneServer("a refusal as a standalone").Refuses([]harness.Refusal{{DB: "admin", Command: `{` + query + `, ` + good + `}`, Code: 20, Text: ""}})
}
