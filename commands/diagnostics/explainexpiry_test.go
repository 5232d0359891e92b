package diagnostics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// after shows an instant as seconds from the start of the tests.
func after(v value.Value) string {
	if v.Kind() != value.KindDateTime {
		return "never"
	}
	return fmt.Sprint((v.DateTime() - harness.TestStart.UnixMilli()) / 1000)
}

// explained shows each policy of explainExpiry, and the effective one.
func explained(h *harness.Harness, command string) string {
	h.Helper()
	reply := h.OK(command)
	var parts []string
	for v := range reply.Lookup("policies").Doc().Values() {
		d := v.Doc()
		text := d.Lookup("policy").Str()
		if why := d.Lookup("never"); why.Kind() == value.KindString {
			parts = append(parts, text+" never: "+why.Str())
			continue
		}
		text += ": " + d.Lookup("formula").Str() + " = " + after(d.Lookup("expiresAt")) + " by " + after(d.Lookup("removedBy"))
		if to := d.Lookup("movesTo"); to.Kind() == value.KindString {
			text += " to " + to.Str()
		}
		parts = append(parts, text)
	}
	if e := reply.Lookup("effective").Doc(); e != nil {
		parts = append(parts, "→ "+e.Lookup("policy").Str()+" "+after(e.Lookup("expiresAt")))
	}
	return strings.Join(parts, "; ")
}

