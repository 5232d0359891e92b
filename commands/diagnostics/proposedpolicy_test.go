package diagnostics_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// proposed shows the counts of explainExpiry for a policy: of how many documents, how many have a
// date and how many are overdue.
func proposed(h *harness.Harness, command string) string {
	h.Helper()
	r := h.OK(command)
	text := fmt.Sprintf("%d: %d dated, %d overdue", r.Lookup("examined").SafeInt64(), r.Lookup("dated").SafeInt64(), r.Lookup("overdue").SafeInt64())
	if !r.Lookup("complete").Bool() {
		text += ", incomplete"
	}
	return text
}

// The start of the tests is 2026-01-01T00:00:00Z. What a proposal says is overdue is what a pass
// removes when the policy has been set.
func TestProposedPolicies(t *testing.T) {
	t.Parallel()
	const carts = `{insert: "c", documents: [
		{_id: 1, x: {$date: "2025-12-31T23:00:00Z"}, ttl: 5},
		{_id: 2, x: {$date: "2025-12-31T23:00:00.001Z"}},
		{_id: 3, x: [{$date: "2030-01-01T00:00:00Z"}, {$date: "1960-01-01T00:00:00Z"}, 7], z: 1},
		{_id: 4, x: "2025-01-01", ttl: -1}, {_id: 5, x: null}, {_id: 6, x: []}, {_id: 7, y: {d: {$date: "2020-01-01T00:00:00Z"}}}]}`
	for _, tt := range []struct {
		name    string
		setup   []string
		seconds int64 // until the policy is set
		policy  string
		set     string
		want    string
	}{
		{"TTL index", []string{carts}, 0, `{key: {x: 1}, expireAfterSeconds: 3600}`,
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 3600}]}`, "7: 3 dated, 2 overdue"},
		{"descending TTL index", []string{carts}, 0, `{key: {x: -1}, name: "down", expireAfterSeconds: 3599}`,
			`{createIndexes: "c", indexes: [{key: {x: -1}, name: "down", expireAfterSeconds: 3599}]}`, "7: 3 dated, 3 overdue"},
		{"partial TTL index", []string{carts}, 0, `{key: {x: 1}, expireAfterSeconds: 0, partialFilterExpression: {z: 1}}`,
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 0, partialFilterExpression: {z: 1}}]}`, "7: 1 dated, 1 overdue"},
		{"TTL index on a path", []string{carts}, 0, `{key: {"y.d": 1}, expireAfterSeconds: 0}`,
			`{createIndexes: "c", indexes: [{key: {"y.d": 1}, name: "y", expireAfterSeconds: 0}]}`, "7: 1 dated, 1 overdue"},
		{"a field without dates", []string{carts}, 0, `{key: {nothing: 1}, expireAfterSeconds: 0}`,
			`{createIndexes: "c", indexes: [{key: {nothing: 1}, name: "n", expireAfterSeconds: 0}]}`, "7: 0 dated, 0 overdue"},
		{"hashed TTL index, which expires nothing", []string{carts}, 0, `{key: {_id: "hashed"}, expireAfterSeconds: 0}`,
			`{createIndexes: "c", indexes: [{key: {_id: "hashed"}, name: "x", expireAfterSeconds: 0}]}`, "7: 0 dated, 0 overdue"},
		{"other seconds of a TTL index, beside another", []string{carts,
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 2000000000}, {key: {"y.d": 1}, name: "y", expireAfterSeconds: 2000000000}]}`},
			0, `{key: {x: 1}, name: "x_1", expireAfterSeconds: 3600}`, `{collMod: "c", index: {name: "x_1", expireAfterSeconds: 3600}}`, "7: 3 dated, 2 overdue"},
		{"document TTL", []string{carts}, 10, `{documentTtl: {default: 10}}`, `{collMod: "c", documentTtl: {default: 10}}`, "7: 6 dated, 6 overdue"},
		{"document TTL without a default", []string{carts}, 10, `{documentTtl: {default: -1}}`, `{collMod: "c", documentTtl: {default: -1}}`, "7: 1 dated, 1 overdue"},
		{"a longer document TTL: what is hidden stays hidden", []string{`{create: "c", documentTtl: {default: 10}}`, carts}, 6,
			`{documentTtl: {default: 11}}`, `{collMod: "c", documentTtl: {default: 11}}`, "6: 5 dated, 0 overdue"},
		{"TTL index on _ts", []string{carts}, 9, `{key: {_ts: 1}, expireAfterSeconds: 9}`,
			`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 9}]}`, "7: 6 dated, 6 overdue"},
		{"clustered", []string{`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}}`,
			`{insert: "c", documents: [{_id: {$date: "2025-12-31T23:00:00Z"}}, {_id: {$date: "1969-12-31T00:00:00Z"}}, {_id: 1}, {_id: {$date: "2026-01-01T00:00:00Z"}}]}`},
			0, `{expireAfterSeconds: 3600}`, `{collMod: "c", expireAfterSeconds: 3600}`, "4: 2 dated, 1 overdue"},
		{"measurements with their buckets", []string{`{create: "c", timeseries: {timeField: "t", metaField: "m"}}`,
			`{insert: "c", documents: [{t: {$date: "2025-12-31T20:00:00Z"}, m: 1}, {t: {$date: "2025-12-31T20:30:00Z"}, m: 1}, {t: {$date: "2025-12-31T22:30:00Z"}, m: 1}, {t: {$date: "1969-12-31T00:00:00Z"}, m: 1}]}`},
			0, `{expireAfterSeconds: 3600}`, `{collMod: "c", expireAfterSeconds: 3600}`, "4: 4 dated, 3 overdue"},
		{"partial TTL index of a time series", []string{`{create: "c", timeseries: {timeField: "t", metaField: "m"}}`,
			`{insert: "c", documents: [{t: {$date: "2025-12-31T20:00:00Z"}, m: 1}, {t: {$date: "2025-12-31T20:00:00Z"}, m: 9}]}`},
			0, `{key: {t: 1}, expireAfterSeconds: 1, partialFilterExpression: {m: {$gt: 5}}}`,
			`{createIndexes: "c", indexes: [{key: {t: 1}, name: "t_1", expireAfterSeconds: 1, partialFilterExpression: {m: {$gt: 5}}}]}`, "2: 1 dated, 1 overdue"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t)
			for _, command := range tt.setup {
				h.OK(command)
			}
			h.Advance(tt.seconds)
			question := fmt.Sprintf(`{explainExpiry: "c", policy: %s}`, tt.policy)
			before := h.OK(question)
			if got := proposed(h, question); got != tt.want {
				t.Fatalf("got  %s\nwant %s", got, tt.want)
			}
			h.OK(tt.set)
			h.Pass(0)
			if got, want := int64(h.Count("c")), before.Lookup("examined").SafeInt64()-before.Lookup("overdue").SafeInt64(); got != want {
				t.Errorf("a pass has left %d documents, not %d", got, want)
			}
		})
	}
}

func TestProposedPolicyErrors(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, x: {$date: "2020-01-01T00:00:00Z"}}, {_id: 2}, {_id: 3}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	for _, e := range []struct {
		code          int32
		coll, options string
	}{
		{26, "none", `policy: {documentTtl: {default: 1}}`},
		{166, "v", `policy: {documentTtl: {default: 1}}`},
		{9, "c", `policy: {}`},
		{9, "c", `policy: {key: {x: 1}}`},
		{9, "c", `policy: {documentTtl: "off"}`},
		{9, "c", `_id: 1, policy: {documentTtl: {default: 1}}`},
		{9, "c", `_id: 1, limit: 1`},
		{2, "c", `policy: {documentTtl: {default: 1}}, limit: 0`},
		{2, "c", `policy: {documentTtl: {default: 0}}`},
		{72, "c", `policy: {expireAfterSeconds: 1}`},
		{67, "c", `policy: {key: {x: 1, y: 1}, expireAfterSeconds: 1}`},
		{67, "c", `policy: {key: {x: 1}, expireAfterSeconds: -1}`},
		{67, "c", `policy: {key: {_ts: 1}, expireAfterSeconds: 0}`},
		{67, "q", `policy: {key: {x: 1}, expireAfterSeconds: 1}`},
		{72, "q", `policy: {documentTtl: {default: 1}}`},
		{72, "s", `policy: {documentTtl: {default: 1}}`},
		{72, "s", `policy: {key: {m: 1}, expireAfterSeconds: 1}`},
	} {
		h.Fails(e.code, fmt.Sprintf(`{explainExpiry: %q, %s}`, e.coll, e.options))
	}
	for limit, want := range map[int]string{1: "1: 1 dated, 1 overdue, incomplete", 2: "2: 1 dated, 1 overdue, incomplete", 3: "3: 1 dated, 1 overdue", 4: "3: 1 dated, 1 overdue"} {
		if got := proposed(h, fmt.Sprintf(`{explainExpiry: "c", policy: {key: {x: 1}, expireAfterSeconds: 1}, limit: %d}`, limit)); got != want {
			t.Errorf("limit %d: got %s, want %s", limit, got, want)
		}
	}
}
