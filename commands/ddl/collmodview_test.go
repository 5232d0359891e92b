package ddl_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// collMod of a view changes only its definition.
func TestCollModView(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	h.OK(`{insert: "d", documents: [{_id: 3, a: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`)
	h.Holds("v", `{_id: 1, a: 1}`)
	runSteps(h, "v", []step{
		{command: `{collMod: "v"}`, reply: `{}`, options: `{viewOn: "c", pipeline: [{$match: {a: 1}}]}`},
		{command: `{collMod: "v", viewOn: "d"}`, reply: `{}`, options: `{viewOn: "d", pipeline: [{$match: {a: 1}}]}`},
	})
	h.Holds("v", `{_id: 3, a: 1}`)
	runSteps(h, "v", []step{
		{command: `{collMod: "v", pipeline: [{$project: {_id: 1}}]}`, reply: `{}`, options: `{viewOn: "d", pipeline: [{$project: {_id: 1}}]}`},
		{command: `{collMod: "v", viewOn: "c", pipeline: []}`, reply: `{}`, options: `{viewOn: "c", pipeline: []}`},
	})
	h.Holds("v", `{_id: 1, a: 1} {_id: 2, a: 2}`)
	var list []harness.Refusal
	for _, o := range []struct{ name, value string }{ // in the order of mongod, then the options of DuskDB
		{"cappedSize", `4096`}, {"cappedMax", `1`}, {"index", `{name: "a", hidden: true}`}, {"validator", `{}`}, {"validationLevel", `"off"`},
		{"validationAction", `"warn"`}, {"changeStreamPreAndPostImages", `{enabled: true}`}, {"expireAfterSeconds", `5`}, {"timeseries", `{granularity: "hours"}`},
		{"documentTtl", `{default: 5}`}, {"messageQueue", `{maxDeliveryCount: 5}`}, {"onExpire", `{deadLetterTo: "d"}`},
	} {
		list = append(list, harness.Refusal{DB: "test", Command: `{collMod: "v", ` + o.name + `: ` + o.value + `}`, Code: 72, Text: "option not supported on a view: " + o.name})
	}
	h.Refuses(append(list, []harness.Refusal{
		{DB: "test", Command: `{collMod: "v", validator: {}, cappedSize: 4096}`, Code: 72, Text: "option not supported on a view: cappedSize"},
		{DB: "test", Command: `{collMod: "v", viewOn: "v"}`, Code: 5, Text: "View cycle detected*"},
		{DB: "test", Command: `{collMod: "v", viewOn: ""}`, Code: 2},
		{DB: "test", Command: `{collMod: "v", pipeline: [{$out: "x"}]}`, Code: 167},
		{DB: "test", Command: `{collMod: "v", pipeline: [{$fly: 1}]}`, Code: 40324},
		{DB: "test", Command: `{collMod: "c", viewOn: "d"}`, Code: 72, Text: "option only supported on a view: viewOn"},
		{DB: "test", Command: `{collMod: "c", pipeline: []}`, Code: 72, Text: "option only supported on a view: pipeline"},
		{DB: "test", Command: `{collMod: "w", viewOn: "c", pipeline: []}`, Code: 26, Text: "ns does not exist*"},
	}...))
	h.Holds("v", `{_id: 1, a: 1} {_id: 2, a: 2}`)
}
