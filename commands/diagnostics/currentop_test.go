package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// TestIdleOps has cursors and transactions of two users, which each of them may
// see of the other only with the privilege inprog.
func TestIdleOps(t *testing.T) {
	h := newCursorHarness(t)
	h.User("bob", "readWrite@test")
	for _, name := range []string{"bob", "root"} {
		h.CursorOf(name, "test", `{find: "open", filter: {_id: {$gt: 0}}, batchSize: 2, comment: "mine"}`)
		if r := h.As(name, "test", harness.InTxnArgs(`{"insert": "open", "documents": [{"_id": "`+name+`"}]}`, 1, true)); !r.Lookup("ok").Truthy() {
			t.Fatal(r)
		}
	}
	stage := func(options string) string {
		return `{aggregate: 1, pipeline: [{$currentOp: ` + options + `}], cursor: {batchSize: 1000}}`
	}
	const txn, cur = "idleSession", "idleCursor test.open"
	for _, tt := range []struct{ name, command, want string }{
		{"bob", stage(`{}`), txn},
		{"bob", stage(`{idleSessions: false}`), ""},
		{"bob", stage(`{idleSessions: false, idleCursors: true}`), cur},
		{"bob", stage(`{idleCursors: true}`), txn + ", " + cur},
		{"ann", stage(`{idleCursors: true}`), ""},
		{"root", stage(`{idleCursors: true}`), txn + ", " + cur},
		{"root", stage(`{idleCursors: true, allUsers: true}`), txn + ", " + txn + ", " + cur + ", " + cur},
		{"bob", `{currentOp: 1, "$ownOps": true}`, txn},
		{"ann", `{currentOp: 1, "$ownOps": true}`, ""},
		{"root", `{currentOp: 1}`, txn + ", " + txn},
		{"root", `{currentOp: 1, "$all": true, type: "idleSession"}`, txn + ", " + txn},
		{"root", `{currentOp: 1, type: {$in: ["op"]}}`, ""},
		{"root", `{currentOp: 1, $or: [{type: "idleSession", "transaction.parameters.txnNumber": {$gte: 1}}]}`, txn + ", " + txn},
	} {
		if got := h.ShownOps(tt.name, tt.command); got != tt.want {
			t.Errorf("%s sees with %s: %q, want %q", tt.name, tt.command, got, tt.want)
		}
	}
	for _, command := range []string{`{currentOp: 1}`, stage(`{allUsers: true}`)} {
		if r := h.As("bob", "admin", command); r.Lookup("code").Int32() != 13 {
			t.Errorf("%s as bob answered %s", command, r)
		}
	}
	for _, d := range harness.Docs(h.As("bob", "admin", stage(`{idleSessions: false, idleCursors: true}`))) {
		if d.Lookup("type").Str() == "op" {
			continue
		}
		c := d.Lookup("cursor").Doc()
		if c.Lookup("cursorId").Int64() == 0 || c.Lookup("nDocsReturned").Int64() != 2 || c.Lookup("nBatchesReturned").Int64() != 1 || d.Lookup("planSummary").Str() != "IXSCAN { _id: 1 }" ||
			c.Lookup("originatingCommand").Doc().Lookup("comment").Str() != "mine" || c.Lookup("noCursorTimeout").Truthy() || c.Lookup("tailable").Truthy() || d.Lookup("host").Str() == "" {
			t.Errorf("the cursor is shown as %s", d)
		}
	}
}
