package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Replies and documents of several statements at once (reference/command/update).
func TestUpdateStatements(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, command, reply, left string }{
		{
			"upserts are listed with their index",
			`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}, {q: {_id: 7}, u: {a: 1}, upsert: true}, {q: {b: 1, _id: 8}, u: {$set: {a: 1}}, upsert: true}]}`,
			`{n: 3, nModified: 1, upserted: [{index: 1, _id: 7}, {index: 2, _id: 8}]}`, `{_id: 1, a: 2} {_id: 2, a: 1} {_id: 7, a: 1} {_id: 8, b: 1, a: 1}`,
		},
		{
			"unordered goes on after an error",
			`{update: "c", ordered: false, updates: [{q: {_id: 1}, u: {$set: {_id: 5}}}, {q: {_id: 2}, u: {$set: {a: 2}}}]}`,
			`{n: 1, nModified: 1}`, `{_id: 1, a: 1} {_id: 2, a: 2}`,
		},
		{
			"ordered stops",
			`{update: "c", updates: [{q: {_id: 1}, u: {$set: {_id: 5}}}, {q: {_id: 2}, u: {$set: {a: 2}}}]}`,
			`{n: 0, nModified: 0}`, `{_id: 1, a: 1} {_id: 2, a: 1}`,
		},
		{
			"constants of a pipeline, without and with let",
			`{update: "c", let: {l: 3}, updates: [{q: {_id: 1}, u: [{$set: {a: "$$k"}}], c: {k: 5}}, {q: {_id: 2}, u: [{$set: {a: {$add: ["$$k", "$$l"]}}}], c: {k: 5}}]}`,
			`{n: 2, nModified: 2}`, `{_id: 1, a: 5} {_id: 2, a: 8}`,
		},
		{
			"constants without let",
			`{update: "c", updates: [{q: {_id: 1}, u: [{$set: {a: "$$k"}}], c: {k: 5}}]}`,
			`{n: 1, nModified: 1}`, `{_id: 1, a: 5} {_id: 2, a: 1}`,
		},
		{
			"upsert of a pipeline",
			`{update: "c", updates: [{q: {_id: 3}, u: [{$set: {a: {$add: ["$_id", 1]}}}], upsert: true}]}`,
			`{n: 1, nModified: 0, upserted: [{index: 0, _id: 3}]}`, `{_id: 1, a: 1} {_id: 2, a: 1} {_id: 3, a: 4}`,
		},
		{
			"nothing matches",
			`{update: "none", updates: [{q: {_id: 3}, u: {$set: {a: 1}}}]}`,
			`{n: 0, nModified: 0}`, `{_id: 1, a: 1} {_id: 2, a: 1}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
			reply := h.Run(tt.command)
			for name, want := range harness.Relaxed(tt.reply).All() {
				if got := reply.Lookup(name); got.String() != want.String() {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			if want := harness.Relaxed(tt.reply); reply.Has("upserted") != want.Has("upserted") {
				t.Errorf("answered %s", reply)
			}
			h.Holds("c", tt.left)
		})
	}
}

// Updates that are refused leave the documents unchanged. If the collectionUUID is not
// the collection's, the code is CollectionUUIDMismatch.
func TestRefusedUpdates(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	const other = `collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}`
	test := func(command string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: command, Code: code, Text: text}
	}
	update := func(statement string, code int32, text string) harness.Refusal {
		return test(`{update: "c", updates: [`+statement+`]}`, code, text)
	}
	h.Refuses([]harness.Refusal{
		test(`{update: "c", updates: [{q: {}, u: {a: 1}}], `+other+`}`, 361, ""),
		test(`{delete: "c", deletes: [{q: {}, limit: 1}], `+other+`}`, 361, ""),
		test(`{find: "c", `+other+`}`, 361, ""),
		test(`{delete: "c", deletes: [{q: {}, limit: 1}], foo: 1}`, 40415, "BSON field 'delete.foo' is an unknown field."),
		test(`{delete: "", deletes: [{q: {}, limit: 1}]}`, 73, ""),
		test(`{update: "c", updates: [{q: {}, u: {a: 1}}], foo: 1}`, 40415, "BSON field 'update.foo' is an unknown field."),
		test(`{update: "", updates: [{q: {}, u: {a: 1}}]}`, 73, ""),
		update(`{q: {}, u: [{$foo: 1}]}`, 40324, "Unrecognized pipeline stage name: '$foo'"),
		update(`{q: {}, u: [{$match: {}}]}`, 72, "$match is not allowed to be used within an update"),
		update(`{q: {}, u: [{$set: {a: "$$none"}}]}`, 17276, "Invalid $set :: caused by :: Use of undefined variable: none"),
		update(`{q: {}, u: [{$set: {a: "$$k"}}], c: {k: "$$none"}}`, 17276, ""),
		update(`{q: {a: {$foo: 1}}, u: {$set: {a: 1}}}`, 2, "unknown operator: $foo"),
		update(`{q: {a: 1}, u: {$set: {a: 1}}, collation: {locale: "xx"}}`, 2, ""),
		update(`{q: {_id: 1}, u: {$set: {a: 1}}, sort: {b: 7}}`, 15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)"),
		update(`{q: {_id: 1}, u: {$set: {"a.$[i]": 1}}, arrayFilters: [1]}`, 14, ""),
		update(`{q: {_id: 9}, u: {$set: {"_id": 8}}, upsert: true}`, 66, ""),
		update(`{q: {_id: 9}, u: {$set: {a: 1}, $inc: {"a.b": 1}}, upsert: true}`, 40, ""),
		update(`{q: {_id: {$a: 1}}, u: {b: 1}, upsert: true}`, 2, ""),
		update(`{q: {_id: [1]}, u: {b: 1}, upsert: true}`, 53, ""),
		test(`{findAndModify: "system.profile", remove: true}`, 73, "cannot write to test.system.profile"),
		test(`{findAndModify: "", remove: true}`, 73, ""),
		test(`{findAndModify: "c", update: [], arrayFilters: [{i: 1}]}`, 9, "Cannot specify arrayFilters and a pipeline update"),
		test(`{findAndModify: "c", update: {$set: {a: 1}}, fields: {a: 1, b: 0}}`, 31254, "Cannot do exclusion on field b in inclusion projection"),
		test(`{findAndModify: "c", update: {$set: {a: 1}}, fields: {x: {$divide: [1, 0]}}}`, 2, ""),
	})
	h.Holds("c", `{_id: 1, a: 1}`)
}

// Updates of measurements may use only the metaField and need multi; others are refused
// with mongod's InvalidOptions (core/timeseries/timeseries-limitations).
func TestUpdateMeasurements(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [{_id: 1, t: {$date: "2026-01-01T00:00:00Z"}, m: "x"}, {_id: 2, t: {$date: "2026-01-01T00:00:01Z"}, m: "y"}]}`)
	if r := h.OK(`{update: "s", updates: [{q: {m: "x"}, u: {$set: {m: "z"}}, multi: true}]}`); r.Lookup("nModified").Int32() == 0 {
		t.Errorf("answered %s", r)
	}
	h.Finds(`{find: "s", filter: {m: "z"}, projection: {_id: 1}}`, `[{"_id": 1}]`)
	h.Fails(72, `{update: "s", updates: [{q: {m: "y"}, u: {$set: {v: 1}}, multi: true}]}`)
	h.OK(`{delete: "s", deletes: [{q: {m: "z"}, limit: 0}]}`)
	h.Finds(`{find: "s", projection: {_id: 1}}`, `[{"_id": 2}]`)
}

// Only the commands of queues change messages.
func TestQueuesAreNotUpdated(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "q", messageQueue: {}}`)
	for _, command := range []string{
		`{update: "q", updates: [{q: {}, u: {$set: {a: 1}}}]}`,
		`{findAndModify: "q", update: {$set: {a: 1}}}`,
	} {
		h.Fails(20, command)
	}
}
