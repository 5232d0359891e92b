package ttl

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

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
