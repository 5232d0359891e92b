package diagnostics_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// A forecast has the collections in which something expires, with what is due and when;
// a time series goes by its own name (docs/operations.md, "Monitoring").
func TestExpirationForecast(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "plain"}`)
	h.OK(`{create: "series", timeseries: {timeField: "t"}, expireAfterSeconds: 3600}`)
	h.OK(`{create: "jobs", messageQueue: {defaultMessageTimeToLive: 60}}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 10}]}`)
	h.OK(`{insert: "c", documents: [{at: {$date: "2026-01-01T00:00:00Z"}}, {at: {$date: "2026-01-01T00:00:45Z"}}, {at: {$date: "2025-12-31T00:00:00Z"}}, {at: "never"}]}`)
	h.OK(`{mqSend: "jobs", messages: [{body: {a: 1}}]}`)

	var names []string
	for v := range h.OK(`{expirationStats: 1}`).Lookup("collections").Doc().Values() {
		names = append(names, v.Doc().Lookup("ns").Str())
	}
	if got := strings.Join(names, " "); got != "test.c test.jobs test.series" {
		t.Errorf("collections %s", got)
	}
	policy := h.OK(`{expirationStats: "c", horizonSeconds: 100, buckets: 2, empty: true}`).Lookup("collections").Doc().Index(0).Doc().Lookup("policies").Doc().Index(0).Doc()
	var counts []int64
	for v := range policy.Lookup("histogram").Doc().Values() {
		counts = append(counts, v.Doc().Lookup("count").SafeInt64())
	}
	if policy.Lookup("pending").SafeInt64() != 3 || policy.Lookup("overdue").SafeInt64() != 1 || len(counts) != 2 || counts[0] != 1 || counts[1] != 1 {
		t.Errorf("forecast %s, want 3 pending, of which 1 overdue, one in each half", policy)
	}
	queue := h.OK(`{expirationStats: "jobs"}`).Lookup("collections").Doc().Index(0).Doc()
	if queue.Lookup("messages").Kind() != value.KindDocument || queue.Lookup("policies").Doc().Len() != 3 {
		t.Errorf("of the queue: %s", queue)
	}
	size := h.OK(`{collStats: "c"}`).Lookup("size").SafeInt64()
	if got := h.OK(`{expirationStats: "c"}`).Lookup("collections").Doc().Index(0).Doc().Lookup("bytes").SafeInt64(); got != size || size == 0 {
		t.Errorf("%d bytes, collStats has %d", got, size)
	}
	if h.OK(`{expirationStats: "series"}`).Lookup("collections").Doc().Len() != 1 {
		t.Error("nothing is forecast of the time series")
	}
	if r := h.OK(`{expirationStats: "plain"}`); !r.Lookup("collections").Doc().IsEmpty() {
		t.Errorf("of a collection without expiry: %s", r)
	}
	h.Pass(0)
	if last := h.OK(`{expirationStats: "c"}`).Lookup("lastPass").Doc(); last.Lookup("at").DateTime() != h.Clock.NowMillis() {
		t.Errorf("the last pass is %s", last)
	}
}

// metrics.expiration.lag of serverStatus is how long after their expiry documents and
// messages were removed, by policy (semantics.md §12).
// TestForecastOfTopics: subscriptions are forecast as queues, topics by their scheduled
// messages and their idleness; what only receivers remove falls due in no pass.
func TestForecastOfTopics(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "t", messageTopic: {autoDeleteOnIdle: "PT30M"}}`)
	h.OK(`{create: "dead", messageQueue: {}}`)
	h.OK(`{create: "s", messageSubscription: {topic: "t", defaultMessageTimeToLive: 60, deadLetteringOnMessageExpiration: true, forwardDeadLetteredMessagesTo: "dead"}}`)
	h.OK(`{create: "kept", messageSubscription: {topic: "t", defaultMessageTimeToLive: 60, expireOnReceiveOnly: true}}`)
	h.OK(`{mqSend: "t", messages: [{_id: 1}]}`)
	pending := func(ns string) map[string]int64 {
		out := map[string]int64{}
		for c := range h.OK(`{expirationStats: 1}`).Lookup("collections").Doc().Values() {
			if c.Doc().Lookup("ns").Str() != ns {
				continue
			}
			for p := range c.Doc().Lookup("policies").Doc().Values() {
				out[p.Doc().Lookup("lane").Str()] = p.Doc().Lookup("pending").SafeInt64()
			}
		}
		return out
	}
	for ns, want := range map[string]map[string]int64{
		"test.t": {"expiry": 0, "lock": 0, "schedule": 0, "idle": 1}, "test.s": {"expiry": 1, "lock": 0, "schedule": 0}, "test.kept": {"lock": 0, "schedule": 0},
	} {
		if got := pending(ns); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", ns, got, want)
		}
	}
	h.OK(`{mqSend: "t", messages: [{_id: 2, _mq: {scheduledEnqueueTimeUtc: {$date: "2999-01-01T00:00:00Z"}}}]}`)
	if got, want := pending("test.t"), (map[string]int64{"expiry": 0, "lock": 0, "schedule": 1}); !maps.Equal(got, want) {
		t.Errorf("with a scheduled message: %v, want %v", got, want)
	}
	if got := h.OK(`{explainExpiry: "s", _id: 1}`).Lookup("policies").String(); !strings.Contains(got, `movesTo: "test.dead"`) {
		t.Errorf("explained as %s", got)
	}
	if got := h.OK(`{explainExpiry: "kept", _id: 1}`).Lookup("policies").String(); !strings.Contains(got, "the next receiver") {
		t.Errorf("explained as %s", got)
	}
}

