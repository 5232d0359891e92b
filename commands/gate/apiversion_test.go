package gate_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func TestAPIVersion(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}], apiVersion: "1", apiStrict: true}`)
	for _, c := range []struct {
		command string
		code    int32
		says    string
	}{
		{`{find: "c", apiVersion: "1", apiStrict: true}`, 0, ""},
		{`{distinct: "c", key: "a", apiVersion: "1"}`, 0, ""},
		{`{distinct: "c", key: "a", apiVersion: "1", apiStrict: true}`, 323, "Provided apiStrict:true, but the command distinct is not in API Version 1. "},
		{`{collStats: "c", apiVersion: "1", apiStrict: true}`, 323, "command collStats is not in API Version 1"},
		{`{aggregate: "c", pipeline: [{$match: {}}], cursor: {}, apiVersion: "1", apiStrict: true}`, 0, ""},
		{`{aggregate: "c", pipeline: [{$indexStats: {}}], cursor: {}, apiVersion: "1", apiStrict: true}`, 323, "stage $indexStats is not allowed with 'apiStrict: true' in API Version 1"},
		{`{aggregate: "c", pipeline: [{$unionWith: {coll: "c", pipeline: [{$indexStats: {}}]}}], cursor: {}, apiVersion: "1", apiStrict: true}`, 323, "stage $indexStats"},
		{`{aggregate: "c", pipeline: 1, cursor: {}, apiVersion: "1", apiStrict: true}`, 14, ""},
		{`{aggregate: "c", pipeline: [], explain: true, apiVersion: "1", apiStrict: true}`, 323, "BSON field 'aggregate.explain' is not allowed with apiStrict:true."},
		{`{find: "c", tailable: false, apiVersion: "1", apiStrict: true}`, 323, "BSON field 'FindCommandRequest.tailable' is not allowed with apiStrict:true."},
		{`{find: "c", min: {a: 1}, hint: {a: 1}, apiVersion: "1", apiStrict: true}`, 323, "FindCommandRequest.min"},
		{`{find: "c", showRecordId: false, apiVersion: "1"}`, 0, ""},
		{`{listCollections: 1, includePendingDrops: false, apiVersion: "1", apiStrict: true}`, 323, "includePendingDrops"},
		{`{create: "capped", capped: true, size: 1000, apiVersion: "1", apiStrict: true}`, 323, "capped"},
		{`{create: "capped", capped: true, apiVersion: "1", apiStrict: true}`, 72, "size"},
		{`{create: "uncapped", capped: false, apiVersion: "1", apiStrict: true}`, 0, ""},
		{`{createIndexes: "c", indexes: [{key: {a: "text"}, name: "a_1"}], apiVersion: "1", apiStrict: true}`, 323, "text"},
		{`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", unique: true}], apiVersion: "1", apiStrict: true}`, 0, ""},
		{`{collMod: "c", index: {name: "a_1", prepareUnique: true}, apiVersion: "1", apiStrict: true}`, 323, "prepareUnique"},
		{`{ping: 1, apiVersion: "2"}`, 322, "API version"},
		{`{ping: 1, apiStrict: true}`, 4886600, "without passing apiVersion"},
		{`{ping: 1, apiDeprecationErrors: false}`, 4886600, "without passing apiVersion"},
		{`{ping: 1, apiVersion: "1", apiDeprecationErrors: true}`, 0, ""},
	} {
		if c.code == 0 {
			h.OK(c.command)
		} else if msg := h.Fails(c.code, c.command); !strings.Contains(msg, c.says) {
			t.Errorf("%s: %s", c.command, msg)
		}
	}
	list := h.OK(`{listCommands: 1}`).Lookup("commands").Doc()
	if got := list.Lookup("find").Doc().Lookup("apiVersions").String(); !strings.Contains(got, `1`) {
		t.Errorf("apiVersions of find: %s", got)
	}
	if !list.Lookup("distinct").Doc().Lookup("apiVersions").Doc().IsEmpty() {
		t.Error("distinct is in an API version")
	}
}

