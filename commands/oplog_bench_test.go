package commands_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// diskHarness is a server over data on disk, with or without a change log.
func diskHarness(b *testing.B, oplog int64) *harness.Harness {
	b.Helper()
	engine, err := bunt.Open(bunt.Options{Path: b.TempDir(), Clock: clock.System(), Indexer: catalog.NewIndexer()})
	if err != nil {
		b.Fatal(err)
	}
	svc, err := harness.NewService(kernel.Options{Engine: engine, Clock: clock.System(), Log: zerolog.Nop(), TempDir: b.TempDir(), OplogBytes: oplog})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	housekeeping.Start(svc, ctx)
	b.Cleanup(func() { cancel(); housekeeping.Close(svc); _ = engine.Close() })
	return &harness.Harness{TB: b, Svc: svc, Conn: svc.NewConn("", "")}
}

func bothLogs(b *testing.B, run func(b *testing.B, h *harness.Harness)) {
	for name, bytes := range map[string]int64{"log": 0, "no log": -1} {
		b.Run(name, func(b *testing.B) { run(b, diskHarness(b, bytes)) })
	}
}

func BenchmarkLogInsert(b *testing.B) {
	bothLogs(b, func(b *testing.B, h *harness.Harness) {
		buf := make([]byte, 0, 4096)
		b.ReportAllocs()
		for i := range b.N {
			d := value.NewDoc("_id", value.Int32(int32(i)), "n", value.Int32(0), "text", value.String("the quick brown fox jumps over the lazy dog"))
			cmd := value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d)), "$db", value.String("test"))
			harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: cmd}, buf)
		}
	})
}

func BenchmarkLogUpdate(b *testing.B) {
	bothLogs(b, func(b *testing.B, h *harness.Harness) {
		harness.Fill(h)
		buf := make([]byte, 0, 4096)
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			u := value.NewDoc("q", value.Document(value.NewDoc("_id", value.Int32(int32(i%harness.BenchDocs)))),
				"u", value.Document(value.NewDoc("$inc", value.Document(value.NewDoc("n", value.Int32(1))))))
			cmd := value.NewDoc("update", value.String("c"), "updates", value.NewArray(value.Document(u)), "$db", value.String("test"))
			harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: cmd}, buf)
		}
	})
}

// BenchmarkTransaction compares a transaction that inserts two documents
// with four inserts.
func BenchmarkTransaction(b *testing.B) {
	insert := func(id int64) string {
		return fmt.Sprintf(`{"insert": "c", "documents": [{"_id": {"$numberLong": "%d"}, "text": "the quick brown fox"}]`, id)
	}
	var ids, sessions atomic.Int64
	run := func(h *harness.Harness, conn *kernel.Conn, command string) {
		harness.Answer(h.Svc, context.Background(), conn, &kernel.Request{Body: value.MustJSON(command)}, nil)
	}
	b.Run("two inserts in a transaction", func(b *testing.B) {
		h := diskHarness(b, 0)
		run(h, h.Conn, `{"create": "c", "$db": "test"}`)
		b.SetParallelism(8)
		b.RunParallel(func(p *testing.PB) {
			conn, session, n := h.Svc.NewConn("", ""), sessions.Add(1), 0
			for p.Next() {
				n++
				args := fmt.Sprintf(`, "lsid": {"id": {"$uuid": "%08x-0000-4000-8000-000000000000"}}, "txnNumber": {"$numberLong": "%d"}, "autocommit": false`, session, n)
				run(h, conn, insert(ids.Add(1))+args+`, "startTransaction": true, "$db": "test"}`)
				run(h, conn, insert(ids.Add(1))+args+`, "$db": "test"}`)
				run(h, conn, `{"commitTransaction": 1`+args+`, "$db": "admin"}`)
			}
		})
	})
	b.Run("four inserts", func(b *testing.B) {
		h := diskHarness(b, 0)
		b.SetParallelism(8)
		b.RunParallel(func(p *testing.PB) {
			conn := h.Svc.NewConn("", "")
			for p.Next() {
				for range 4 {
					run(h, conn, insert(ids.Add(1))+`, "$db": "test"}`)
				}
			}
		})
	})
}

// BenchmarkRetryableInsert compares retryable inserts with ordinary ones, in turns:
// "%cost" is the additional time.
func BenchmarkRetryableInsert(b *testing.B) {
	const round = 200
	h := diskHarness(b, 0)
	n, buf := int64(0), make([]byte, 0, 4096)
	insert := func(session byte, retryable bool) time.Duration {
		lsid := value.NewDoc("id", value.Binary(4, append(make([]byte, 15), session)))
		began := time.Now()
		for range round {
			n++
			d := value.NewDoc("_id", value.Int64(n), "text", value.String("the quick brown fox jumps over the lazy dog"))
			number := value.Value{} // nothing
			if retryable {
				number = value.Int64(n)
			}
			cmd := value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d)), "$db", value.String("test"), "lsid", value.Document(lsid), "txnNumber", number)
			if out, _ := harness.Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: cmd}, buf); !value.Doc(out).Lookup("ok").Truthy() {
				b.Fatal(value.Doc(out))
			}
		}
		return time.Since(began)
	}
	insert(2, true)
	var costs []float64
	b.ResetTimer()
	for range b.N {
		plain := insert(1, false)
		costs = append(costs, float64(insert(2, true))/float64(plain)-1)
	}
	slices.Sort(costs)
	b.ReportMetric(100*costs[len(costs)/2], "%cost")
}