func TestServerStatusShowsLags(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	lag := func() value.Doc {
		return h.OK(`{serverStatus: 1}`).Lookup("metrics").Doc().Lookup("expiration").Doc().Lookup("lag").Doc()
	}
	if d := lag(); d == nil || !d.IsEmpty() {
		t.Errorf("before anything was removed: %s", d)
	}
	h.OK(`{create: "gone", messageQueue: {defaultMessageTimeToLive: 60}}`)
	h.OK(`{create: "dead", messageQueue: {defaultMessageTimeToLive: 60, deadLetteringOnMessageExpiration: true}}`)
	h.OK(`{create: "sessions", documentTtl: {default: 55}}`)
	h.OK(`{mqSend: "gone", messages: [{body: {a: 1}}, {body: {a: 2}}]}`)
	h.OK(`{mqSend: "dead", messages: [{body: {a: 1}}]}`)
	h.OK(`{insert: "sessions", documents: [{_id: 1}]}`)
	h.Pass(85)
	for policy, want := range map[string][2]int64{"messageQueue": {3, 75_000}, "documentTtl": {1, 30_000}} {
		d := lag().Lookup(policy).Doc()
		if d.Lookup("count").SafeInt64() != want[0] || d.Lookup("totalMillis").SafeInt64() != want[1] {
			t.Errorf("%s: %s, want %v", policy, d, want)
		}
		if p := d.Lookup("p99Millis").AsDouble(); p <= 20_000 || p > 30_000 {
			t.Errorf("%s: 99 %% within %v ms", policy, p)
		}
	}
	// Writes and changes of the policy remove documents, too.
	h.OK(`{insert: "sessions", documents: [{_id: 1}, {_id: 2}]}`)
	h.Advance(60)
	h.OK(`{insert: "sessions", documents: [{_id: 1}]}`) // in place of an expired one
	h.OK(`{collMod: "sessions", documentTtl: "off"}`)   // removes the other one
	if d := lag().Lookup("documentTtl").Doc(); d.Lookup("count").SafeInt64() != 3 || d.Lookup("totalMillis").SafeInt64() != 40_000 {
		t.Errorf("after a write and a change of the policy: %s", d)
	}
}