// The commands of mongod that stand for changes from one version to the next.
func TestAPIVersionChanges(t *testing.T) {
	h := harness.NewWith(t, kernel.Options{Parameters: map[string]string{"enableTestCommands": "1", "acceptApiVersion2": "true"}})
	for _, c := range []struct {
		command string
		code    int32
	}{
		{`{testVersion2: 1, apiVersion: "2", apiStrict: true}`, 0},
		{`{testVersion2: 1, apiVersion: "1", apiStrict: true}`, 323},
		{`{testVersions1And2: 1, apiVersion: "1", apiStrict: true}`, 0},
		{`{testVersions1And2: 1, apiVersion: "2", apiStrict: true}`, 0},
		{`{testRemoval: 1, apiVersion: "1", apiStrict: true}`, 0},
		{`{testRemoval: 1, apiVersion: "2", apiStrict: true}`, 323},
		{`{testDeprecation: 1, apiVersion: "1", apiDeprecationErrors: true}`, 324},
		{`{testDeprecation: 1, apiVersion: "1", apiDeprecationErrors: false}`, 0},
		{`{testDeprecationInVersion2: 1, apiVersion: "1", apiDeprecationErrors: true}`, 0},
		{`{testDeprecationInVersion2: 1, apiVersion: "2", apiDeprecationErrors: true}`, 324},
		{`{ping: 1, apiVersion: "3"}`, 322},
	} {
		if c.code == 0 {
			h.OK(c.command)
		} else {
			h.Fails(c.code, c.command)
		}
	}
}

func TestRequireAPIVersion(t *testing.T) {
	h := harness.New(t)
	h.Admin(`{setParameter: 1, requireApiVersion: true}`)
	for _, command := range []string{`{ping: 1}`, `{hello: 1}`, `{find: "c"}`, `{insert: "c", documents: [{_id: 1}]}`, `{find: "c", filter: {_id: 1}}`} {
		if msg := h.Fails(498870, command); msg != "The apiVersion parameter is required, please configure your MongoClient's API version" {
			t.Error(msg)
		}
	}
	h.OK(`{insert: "c", documents: [{_id: 1}], apiVersion: "1"}`)
	h.OK(`{find: "c", filter: {_id: 1}, apiVersion: "1"}`)
	h.Admin(`{setParameter: 1, requireApiVersion: false, apiVersion: "1"}`)
	h.OK(`{ping: 1}`)
}

// JavaScript is in no version of the API, wherever it stands in a command.
func TestScriptsUnderStrictAPI(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	const script = `{body: "function() { return 1 }", args: [], lang: "js"}`
	for _, command := range []string{
		`{aggregate: "c", pipeline: [{$project: {a: {$function: ` + script + `}}}], cursor: {}`,
		`{aggregate: "c", pipeline: [{$group: {_id: null, a: {$accumulator: {init: "f"}}}}], cursor: {}`,
		`{find: "c", filter: {$expr: {$eq: [1, {$function: ` + script + `}]}}`,
	} {
		h.Fails(323, command+`, apiVersion: "1", apiStrict: true}`)
	}
	for _, tt := range []struct{ d, want string }{
		{`{a: [1, {b: {$function: {}}}]}`, "$function"},
		{`{a: {$accumulator: {}, b: {$function: {}}}}`, "$accumulator"},
		{`{a: {$function: 1}, b: "$function"}`, ""},
	} {
		if got := gate.ScriptedName(value.Document(harness.Relaxed(tt.d))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.d, got, tt.want)
		}
	}
	for _, tt := range []struct{ pipeline, says string }{
		{`[{$collStats: {count: {}}}]`, ""},
		{`[{$collStats: {latencyStats: {}}}]`, "BSON field '$collStats.latencyStats' is not allowed with apiStrict:true in API Version 1"},
		{`[{$changeStream: {fullDocument: "default"}}]`, ""},
		{`[{$changeStream: {showExpandedEvents: true}}]`, "BSON field '$changeStream.showExpandedEvents' is not allowed with apiStrict:true in API Version 1"},
		{`[{$lookup: {from: "d", as: "e", pipeline: [{$match: {}}, {$listSessions: {}}]}}]`, "stage $listSessions is not allowed with 'apiStrict: true' in API Version 1"},
		{`[{$lookup: 1}, 7, {$planCacheStats: {}}]`, "stage $planCacheStats is not allowed with 'apiStrict: true' in API Version 1"},
		{`{}`, ""},
	} {
		err := gate.StrictStages(harness.Relaxed(`{p: ` + tt.pipeline + `}`).Lookup("p"))
		if said := strings.TrimPrefix(errorText(err), "APIStrictError: "); said != tt.says {
			t.Errorf("%s: %q, want %q", tt.pipeline, said, tt.says)
		}
	}
}
