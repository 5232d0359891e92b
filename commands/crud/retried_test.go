package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// A retried findAndModify has the same result as the first attempt; one that differs from
// the first attempt is refused, with the codes of mongod's
// validateFindAndModifyRetryability.
func TestRetriedFindAndModify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		first, again string
		code         int32
	}{
		{`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}}`, ``, 0},
		{`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}, new: true, fields: {a: 1, _id: 0}}`, ``, 0},
		{`{findAndModify: "c", query: {_id: 1}, remove: true, fields: {_id: 1}}`, ``, 0},
		{`{findAndModify: "c", query: {_id: 9}, update: {$inc: {a: 1}}, upsert: true, new: true}`, ``, 0},
		{`{findAndModify: "c", query: {_id: 1}, remove: true}`, `{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}}`, 40606},
		{`{findAndModify: "c", query: {_id: 9}, update: {$inc: {a: 1}}, upsert: true}`, `{findAndModify: "c", query: {_id: 9}, update: {$inc: {a: 1}}}`, 40608},
		{`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}}`, `{findAndModify: "c", query: {_id: 1}, remove: true}`, 40609},
	} {
		h := harness.New(t).AsMember()
		h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: "x"}]}`)
		first := h.OK(harness.RetryArgs(tt.first, 1))
		left := harness.Docs(h.OK(`{find: "c"}`))
		if tt.code != 0 {
			h.Fails(tt.code, harness.RetryArgs(tt.again, 1))
		} else {
			again := h.OK(harness.RetryArgs(tt.first, 1))
			for _, name := range []string{"lastErrorObject", "value"} {
				if first.Lookup(name).String() != again.Lookup(name).String() {
					t.Errorf("%s: %s, sent again %s", tt.first, first, again)
				}
			}
			if first.Has("retriedStmtId") || again.Lookup("retriedStmtId").Int32() != 0 || !again.Has("retriedStmtId") {
				t.Errorf("%s: %s, sent again %s", tt.first, first, again)
			}
		}
		after := harness.Docs(h.OK(`{find: "c"}`))
		if len(left) != len(after) || len(left) > 0 && left[0].String() != after[0].String() {
			t.Errorf("%s sent again left %v of %v", tt.first, after, left)
		}
	}
}

// Writes to many documents cannot be retried.
func TestRetryableWritesAreSingle(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	for i, tt := range []struct{ db, command, text string }{
		{"test", `{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, multi: true}]}`, "multi=true"},
		{"test", `{delete: "c", deletes: [{q: {}, limit: 0}]}`, "limit=0"},
		{"admin", `{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {$set: {a: 1}}, multi: true}], nsInfo: [{ns: "test.c"}]}`, "multi=true"},
		{"admin", `{bulkWrite: 1, ops: [{delete: 0, filter: {}, multi: true}], nsInfo: [{ns: "test.c"}]}`, "multi=true"},
	} {
		h.Refuses([]harness.Refusal{{
			DB: tt.db, Command: harness.RetryArgs(tt.command, i+1), Code: 72, Text: "Cannot use (or request) retryable writes with " + tt.text,
		}})
	}
	h.Holds("c", `{_id: 1}`)
	retried := harness.RetryArgs(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}, {q: {_id: 2}, limit: 1}]}`, 9)
	for range 2 {
		if r := h.OK(retried); r.Lookup("n").Int32() != 1 {
			t.Errorf("answered %s", r)
		}
	}
}
