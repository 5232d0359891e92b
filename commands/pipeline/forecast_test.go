package pipeline_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/value"
)

// forecast runs expirationStats over two minutes with two buckets. It returns the policies,
// each with the numbers of pending and overdue documents, the seconds from the start to
// the next due time, and the histogram.
func forecast(h *harness.Harness, coll string) (policies []string, reply value.Doc) {
	h.Helper()
	reply = h.OK(`{"expirationStats": "` + coll + `", "horizonSeconds": 120, "buckets": 2, "empty": true}`)
	for c := range reply.Lookup("collections").Doc().Values() {
		for p := range c.Doc().Lookup("policies").Doc().Values() {
			d := p.Doc()
			text := d.Lookup("policy").Str()
			for _, name := range []string{"index", "lane"} {
				if v, ok := d.Get(name); ok {
					text += " " + v.Str()
				}
			}
			text += fmt.Sprintf(" %d/%d", d.Lookup("pending").Int64(), d.Lookup("overdue").Int64())
			if v, ok := d.Get("nextDue"); ok {
				text += fmt.Sprintf(" next %d", (v.DateTime()-harness.TestStart.UnixMilli())/1000)
			}
			parts := d.Lookup("histogram").Doc()
			text += fmt.Sprintf(" %d+%d", parts.Index(0).Doc().Lookup("count").Int64(), parts.Index(1).Doc().Lookup("count").Int64())
			policies = append(policies, text)
		}
	}
	return policies, reply
}

// The start is 2026-01-01T00:00:00Z, and the clock moves on to :30.
func TestForecastOfEachPolicy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup []string
		want  []string
	}{
		{"TTL index", []string{
			`{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 10}]}`,
			`{"insert": "c", "documents": [{"x": {"$date": "2026-01-01T00:00:00Z"}}, {"x": {"$date": "2026-01-01T00:01:00Z"}}, {"x": {"$date": "2026-01-01T00:02:00Z"}}, {"x": 5}]}`,
		}, []string{"ttl x_1 3/1 next 70 1+1"}},
		{"clustered", []string{
			`{"create": "c", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "expireAfterSeconds": 10}`,
			`{"insert": "c", "documents": [{"_id": {"$date": "2026-01-01T00:00:20Z"}}, {"_id": {"$date": "2026-01-01T01:00:00Z"}}, {"_id": {"$date": "1969-12-31T00:00:00Z"}}, {"_id": "a"}]}`,
		}, []string{"clustered _id_ 2/1 next 3610 0+0"}},
		{"time series: buckets of an hour", []string{
			`{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}, "expireAfterSeconds": 10}`,
			`{"insert": "c", "documents": [{"t": {"$date": "2025-12-31T23:00:00Z"}}, {"t": {"$date": "2025-12-31T23:01:01Z"}}, {"t": {"$date": "2026-01-01T00:00:00Z"}}]}`,
		}, []string{"timeseries 2/1 next 3610 0+0"}},
		{"partial TTL of a time series", []string{
			`{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}}`,
			`{"createIndexes": "c", "indexes": [{"key": {"t": 1}, "name": "t_1", "expireAfterSeconds": 120, "partialFilterExpression": {"m": {"$gt": 5}}}]}`,
			`{"insert": "c", "documents": [{"t": {"$date": "2025-12-31T23:00:00Z"}, "m": 8}, {"t": {"$date": "2025-12-31T23:00:00Z"}, "m": 1}]}`,
		}, []string{"partialTimeseries t_1 1/0 next 120 0+1"}},
		{"document TTL", []string{
			`{"create": "c", "documentTtl": {"default": 60}}`,
			`{"insert": "c", "documents": [{}, {"ttl": 10}, {"ttl": 1000}, {"ttl": -1}]}`,
		}, []string{"documentTtl own 2/1 next 1000 0+0", "documentTtl inherit 1/0 next 60 1+0"}},
		{"queue", []string{
			`{"create": "c", "messageQueue": {"defaultMessageTimeToLive": 60, "autoDeleteOnIdle": 300}}`,
			`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3, "_mq": {"timeToLive": 20}}]}`,
			`{"mqReceive": "c", "mode": "peekLock"}`,
		}, []string{"messageQueue expiry 2/1 next 60 1+0", "messageQueue lock 1/0 next 60 1+0", "messageQueue schedule 0/0 0+0", "messageQueue idle 1/0 next 300 0+0"}},
		{"queue with a scheduled message, which keeps it", []string{
			`{"create": "c", "messageQueue": {"autoDeleteOnIdle": 300}}`,
			`{"insert": "c", "documents": [{"_id": 1, "_mq": {"scheduledEnqueueTimeUtc": {"$date": "2026-01-01T00:02:00Z"}}}]}`,
		}, []string{"messageQueue expiry 0/0 0+0", "messageQueue lock 0/0 0+0", "messageQueue schedule 1/0 next 120 0+1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			for _, command := range tt.setup {
				h.OK(command)
			}
			if err := h.Clock.Advance(30 * time.Second); err != nil {
				t.Fatal(err)
			}
			if got, reply := forecast(h, "c"); !slices.Equal(got, tt.want) {
				t.Errorf("%s\n%q, want %q", reply, got, tt.want)
			}
		})
	}
}

