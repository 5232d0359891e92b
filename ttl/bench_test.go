package ttl

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// pendingHost has n things that expire in an hour, spread over all policies.
func pendingHost(n int) *fakeHost {
	h := newFakeHost()
	later := value.DateTime(t0.UnixMilli() + 3600_000)
	index := h.newColl("index", `{}`, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	clustered := h.newColl("clustered", `{"clusteredIndex":{},"expireAfterSeconds":10}`, `{"key":{"_id":1},"name":"_id_","clustered":true}`)
	document := h.newColl("document", `{"documentTtl":{"default":3600}}`).internal(DocumentIndexes())
	series := newSeries(h, `"expireAfterSeconds":5,`)
	bucket := value.MustJSON(bucketDoc(floorSeconds(later.DateTime()), later.DateTime()))
	for i := range n / 5 {
		_, _ = index.Insert(value.NewDoc("_id", value.Int(int64(i)), "x", later), t0.UnixMilli())
		_, _ = clustered.Insert(value.NewDoc("_id", value.DateTime(later.DateTime()+int64(i))), t0.UnixMilli())
		_, _ = document.Insert(value.NewDoc("_id", value.Int(int64(i))), t0.UnixMilli())
		_, _ = document.Insert(value.NewDoc("_id", value.Int(int64(i)), "ttl", value.Int32(7200)), t0.UnixMilli())
		_, _ = series.Insert(bucket, t0.UnixMilli())
	}
	return h
}

func BenchmarkIdlePass(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			h := pendingHost(n)
			c := clock.NewManual(t0)
			m := NewMonitor(h, Options{Clock: c})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.RunPass(context.Background(), All); err != nil {
					b.Fatal(err)
				}
			}
			if h.updates > 0 {
				b.Fatal("an idle pass writes")
			}
		})
	}
}

func BenchmarkVisible(b *testing.B) {
	p := &DocumentPolicy{Default: 60}
	r := &storage.Record{TS: t0.UnixMilli(), Doc: value.MustJSON(`{"_id":1,"name":"x","tags":["a","b"],"n":5,"when":` + at(0) + `}`)}
	now := t0.Add(time.Second).UnixMilli()
	b.ReportAllocs()
	for b.Loop() {
		if !p.Visible(r, now) {
			b.Fatal("not visible")
		}
	}
}
