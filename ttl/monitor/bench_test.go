package monitor

import (
	"github.com/duskdb/duskdb/ttl"

	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
)

// pendingHost has n things that expire in an hour, spread over all policies.
func pendingHost(tb testing.TB, n int) *testHost {
	h := newHost(tb)
	later := value.DateTime(t0.UnixMilli() + 3600_000)
	index := h.create(tb, "index", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":10}`)
	clustered := h.create(tb, "clustered", `{"clusteredIndex":{},"expireAfterSeconds":10}`, nil, `{"key":{"_id":1},"name":"_id_","clustered":true}`)
	document := h.create(tb, "document", `{"documentTtl":{"default":3600}}`, ttl.DocumentIndexes())
	series := newSeries(tb, h, `"expireAfterSeconds":5,`)
	bucket := value.MustJSON(bucketDoc(floorSeconds(later.DateTime()), later.DateTime()))
	zero := t0.UnixMilli()
	index.Fill(zero, n/5, func(i int) value.Doc { return value.NewDoc("_id", value.Int(int64(i)), "x", later) })
	clustered.Fill(zero, n/5, func(i int) value.Doc { return value.NewDoc("_id", value.DateTime(later.DateTime()+int64(i))) })
	document.Fill(zero, n/5, func(i int) value.Doc { return value.NewDoc("_id", value.Int(int64(i))) })
	document.Fill(zero, n/5, func(i int) value.Doc { return value.NewDoc("_id", value.Int(int64(i)), "ttl", value.Int32(7200)) })
	series.Fill(zero, n/5, func(int) value.Doc { return bucket })
	return h
}

func BenchmarkIdlePass(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			h := pendingHost(b, n)
			c := clock.NewManual(t0)
			m := New(h, Options{Clock: c})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.RunPass(context.Background(), ttl.All); err != nil {
					b.Fatal(err)
				}
			}
			if h.updates > 0 {
				b.Fatal("an idle pass writes")
			}
		})
	}
}