// A forecast of a queue counts its messages in each state, and does not count as activity.
func TestForecastCountsMessages(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {"autoDeleteOnIdle": 300, "lockDuration": 10}}`)
	h.OK(`{"insert": "q", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}, {"_id": 5, "_mq": {"timeToLive": 20}}]}`)
	for _, settle := range []string{"mqDefer", "mqDeadLetter", "mqRenewLock"} {
		m := h.OK(`{"mqReceive": "q", "mode": "peekLock"}`).Lookup("messages").Doc().Index(0).Doc()
		h.RunOn("test", value.NewDoc(settle, value.String("q"), "lockToken", m.Lookup("_mq").Doc().Lookup("lockToken")))
	}
	if err := h.Clock.Advance(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, reply := forecast(h, "q")
		got := reply.Lookup("collections").Doc().Index(0).Doc().Lookup("messages").String()
		want := `{ active: 2, locked: 1, deferred: 1, scheduled: 0, expiredPending: 0, deadLettered: 1, lastActivityUtc: new Date(1767225600000), idleDeadlineUtc: new Date(1767225900000) }`
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if list := h.OK(`{"expirationStats": 1}`).Lookup("collections").Doc(); list.Len() != 1 {
		t.Errorf("%s lists what does not expire", list)
	}
}

// The reply has the durations of the last passes, by the kinds of expiry that had something
// due.
func TestForecastTellsOfPasses(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 10}]}`)
	h.OK(`{"insert": "c", "documents": [{"x": {"$date": "2026-01-01T00:00:00Z"}}]}`)
	if reply := h.OK(`{"expirationStats": 1}`); !reply.Lookup("lastPass").Doc().IsEmpty() || reply.Lookup("recentPassMillis").Doc().Len() != 0 {
		t.Errorf("%s tells of a pass that was not", reply)
	}
	for range 11 {
		h.Pass(10)
	}
	idle := h.OK(`{"expirationStats": 1}`).Lookup("lastPass").Doc()
	if idle.Lookup("tookMillis").AsDouble() <= 0 || !idle.Lookup("policyMillis").Doc().IsEmpty() {
		t.Errorf("last pass, which had nothing to do: %s", idle)
	}
	h.OK(`{"insert": "c", "documents": [{"x": {"$date": "2026-01-01T00:00:00Z"}}]}`)
	h.Pass(10)
	reply := h.OK(`{"expirationStats": 1}`)
	last := reply.Lookup("lastPass").Doc()
	if last.Lookup("tookMillis").AsDouble() <= 0 || last.Lookup("policyMillis").Doc().Lookup("ttl").AsDouble() <= 0 || !last.Lookup("deleted").Doc().Has("ttl") || last.Lookup("at").DateTime() != harness.TestStart.UnixMilli()+120_000 {
		t.Errorf("last pass: %s", last)
	}
	if n := reply.Lookup("recentPassMillis").Doc().Len(); n != 10 {
		t.Errorf("%d passes are remembered, want 10", n)
	}
}

func TestForecastArguments(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c"}`)
	for command, code := range map[string]int32{
		`{"expirationStats": "none"}`:                      26,
		`{"expirationStats": "c", "horizonSeconds": 0}`:    2,
		`{"expirationStats": "c", "buckets": 0}`:           2,
		`{"expirationStats": "c", "buckets": 1001}`:        2,
		`{"expirationStats": "c", "horizonSeconds": "1h"}`: 14,
		`{"expirationStats": "c", "unknown": 1}`:           40415,
	} {
		h.Fails(code, command)
	}
	if list := h.OK(`{"expirationStats": "c"}`).Lookup("collections").Doc(); list.Len() != 0 {
		t.Errorf("%s: nothing expires there", list)
	}
}

// TestLeftOversOfOut: a start drops the temporary collection of an $out before a crash.
func TestLeftOversOfOut(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "tmp.agg_out.7"}`)
	h.OK(`{"create": "kept"}`)
	if err := pipeline.DropLeftOvers(h.Svc); err != nil {
		t.Fatal(err)
	}
	list := harness.Docs(h.OK(`{"listCollections": 1, "nameOnly": true}`))
	if len(list) != 1 || list[0].Lookup("name").Str() != "kept" {
		t.Errorf("left are %v", list)
	}
}
