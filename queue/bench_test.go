package queue

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// fill puts n messages into a queue that expire in a day.
func (e *env) fill(n int) {
	e.t.Helper()
	docs := make([]value.Doc, 0, 1000)
	for i := range n {
		docs = append(docs, value.NewDoc("_id", value.Int32(int32(i)), "payload", value.String("0123456789012345678901234567890123456789")))
		if len(docs) == cap(docs) || i == n-1 {
			_, err := e.broker.Send(e.ctx, e.store, ref("q"), docs, e.now())
			e.must(err)
			docs = docs[:0]
		}
	}
}

// BenchmarkRound sends, receives and completes one message in a queue with other
// messages.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{0, 1000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			e := newEnv(b)
			e.create("q", `{"defaultMessageTimeToLive": 86400}`)
			e.fill(n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.round(b, int64(n+i))
			}
		})
	}
}

// BenchmarkRoundParallel is the same by many clients.
func BenchmarkRoundParallel(b *testing.B) {
	e := newEnv(b)
	e.create("q", `{"defaultMessageTimeToLive": 86400}`)
	e.fill(1000)
	var id atomic.Int64
	id.Store(1000)
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e.round(b, id.Add(1))
		}
	})
}

func (e *env) round(b *testing.B, id int64) {
	d := value.NewDoc("_id", value.Int64(id), "payload", value.String("0123456789012345678901234567890123456789"))
	if _, err := e.broker.Send(e.ctx, e.store, ref("q"), []value.Doc{d}, t0); err != nil {
		b.Fatal(err)
	}
	docs, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1}, t0)
	if err != nil || len(docs) != 1 {
		b.Fatal(docs, err)
	}
	if err := e.broker.Complete(e.ctx, e.store, Lock{ref("q"), tokenOf(docs[0])}, t0); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEmptyReceive measures the cost of polling an empty queue.
func BenchmarkEmptyReceive(b *testing.B) {
	e := newEnv(b)
	e.create("q", `{}`)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.broker.Receive(e.ctx, e.store, Request{Ref: ref("q"), Max: 1}, t0)
	}
}

// BenchmarkIdlePass is a sweep of a queue in which nothing is due.
func BenchmarkIdlePass(b *testing.B) {
	e := newEnv(b)
	e.create("q", `{"defaultMessageTimeToLive": 86400}`)
	e.fill(100_000)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.monitor.RunPass(e.ctx, ttl.All)
	}
}

// BenchmarkExpire is the sweep of a message that has expired.
func BenchmarkExpire(b *testing.B) {
	for _, dead := range []bool{false, true} {
		b.Run(fmt.Sprintf("deadLetter=%v", dead), func(b *testing.B) {
			e := newEnv(b)
			e.create("q", fmt.Sprintf(`{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": %v}`, dead))
			e.fill(b.N)
			e.at(10)
			b.ResetTimer()
			e.sweep()
		})
	}
}
