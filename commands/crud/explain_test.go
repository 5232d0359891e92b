package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The explain of a write shows its stage and its effect, and writes nothing
// (reference/command/explain; reference/explain-results).
func TestExplainedWrites(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
	const left = `{_id: 1, a: 1} {_id: 2, a: 1}`
	for _, tt := range []struct {
		command, stage, field string
		would                 int64
	}{
		{`{update: "c", updates: [{q: {a: 1}, u: {$set: {a: 2}}, multi: true}]}`, "UPDATE", "nWouldModify", 2},
		{`{update: "c", updates: [{q: {a: 1}, u: {$set: {a: 2}}}]}`, "UPDATE", "nWouldModify", 1},
		{`{update: "c", updates: [{q: {_id: 9}, u: {$set: {a: 2}}, upsert: true}]}`, "UPDATE", "nWouldUpsert", 1},
		{`{delete: "c", deletes: [{q: {a: 1}, limit: 0}]}`, "DELETE", "nWouldDelete", 2},
		{`{delete: "c", deletes: [{q: {_id: 2}, limit: 1}]}`, "DELETE", "nWouldDelete", 1},
		{`{findAndModify: "c", query: {a: 1}, update: [{$set: {b: "$a"}}]}`, "UPDATE", "nWouldModify", 1},
		{`{findAndModify: "c", query: {a: 1}, remove: true}`, "DELETE", "nWouldDelete", 1},
	} {
		reply := h.OK(`{explain: ` + tt.command + `, verbosity: "executionStats"}`)
		stage := reply.Lookup("executionStats").Doc().Lookup("executionStages").Doc()
		if stage.Lookup("stage").Str() != tt.stage || stage.Lookup(tt.field).SafeInt64() != tt.would {
			t.Errorf("%s: %s, want %s with %s %d", tt.command, stage, tt.stage, tt.field, tt.would)
		}
		h.Holds("c", left)
	}
}

// explain refuses invalid writes with the same errors as the commands.
func TestExplainedWritesRefuse(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	const other = `collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}`
	test := func(command string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: `{explain: ` + command + `}`, Code: code, Text: text}
	}
	h.Refuses([]harness.Refusal{
		test(`{update: "c", updates: [{q: {}, u: {}}], foo: 1}`, 40415, "BSON field 'update.foo' is an unknown field."),
		test(`{update: "c", updates: [{q: {}, u: {}}, {q: {}, u: {}}]}`, 16, "explained write batches must be of size 1"),
		test(`{update: "c", updates: [{q: {}}]}`, 40414, "BSON field 'update.updates.u' is missing but a required field"),
		test(`{update: "", updates: [{q: {}, u: {}}]}`, 73, ""),
		test(`{update: "c", updates: [{q: {}, u: {}}], `+other+`}`, 361, ""),
		test(`{update: "v", updates: [{q: {}, u: {$set: {a: 1}}}]}`, 166, "Namespace test.v is a view, not a collection"),
		test(`{update: "c", updates: [{q: {$bad: 1}, u: {$set: {a: 1}}}]}`, 2, ""),
		test(`{update: "c", updates: [{q: {}, u: {$bad: {a: 1}}}]}`, 9, "Unknown modifier: $bad. Expected a valid update modifier or pipeline-style update specified as an array"),
		test(`{delete: "c", deletes: [{q: {}, limit: 1}], foo: 1}`, 40415, "BSON field 'delete.foo' is an unknown field."),
		test(`{delete: "c", deletes: [{q: {}, limit: 1}, {q: {}, limit: 1}]}`, 16, "explained write batches must be of size 1"),
		test(`{delete: "c", deletes: [{q: {}}]}`, 40414, "BSON field 'delete.deletes.limit' is missing but a required field"),
		test(`{delete: "", deletes: [{q: {}, limit: 1}]}`, 73, ""),
		test(`{delete: "c", deletes: [{q: {}, limit: 1}], `+other+`}`, 361, ""),
		test(`{findAndModify: "c", remove: true, foo: 1}`, 40415, "BSON field 'findAndModify.foo' is an unknown field."),
		test(`{findAndModify: "c"}`, 9, "Either an update or remove=true must be specified"),
		test(`{findAndModify: "", remove: true}`, 73, ""),
	})
	h.Holds("c", `{_id: 1}`)
}
