package write_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// An unknown stage fails the whole update command before its first statement; a stage that
// is not allowed in updates fails only its statement.
func TestUpdateUnknownStage(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.Fails(40324, `{update: "c", updates: [{q: {}, u: {$set: {a: 1}}}, {q: {}, u: [{$invalidOperator: true}]}]}`)
	h.Fails(40323, `{update: "c", updates: [{q: {}, u: [{}]}]}`)
	if n := h.OK(`{count: "c", query: {a: 1}}`).Lookup("n").SafeInt64(); n != 0 {
		t.Error("a statement before the unknown stage took effect")
	}
	reply := h.Run(`{update: "c", updates: [{q: {}, u: [{$lookup: {from: "c", as: "x", pipeline: []}}]}]}`)
	if reply.Lookup("writeErrors").Kind().String() != "array" {
		t.Errorf("a stage not allowed in updates: %s", reply)
	}
}
