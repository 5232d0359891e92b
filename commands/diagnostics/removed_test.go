package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// What has expired counts for its collection, whether a pass removed it or a command that
// makes room for an index (semantics.md §12).
func TestExpirationStatsCountRemovals(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "a", documentTtl: {default: 5}, onExpire: {deadLetterTo: "dead"}}`)
	h.OK(`{create: "b", documentTtl: {default: 5}}`)
	for _, coll := range []string{"a", "b"} {
		h.OK(`{insert: "` + coll + `", documents: [{_id: 1}, {_id: 2}, {_id: 3, ttl: -1}]}`)
	}
	h.OK(`{createIndexes: "b", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 0}]}`)
	h.OK(`{insert: "b", documents: [{_id: 4, ttl: -1, at: {$date: "2025-01-01T00:00:00Z"}}]}`)
	h.Clock.AdvanceMillis(6000)
	h.OK(`{createIndexes: "a", indexes: [{key: {x: 1}, name: "x_1", unique: true, partialFilterExpression: {x: {$exists: true}}}]}`)
	counted := func(coll, policy, want string) {
		t.Helper()
		removed := h.OK(`{expirationStats: "` + coll + `"}`).Lookup("collections").Doc().Index(0).Doc().Lookup("removed").Doc()
		if got := removed.Lookup(policy).String(); got != want {
			t.Errorf("%s under %s: %s, want %s", coll, policy, got, want)
		}
	}
	two := `{ removed: 2, moved: 2 }`
	counted("a", "documentTtl", two)
	h.Pass(0)
	counted("a", "documentTtl", two)
	counted("b", "documentTtl", `{ removed: 2, moved: 0 }`)
	counted("b", "ttl", `{ removed: 1, moved: 0 }`)
}
