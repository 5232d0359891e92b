package commands_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/pebble"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
)

// dueDocs is how many documents BenchmarkExpiry removes.
const dueDocs = 100_000

// BenchmarkExpiry runs a pass over documents that are all due, with two indexes
// beside that of the expiry and that on _id. It reports the time that a document
// takes, and the processor time.
func BenchmarkExpiry(b *testing.B) {
	open := map[string]func(clock.Clock) (storage.Engine, error){
		"bunt": func(c clock.Clock) (storage.Engine, error) {
			return bunt.Open(bunt.Options{Path: b.TempDir(), Clock: c, Indexer: catalog.NewIndexer()})
		},
		"pebble": func(c clock.Clock) (storage.Engine, error) {
			return pebble.Open(pebble.Options{Path: b.TempDir(), Clock: c, Indexer: catalog.NewIndexer()})
		},
	}
	for _, name := range []string{"bunt", "pebble"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				manual := clock.NewManual(harness.TestStart)
				engine, err := open[name](manual)
				if err != nil {
					b.Fatal(err)
				}
				h := harness.NewOver(b, engine, manual, kernel.Options{Log: zerolog.Nop()})
				fillDue(h)
				manual.Advance(2 * time.Hour)
				m := monitor.New(write.ExpiryHost{Svc: h.Svc}, monitor.Options{Clock: manual, Log: zerolog.Nop(), Batch: 2000})
				before := processorTime()
				b.StartTimer()
				r, err := m.RunPass(context.Background(), ttl.All)
				b.StopTimer()
				if err != nil || r.Of(ttl.Index).Documents != dueDocs {
					b.Fatal(r, err)
				}
				b.ReportMetric(float64(processorTime()-before)/dueDocs, "cpu-ns/doc")
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/dueDocs, "ns/doc")
		})
	}
}

// fillDue inserts documents that expire an hour later.
func fillDue(h *harness.Harness) {
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1"}, {key: {t: 1}, name: "t_1", expireAfterSeconds: 3600}]}`)
	const batch = 1000
	docs := make([]string, batch)
	for first := 0; first < dueDocs; first += batch {
		for i := range docs {
			n := first + i
			at := harness.TestStart.Add(time.Duration(n) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
			docs[i] = fmt.Sprintf(`{_id: %d, a: %d, b: "%x", t: {$date: %q}, text: "the quick brown fox jumps over the lazy dog"}`, n, n*7919%dueDocs, n*104729%dueDocs, at)
		}
		h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `]}`)
	}
}

// processorTime is that of the process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdlePass runs a pass over 10,000 collections with TTL indexes of which nothing is
// due.
func BenchmarkIdlePass(b *testing.B) {
	const collections = 10_000
	h := harness.New(b)
	for i := range collections {
		h.OK(fmt.Sprintf(`{createIndexes: "c%d", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 3600}]}`, i))
		h.OK(fmt.Sprintf(`{insert: "c%d", documents: [{at: {$date: "2026-01-01T00:00:00Z"}}]}`, i))
	}
	m := monitor.New(write.ExpiryHost{Svc: h.Svc}, monitor.Options{Clock: h.Clock, Log: zerolog.Nop(), Batch: 2000})
	before := processorTime()
	for b.Loop() {
		if _, err := m.RunPass(b.Context(), ttl.All); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
}
