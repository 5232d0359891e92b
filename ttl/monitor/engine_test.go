package monitor

import (
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/internal/ttltest"

	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func dated(at int64) func(int) value.Doc {
	return func(i int) value.Doc { return value.NewDoc("_id", value.Int(int64(i)), "x", value.DateTime(at)) }
}

// The rules and the internal indexes fit the real engine and its keys.
func TestOnEngine(t *testing.T) {
	h := newHost(t)
	now := t0.UnixMilli()
	asc := h.create(t, "asc", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	desc := h.create(t, "desc", `{}`, nil, `{"key":{"x":-1},"name":"x_-1","expireAfterSeconds":10}`)
	partial := h.create(t, "partial", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0,"partialFilterExpression":{"z":{"$exists":true}}}`)
	document := h.create(t, "document", `{"documentTtl":{"default":10,"invalid":"reject"}}`, ttl.DocumentIndexes())
	series := h.create(t, "system.buckets.s", `{"expireAfterSeconds":5,"timeseries":{"timeField":"t","bucketMaxSpanSeconds":3600}}`, ttl.BucketIndexes("t"))
	for _, ns := range []*ttltest.Coll{asc, desc} {
		ns.Fill(now, 250, dated(now))
		ns.Fill(now, 1, func(int) value.Doc { return value.NewDoc("_id", value.String("later"), "x", value.DateTime(now+1)) })
		ns.Fill(now, 1, func(int) value.Doc { return value.NewDoc("_id", value.String("never"), "x", value.Int32(1)) })
	}
	partial.Fill(now, 1, func(int) value.Doc { return value.MustJSON(`{"_id":1,"x":` + at(0) + `,"z":1}`) })
	partial.Fill(now, 1, func(int) value.Doc { return value.MustJSON(`{"_id":2,"x":` + at(0) + `}`) })
	for i, life := range []string{`{}`, `{"ttl":5}`, `{"ttl":11}`, `{"ttl":-1}`} {
		document.Fill(now, 1, func(int) value.Doc {
			return value.NewDoc("_id", value.Int(int64(i)), "ttl", value.MustJSON(life).Lookup("ttl"))
		})
	}
	series.Fill(now, 1, func(int) value.Doc { return value.MustJSON(bucketDoc(now/1000-3595, now)) })
	series.Fill(now, 1, func(int) value.Doc { return value.MustJSON(bucketDoc(now/1000-3594+60, now)) })
	c := clock.NewManual(t0.Add(10 * time.Second))
	m := New(h, Options{Clock: c})
	mustPass(t, m)
	for c, want := range map[*ttltest.Coll]int{asc: 2, desc: 2, partial: 1, document: 2, series: 1} {
		if got := c.Count(); got != want {
			t.Errorf("%s: %d left, want %d", c.NS, got, want)
		}
	}
	if got := m.Metrics().DeletedDocuments.Load(); got != 502 {
		t.Errorf("%d documents counted", got)
	}
}

// BenchmarkExpire removes 100,000 due documents while a reader looks single
// documents up, and reports how long the reader's slowest look-ups take.
func BenchmarkExpire(b *testing.B) {
	const due, kept = 100_000, 10_000
	now := t0.UnixMilli()
	for b.Loop() {
		b.StopTimer()
		h := openHost(b, b.TempDir())
		ns := h.create(b, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
		ns.Fill(now, due, dated(now))
		other := h.create(b, "other", `{}`, nil, `{"v":2,"key":{"_id":1},"name":"_id_"}`)
		other.Fill(now, kept, dated(now))
		idle := h.lookups(other.NS, kept, 20_000, nil)
		stop := make(chan struct{})
		var busy []time.Duration
		var wg sync.WaitGroup
		wg.Go(func() { busy = h.lookups(other.NS, kept, 1<<30, stop) })
		b.StartTimer()
		r := mustPassB(b, New(h, Options{Clock: clock.NewManual(t0)}))
		b.StopTimer()
		close(stop)
		wg.Wait()
		if r.Of(ttl.Index).Documents != due {
			b.Fatal(r.Of(ttl.Index).Documents)
		}
		b.ReportMetric(due/r.Took.Seconds(), "docs/s")
		b.ReportMetric(float64(p99(idle).Microseconds()), "idle-p99-µs")
		b.ReportMetric(float64(p99(busy).Microseconds()), "busy-p99-µs")
		_ = h.Close()
		b.StartTimer()
	}
}

func mustPassB(b *testing.B, m *Monitor) Result {
	r, err := m.RunPass(context.Background(), ttl.All)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func p99(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)*99/100]
}

// lookups reads documents by _id and returns how long each look-up took.
func (h *testHost) lookups(ns storage.Namespace, n, limit int, stop chan struct{}) (took []time.Duration) {
	c := clock.System()
	for i := range limit {
		select {
		case <-stop:
			return took
		default:
		}
		key := value.AppendKey(nil, value.Int(int64(i*7919%n)))
		began := c.Now()
		err := h.Engine.View(context.Background(), func(tx storage.Tx) error {
			coll, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			if _, ok, err := coll.Find("_id_", key); err != nil || !ok {
				return errors.Join(err, errors.New("not found"))
			}
			return nil
		})
		took = append(took, c.Now().Sub(began))
		if err != nil {
			return took
		}
	}
	return took
}