// The expected instants follow from semantics.md: §3.4, §5, §6.3, §7.1 and §9.2; a pass
// runs each 60 s.
func TestExplainExpiryOfEachPolicy(t *testing.T) {
	t.Parallel()
	const find = `{explainExpiry: "c", _id: 1}`
	for _, tt := range []struct {
		name     string
		setup    []string
		command  string
		want     string
		instants string // {$meta: "expiresAt"} of all documents in the order of a sort by it
	}{
		{"two TTL indexes and an array", []string{
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}, {key: {y: -1}, name: "y_-1", expireAfterSeconds: 0}]}`,
			`{insert: "c", documents: [{_id: 1, x: [{$date: "2026-01-01T00:01:30Z"}, {$date: "2026-01-01T00:01:00Z"}, 5], y: {$date: "2026-01-01T01:00:00Z"}}, {_id: 2, x: "no"}, {_id: 3, y: {$date: "2026-01-01T00:00:05Z"}}]}`,
		}, find, `ttl: x + 10 s (expireAfterSeconds) = 70 by 130; ttl: y + 0 s (expireAfterSeconds) = 3600 by 3660; → ttl 70`, "3 5, 1 70, 2 never"},
		{"partial index", []string{
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10, partialFilterExpression: {z: 1}}]}`,
			`{insert: "c", documents: [{_id: 1, x: {$date: "2026-01-01T00:00:00Z"}}, {_id: 2, z: 1, x: {$date: "2026-01-01T00:00:00Z"}}]}`,
		}, find, `ttl never: the index has no date of the document in "x"`, "2 10, 1 never"},
		{"clustered", []string{
			`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`,
			`{insert: "c", documents: [{_id: {$date: "2026-01-01T00:00:20Z"}}, {_id: {$date: "1969-12-31T00:00:00Z"}}]}`,
		}, `{explainExpiry: "c", _id: {$date: "2026-01-01T00:00:20Z"}}`, `clustered: _id + 10 s (expireAfterSeconds) = 30 by 60; → clustered 30`, ""},
		{"time series", []string{
			`{create: "c", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 10}`,
			`{insert: "c", documents: [{_id: 1, t: {$date: "2026-01-01T00:00:59Z"}}, {_id: 2, t: {$date: "2026-01-01T02:00:00Z"}}]}`,
		}, find, `timeseries: control.min.t + 3600 s (bucketMaxSpanSeconds) + 10 s (expireAfterSeconds) = 3610 by 3670; → timeseries 3610`, "1 3610, 2 10810"},
		{"document TTL and its dead-letter collection", []string{
			`{create: "c", documentTtl: {default: 1000}, onExpire: {deadLetterTo: "gone"}}`,
			`{insert: "c", documents: [{_id: 1}, {_id: 2, ttl: 5}, {_id: 3, ttl: -1}]}`,
		}, find, `documentTtl: _ts + 1000 s (default) = 1000 by 1060 to test.gone; → documentTtl 1000`, "2 5, 1 1000, 3 never"},
		{"document TTL of its own", []string{
			`{create: "c", documentTtl: {default: -1}}`,
			`{insert: "c", documents: [{_id: 1, ttl: 30}, {_id: 2}]}`,
		}, find, `documentTtl: _ts + ttl = 30 by 60; → documentTtl 30`, "1 30, 2 never"},
		{"document TTL that does not apply", []string{
			`{create: "c", documentTtl: {default: 10}}`,
			`{insert: "c", documents: [{_id: 1, ttl: -1}]}`,
		}, find, `documentTtl never: the document's ttl is -1`, "1 never"},
		{"document TTL and a TTL index", []string{
			`{create: "c", documentTtl: {default: 10}}`,
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`,
			`{insert: "c", documents: [{_id: 1, x: {$date: "2025-01-01T00:00:00Z"}}]}`,
		}, find, `ttl: x + 10 s (expireAfterSeconds) = -31535990 by 60; documentTtl: _ts + 10 s (default) = 10 by 60; → ttl -31535990`, "1 -31535990"},
		{"capped with a TTL index", []string{
			`{create: "c", capped: true, size: 10000}`,
			`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`,
			`{insert: "c", documents: [{_id: 1, x: {$date: "2026-01-01T00:02:00Z"}}]}`,
		}, find, `ttl: x + 10 s (expireAfterSeconds) = 130 by 190; → ttl 130`, "1 130"},
		{"queue", []string{
			`{create: "c", messageQueue: {defaultMessageTimeToLive: 100, deadLetteringOnMessageExpiration: true, autoDeleteOnIdle: 300}}`,
			`{insert: "c", documents: [{_id: 1}, {_id: 2, _mq: {timeToLive: 5}}]}`,
		}, find, `messageQueue: _mq.enqueuedTimeUtc + _mq.timeToLive = 100 by 160 to test.c.deadletterqueue; messageQueue: lastActivityUtc + autoDeleteOnIdle = 300 by 360; → messageQueue 100`, "2 5, 1 100"},
		{"nothing expires", []string{`{insert: "c", documents: [{_id: 1}]}`}, find, "", "1 never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t)
			for _, command := range tt.setup {
				h.OK(command)
			}
			if got := explained(h, tt.command); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if tt.instants == "" {
				return
			}
			for _, command := range []string{
				`{find: "c", projection: {at: {$meta: "expiresAt"}}, sort: {at: {$meta: "expiresAt"}, _id: 1}}`,
				`{find: "c", projection: {at: {$meta: "expiresAt"}, _id: 1}, sort: {s: {$meta: "expiresAt"}, _id: 1}}`,
				`{aggregate: "c", pipeline: [{$set: {at: {$meta: "expiresAt"}}}, {$sort: {at: {$meta: "expiresAt"}, _id: 1}}], cursor: {}}`,
				`{aggregate: "c", pipeline: [{$sort: {x: {$meta: "expiresAt"}, _id: 1}}, {$project: {at: {$meta: "expiresAt"}}}], cursor: {}}`,
			} {
				var got []string
				for _, d := range harness.Docs(h.OK(command)) {
					got = append(got, fmt.Sprint(d.Lookup("_id").SafeInt64())+" "+after(d.Lookup("at")))
				}
				if all := strings.Join(got, ", "); all != tt.instants {
					t.Errorf("%s: %s\nwant %s", command, all, tt.instants)
				}
			}
		})
	}
}

// An index that covers a query does not answer when a document expires, and a group over
// measurements sees the instant of each bucket.
func TestExpiresAtNeedsRecords(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, x: {$date: "2026-01-01T00:01:00Z"}}]}`)
	for _, command := range []string{
		`{find: "c", filter: {a: 1}, projection: {_id: 0, a: 1, at: {$meta: "expiresAt"}}}`,
		`{aggregate: "c", pipeline: [{$match: {a: 1}}, {$project: {_id: 0, a: 1, at: {$meta: "expiresAt"}}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$match: {a: 1}}, {$set: {e: {$meta: "expiresAt"}}}, {$group: {_id: "$a", at: {$max: "$e"}}}], cursor: {}}`,
	} {
		if docs := harness.Docs(h.OK(command)); len(docs) != 1 || after(docs[0].Lookup("at")) != "70" {
			t.Errorf("%s: %v", command, docs)
		}
	}
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 10}`)
	h.OK(`{insert: "s", documents: [{m: 1, t: {$date: "2026-01-01T00:00:00Z"}}, {m: 1, t: {$date: "2026-01-01T02:00:00Z"}}]}`)
	docs := harness.Docs(h.OK(`{aggregate: "s", pipeline: [{$set: {e: {$meta: "expiresAt"}}}, {$group: {_id: "$m", first: {$min: "$e"}, last: {$max: "$e"}}}], cursor: {}}`))
	if len(docs) != 1 || after(docs[0].Lookup("first")) != "3610" || after(docs[0].Lookup("last")) != "10810" {
		t.Errorf("of a time series: %v", docs)
	}
	if got := h.Fails(17308, `{find: "c", projection: {at: {$meta: "expires"}}}`); !strings.Contains(got, "Unsupported $meta field: expires") {
		t.Error(got)
	}
}

func TestExplainExpiryErrors(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 5}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Fails(26, `{explainExpiry: "none", _id: 1}`)
	h.Fails(47, `{explainExpiry: "c", _id: 2}`)
	h.Fails(9, `{explainExpiry: "c"}`)
	h.Fails(9, `{explainExpiry: "c", _id: 1, filter: {}}`)
	h.Fails(166, `{explainExpiry: "v", _id: 1}`)
	h.Fails(73, `{explainExpiry: 1, _id: 1}`)
	if got := explained(h, `{explainExpiry: "c", filter: {_id: {$gt: 0}}}`); !strings.Contains(got, "→ documentTtl 5") {
		t.Error(got)
	}
	h.Advance(5)
	h.Fails(47, `{explainExpiry: "c", _id: 1}`) // it is invisible
}

// on runs a command on a database.
func on(h *harness.Harness, db, command string) {
	h.Helper()
	if reply := h.RunOn(db, harness.Relaxed(command)); reply.Lookup("ok").AsDouble() != 1 {
		h.Fatalf("%s: %s", command, reply)
	}
}

// A forecast of all databases, with the first due documents of all collections.
func TestForecastOfAllDatabases(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, db := range []string{"one", "two"} {
		on(h, db, `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`)
	}
	on(h, "one", `{insert: "c", documents: [{_id: 1, x: [{$date: "2026-01-01T00:00:30Z"}, {$date: "2026-01-01T00:00:31Z"}]}, {_id: 2, x: {$date: "2026-01-01T01:00:30Z"}}]}`)
	on(h, "two", `{insert: "c", documents: [{_id: 3, x: {$date: "2026-01-01T00:00:10Z"}}]}`)
	on(h, "two", `{create: "d", documentTtl: {default: 25}}`)
	on(h, "two", `{insert: "d", documents: [{_id: 4}, {_id: 5, ttl: 1}]}`)
	on(h, "two", `{create: "q", messageQueue: {}}`)
	on(h, "two", `{insert: "q", documents: [{_id: 6, _mq: {timeToLive: 22}}, {_id: 7}]}`)
	h.Advance(2) // 5 is hidden, and a pass has not removed it
	reply := h.Admin(`{expirationStats: 1, list: 4}`)
	var got []string
	for v := range reply.Lookup("due").Doc().Values() {
		d := v.Doc()
		got = append(got, fmt.Sprint(d.Lookup("ns").Str(), " ", d.Lookup("_id").SafeInt64(), " ", d.Lookup("policy").Str(), " ", after(d.Lookup("dueAt"))))
	}
	if all := strings.Join(got, ", "); all != "two.c 3 ttl 20, two.q 6 messageQueue 22, two.d 4 documentTtl 25, one.c 1 ttl 40" {
		t.Errorf("due: %s", all)
	}
	got = nil
	for v := range reply.Lookup("collections").Doc().Values() {
		got = append(got, v.Doc().Lookup("ns").Str())
	}
	if all := strings.Join(got, " "); all != "one.c two.c two.d two.q" {
		t.Errorf("collections: %s", all)
	}
	policy := func(reply value.Doc) value.Doc {
		return reply.Lookup("collections").Doc().Index(0).Doc().Lookup("policies").Doc().Index(0).Doc()
	}
	if n := policy(reply).Lookup("histogram").Doc().Len(); n != 1 {
		t.Errorf("%d parts of the histogram, want only the one that is not empty", n)
	}
	if n := policy(h.Admin(`{expirationStats: 1, empty: true}`)).Lookup("histogram").Doc().Len(); n != 10 {
		t.Errorf("%d parts of the histogram, want all", n)
	}
	if reply.Lookup("nextPass").DateTime() != harness.TestStart.UnixMilli()+60_000 {
		t.Errorf("next pass %s", reply.Lookup("nextPass"))
	}
	h.Fails(2, `{expirationStats: 1, list: 0}`)
	h.Fails(2, `{expirationStats: 1, list: 1001}`)
}
