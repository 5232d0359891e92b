package server

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/value"
)

// at is where the clock of these tests stands.
var at = map[string]string{"testClockStart": "2026-01-01T00:00:00Z"}

// scrape returns the samples of /metrics by their names and labels.
func scrape(t *testing.T, s *Server) map[string]float64 {
	t.Helper()
	code, body := get(t, s, "/metrics")
	if code != 200 {
		t.Fatal(code, body)
	}
	samples := map[string]float64{}
	for text := range strings.Lines(body) {
		text = strings.TrimSuffix(text, "\n")
		if strings.HasPrefix(text, "#") {
			continue
		}
		i := strings.LastIndexByte(text, ' ')
		v, err := strconv.ParseFloat(text[i+1:], 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		samples[text[:i]] = v
	}
	return samples
}

// of is the name of a sample of a collection in the database test.
func of(name, coll, policy string) string {
	return fmt.Sprintf("duskdb_collection_expiry_%s{db=%q,collection=%q,policy=%q}", name, "test", coll, policy)
}

func expect(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (%v), want %v", name, g, ok, v)
		}
	}
}

// What is pending and overdue counts by the rules of semantics.md: §3.4 for TTL indexes, which
// pass over what has no date, §7 for document TTL, §6.3 for time series, whose bucket goes when
// its last possible measurement is due.
func TestExpiryMetrics(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, TestClock: true, Parameters: at})
	c := dial(t, s)
	ok := func(text string) value.Doc {
		t.Helper()
		return c.ok(t, value.MustJSON(strings.Replace(text, "}$", `, "$db": "test"}`, 1)))
	}
	ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}]}$`)
	ok(`{"insert": "c", "documents": [{"at": {"$date": "2025-12-31T23:59:50Z"}}, {"at": {"$date": "2025-12-31T23:59:55Z"}}, {"at": {"$date": "2026-01-01T00:00:30Z"}}, {"at": "never"}, {}]}$`)
	ok(`{"createIndexes": "down", "indexes": [{"key": {"at": -1}, "name": "at_-1", "expireAfterSeconds": 0}]}$`)
	ok(`{"insert": "down", "documents": [{"at": {"$date": "2025-12-31T23:59:50Z"}}, {"at": {"$date": "2026-01-01T00:00:30Z"}}, {"at": {"$date": "2026-01-01T00:00:40Z"}}, {"at": true}, {"at": {"$minKey": 1}}]}$`)
	ok(`{"create": "sessions", "documentTtl": {"default": 600}}$`)
	ok(`{"insert": "sessions", "documents": [{"_id": 1}, {"_id": 2, "ttl": 60}, {"_id": 3, "ttl": -1}]}$`)
	ok(`{"create": "series", "timeseries": {"timeField": "t"}, "expireAfterSeconds": 3600}$`)
	ok(`{"insert": "series", "documents": [{"t": {"$date": "2026-01-01T00:00:00Z"}}]}$`)
	ok(`{"create": "moving", "documentTtl": {"default": 5}, "onExpire": {"deadLetterTo": "dead"}}$`)
	ok(`{"insert": "moving", "documents": [{"_id": 1}]}$`)
	got := scrape(t, s)
	expect(t, got, map[string]float64{
		of("pending", "c", "ttl"): 3, of("overdue", "c", "ttl"): 2, of("oldest_overdue_seconds", "c", "ttl"): 10, of("next_due_seconds", "c", "ttl"): 30,
		of("pending", "down", "ttl"): 3, of("overdue", "down", "ttl"): 1, of("oldest_overdue_seconds", "down", "ttl"): 10, of("next_due_seconds", "down", "ttl"): 30,
		of("pending", "sessions", "documentTtl"): 2, of("overdue", "sessions", "documentTtl"): 0, of("oldest_overdue_seconds", "sessions", "documentTtl"): 0, of("next_due_seconds", "sessions", "documentTtl"): 60,
		of("pending", "series", "timeseries"): 1, of("next_due_seconds", "series", "timeseries"): 7200,
		of("removed_total", "c", "ttl"): 0, of("removed_total", "moving", "documentTtl"): 0,
		"duskdb_metrics_unread_collections": 0,
	})
	c.ok(t, value.MustJSON(`{"testClock": 1, "advanceSeconds": 6, "runDuePasses": false, "$db": "admin"}`))
	c.ok(t, value.MustJSON(`{"runExpirationPass": 1, "$db": "admin"}`))
	got = scrape(t, s)
	expect(t, got, map[string]float64{
		of("pending", "c", "ttl"): 1, of("overdue", "c", "ttl"): 0, of("next_due_seconds", "c", "ttl"): 24, of("removed_total", "c", "ttl"): 2, of("moved_total", "c", "ttl"): 0,
		of("removed_total", "moving", "documentTtl"): 1, of("moved_total", "moving", "documentTtl"): 1, of("pending", "moving", "documentTtl"): 0,
		`duskdb_expiry_removed_total{policy="ttl"}`: 3, `duskdb_expiry_removed_total{policy="documentTtl"}`: 1, `duskdb_expiry_moved_total{policy="documentTtl"}`: 1,
	})
	if _, ok := got[of("next_due_seconds", "moving", "documentTtl")]; ok {
		t.Error("something is due in an empty collection")
	}
	status := c.ok(t, value.MustJSON(`{"serverStatus": 1, "$db": "admin"}`)).Lookup("metrics").Doc().Lookup("expiration").Doc()
	if d := status.Lookup("removed").Doc().Lookup("documentTtl").Doc(); d.Lookup("removed").Int64() != 1 || d.Lookup("moved").Int64() != 1 {
		t.Errorf("serverStatus has %s", d)
	}
	if n := status.Lookup("passes").Doc().Lookup("count").Int64(); n != 1 {
		t.Errorf("%d passes, want 1", n)
	}
}

// The depth of a queue is that of mqStats while nothing is due, and its expiry is of the
// messages that can be received (semantics.md §9).
func TestQueueMetrics(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, TestClock: true, Parameters: at})
	c := dial(t, s)
	ok := func(text string) value.Doc { t.Helper(); return c.ok(t, value.MustJSON(text)) }
	ok(`{"create": "jobs", "messageQueue": {"defaultMessageTimeToLive": 60, "deadLetteringOnMessageExpiration": true}, "$db": "test"}`)
	ok(`{"mqSend": "jobs", "messages": [{"body": 1}, {"body": 2}, {"body": 3}], "$db": "test"}`)
	ok(`{"testClock": 1, "advanceSeconds": 5, "$db": "admin"}`)
	ok(`{"mqSend": "jobs", "messages": [{"body": 4, "_mq": {"scheduledEnqueueTimeUtc": {"$date": "2026-01-01T01:00:00Z"}}}, {"body": 5}], "$db": "test"}`)
	lock := func() string {
		r := ok(`{"mqReceive": "jobs", "$db": "test"}`)
		return r.Lookup("messages").Doc().Index(0).Doc().String()
	}
	lock()
	state := func(name string) string {
		return fmt.Sprintf("duskdb_queue_messages{db=%q,queue=%q,state=%q}", "test", "jobs", name)
	}
	oldest := `duskdb_queue_oldest_message_seconds{db="test",queue="jobs"}`
	got := scrape(t, s)
	stats := ok(`{"mqStats": "jobs", "$db": "test"}`)
	for _, name := range []string{"active", "locked", "deferred", "scheduled", "deadLettered"} {
		expect(t, got, map[string]float64{state(name): float64(stats.Lookup(name).SafeInt64())})
	}
	expect(t, got, map[string]float64{
		state("active"): 3, state("locked"): 1, state("scheduled"): 1, state("expired"): 0, oldest: 5,
		of("pending", "jobs", "messageQueue"): 3, of("next_due_seconds", "jobs", "messageQueue"): 55,
	})
	// All but the last and the scheduled one expire; the lock ends with its minute.
	ok(`{"testClock": 1, "advanceSeconds": 58, "runDuePasses": false, "$db": "admin"}`)
	got = scrape(t, s)
	expect(t, got, map[string]float64{
		state("active"): 1, state("expired"): 2, state("locked"): 1, oldest: 58,
		of("overdue", "jobs", "messageQueue"): 2, of("oldest_overdue_seconds", "jobs", "messageQueue"): 3, of("next_due_seconds", "jobs", "messageQueue"): 2,
	})
	ok(`{"runExpirationPass": 1, "$db": "admin"}`)
	expect(t, scrape(t, s), map[string]float64{
		state("active"): 1, state("expired"): 0, state("locked"): 1, state("deadLettered"): 2,
		of("removed_total", "jobs", "messageQueue"): 2, of("moved_total", "jobs", "messageQueue"): 2,
		`duskdb_expiry_moved_total{policy="messageQueue"}`: 2,
	})
}

// Subscriptions have the metrics of queues, and topics have their scheduled messages.
func TestTopicMetrics(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, TestClock: true, Parameters: at})
	c := dial(t, s)
	for _, text := range []string{
		`{"create": "t", "messageTopic": {"defaultMessageTimeToLive": 60}, "$db": "test"}`,
		`{"create": "s", "messageSubscription": {"topic": "t", "deadLetteringOnMessageExpiration": true}, "$db": "test"}`,
		`{"create": "kept", "messageSubscription": {"topic": "t", "expireOnReceiveOnly": true}, "$db": "test"}`,
		`{"mqSend": "t", "messages": [{"body": 1}, {"body": 2, "_mq": {"scheduledEnqueueTimeUtc": {"$date": "2026-01-01T01:00:00Z"}}}], "$db": "test"}`,
		`{"testClock": 1, "advanceSeconds": 61, "$db": "admin"}`,
	} {
		c.ok(t, value.MustJSON(text))
	}
	state := func(queue, name string) string {
		return fmt.Sprintf("duskdb_queue_messages{db=%q,queue=%q,state=%q}", "test", queue, name)
	}
	expect(t, scrape(t, s), map[string]float64{
		state("t", "scheduled"): 1, state("t", "active"): 0, state("s", "deadLettered"): 1, state("kept", "expired"): 1,
		of("moved_total", "s", "messageQueue"): 1,
	})
}

// No more collections than metricsMaxCollections have metrics of their own. The others are
// summed up, and no counter decreases when that changes.
func TestMetricsOfOtherCollections(t *testing.T) {
	with := map[string]string{"testClockStart": "2026-01-01T00:00:00Z", "metricsMaxCollections": "2"}
	s := serveConfig(t, Config{MetricsPort: -1, TestClock: true, Parameters: with})
	c := dial(t, s)
	ok := func(text string, args ...any) { t.Helper(); c.ok(t, value.MustJSON(fmt.Sprintf(text, args...))) }
	for i := range 5 {
		ok(`{"createIndexes": "c%d", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}], "$db": "test"}`, i)
		ok(`{"insert": "c%d", "documents": [{"at": {"$date": "2025-12-31T23:59:5%dZ"}}, {"at": {"$date": "2026-01-01T00:00:3%dZ"}}], "$db": "test"}`, i, i, i)
		ok(`{"create": "q%d", "messageQueue": {}, "$db": "test"}`, i)
		ok(`{"mqSend": "q%d", "messages": [{"body": 1}, {"body": 2}], "$db": "test"}`, i)
	}
	rest := func(name, policy string) string {
		return fmt.Sprintf("duskdb_collection_expiry_%s{db=%q,collection=%q,policy=%q}", name, commands.OtherCollections, commands.OtherCollections, policy)
	}
	own := func(samples map[string]float64, prefix string) (n int) {
		for name := range samples {
			if strings.HasPrefix(name, prefix) && !strings.Contains(name, commands.OtherCollections) {
				n++
			}
		}
		return n
	}
	got := scrape(t, s)
	expect(t, got, map[string]float64{
		of("overdue", "c0", "ttl"): 1, of("overdue", "c1", "ttl"): 1, of("oldest_overdue_seconds", "c1", "ttl"): 9,
		rest("pending", "ttl"): 6, rest("overdue", "ttl"): 3, rest("oldest_overdue_seconds", "ttl"): 8, rest("next_due_seconds", "ttl"): 32,
		`duskdb_queue_messages{db="$other",queue="$other",state="active"}`: 10,
	})
	if n := own(got, "duskdb_collection_expiry_pending"); n != 2 {
		t.Errorf("%d collections have metrics of their own, want 2", n)
	}
	ok(`{"runExpirationPass": 1, "$db": "admin"}`)
	expect(t, scrape(t, s), map[string]float64{of("removed_total", "c0", "ttl"): 1, of("removed_total", "c1", "ttl"): 1, rest("removed_total", "ttl"): 3})
	// c2 takes the place of c0: it begins at 0, and what was removed remains among the others.
	ok(`{"drop": "c0", "$db": "test"}`)
	got = scrape(t, s)
	expect(t, got, map[string]float64{of("removed_total", "c1", "ttl"): 1, of("removed_total", "c2", "ttl"): 0, rest("removed_total", "ttl"): 3, rest("pending", "ttl"): 2})
	if _, still := got[of("removed_total", "c0", "ttl")]; still {
		t.Error("a dropped collection still has metrics")
	}
	ok(`{"setParameter": 1, "metricsMaxCollections": 0, "$db": "admin"}`)
	got = scrape(t, s)
	expect(t, got, map[string]float64{rest("pending", "ttl"): 4, rest("removed_total", "ttl"): 3})
	if n := own(got, "duskdb_collection_expiry_"); n != 0 {
		t.Errorf("%d series of collections, want none but %s", n, commands.OtherCollections)
	}
}

// Names of collections may contain any character; the text format escapes three.
func TestMetricsEscapeNames(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1})
	c := dial(t, s)
	name := "a\"b\\c\nd{e}=é\u200b"
	c.ok(t, value.NewDoc("create", value.String(name), "documentTtl", value.Document(value.NewDoc("default", value.Int32(5))), "$db", value.String("test")))
	_, body := get(t, s, "/metrics")
	want := `duskdb_collection_expiry_pending{db="test",collection="a\"b\\c\nd{e}=é` + "\u200b" + `",policy="documentTtl"} 0` + "\n"
	if !strings.Contains(body, want) {
		t.Errorf("no line %s", want)
	}
	if got := string(appendEscaped(nil, "\xff\"")); got != "\uFFFD"+`\"` {
		t.Errorf("invalid UTF-8 becomes %q", got)
	}
}

// BenchmarkScrape reads the metrics of 10,000 collections in which something expires, a
// thousand of them with 100 overdue documents.
func BenchmarkScrape(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := serveConfig(b, Config{TestClock: true, Parameters: at})
			c := dial(b, s)
			run := func(format string, args ...any) { c.ok(b, value.MustJSON(fmt.Sprintf(format, args...))) }
			docs := strings.TrimSuffix(strings.Repeat(`{"at": {"$date": "2025-12-31T23:59:50Z"}},`, 100), ",")
			for i := range n {
				run(`{"createIndexes": "c%d", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}], "$db": "test"}`, i)
				if i%10 == 0 {
					run(`{"insert": "c%d", "documents": [%s], "$db": "test"}`, i, docs)
				} else {
					run(`{"insert": "c%d", "documents": [{"at": {"$date": "2026-01-01T00:00:30Z"}}], "$db": "test"}`, i)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				m := s.service.Snapshot()
				if m.Unread != 0 {
					b.Fatal("not all collections were read")
				}
				_ = s.writeMetrics(io.Discard, families, &m)
			}
		})
	}
}
