package monitor

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl/internal/ttltest"

	"github.com/duskdb/duskdb/ttl"

	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// bucketDoc makes what expiry sees of a bucket that holds one measurement.
func bucketDoc(b, maximum int64) string {
	id := value.OID{byte(b >> 24), byte(b >> 16), byte(b >> 8), byte(b)}
	return fmt.Sprintf(`{"_id":{"$oid":"%s"},"control":{"version":1,"min":{"t":{"$date":{"$numberLong":"%d"}}},"max":{"a":1,"t":{"$date":{"$numberLong":"%d"}}}}}`,
		hex.EncodeToString(id[:]), b*1000, maximum)
}

func floorTo(n, unit int64) int64 { return n - ((n%unit)+unit)%unit }

// newSeries makes a collection of buckets with seconds granularity.
func newSeries(tb ttltest.TB, h *testHost, expire string) *ttltest.Coll {
	return h.create(tb, "system.buckets.c", `{`+expire+`"timeseries":{"timeField":"t","granularity":"seconds","bucketMaxSpanSeconds":3600}}`, ttl.BucketIndexes("t"))
}

// measure adds a bucket for one measurement, t in milliseconds.
func measure(c *ttltest.Coll, t int64) { c.Put(0, bucketDoc(floorTo(floorSeconds(t), 60), t)) }

func floorSeconds(ms int64) int64 { return floorTo(ms, 1000) / 1000 }

func TestBuckets(t *testing.T) {
	zero := t0.UnixMilli()
	tests := []struct {
		name string
		at   []int64 // measurements, milliseconds
		now  float64 // seconds after t0
		left int
	}{
		{"too early", []int64{zero + 614_134}, 4204.999, 1},
		{"in time", []int64{zero + 614_134}, 4205, 0},
		{"second bucket stays", []int64{zero + 614_134, zero + 4200_000}, 4205, 1},
		{"extended range", []int64{
			-1000, time.Date(2038, 1, 19, 3, 15, 0, 0, time.UTC).UnixMilli(), time.Date(2106, 2, 7, 6, 29, 0, 0, time.UTC).UnixMilli(),
			zero - 5*60_000, zero - 65*60_000,
		}, 0, 3},
		{"before 1970 alone", []int64{-1000}, 0, 0},
		{"after 2038 alone", []int64{time.Date(2039, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}, 0, 1},
		{"after 2038, expired", []int64{time.Date(2039, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}, 500e6, 0},
	}
	for _, tt := range tests {
		h := newHost(t)
		c := newSeries(t, h, `"expireAfterSeconds":{"$numberLong":"5"},`)
		for _, m := range tt.at {
			measure(c, m)
		}
		m, clk := newTestMonitor(h)
		_ = clk.AdvanceMillis(int64(tt.now * 1000))
		r := mustPass(t, m)
		if c.Count() != tt.left {
			t.Errorf("%s: %d left, want %d", tt.name, c.Count(), tt.left)
		}
		if int(r.Of(ttl.TimeSeries).Documents) != len(tt.at)-tt.left || m.Metrics().DeletedDocuments.Load() != r.Of(ttl.TimeSeries).Documents {
			t.Errorf("%s: counted %d", tt.name, r.Of(ttl.TimeSeries).Documents)
		}
	}
}

func TestGranularityChange(t *testing.T) {
	h := newHost(t)
	c := newSeries(t, h, `"expireAfterSeconds":5,`)
	measure(c, t0.UnixMilli())
	c.SetOptions(`{"expireAfterSeconds":5,"timeseries":{"timeField":"t","granularity":"minutes","bucketMaxSpanSeconds":86400}}`)
	m, clk := newTestMonitor(h)
	for _, step := range []struct {
		seconds int64
		left    int
	}{{3605, 1}, {86404, 1}, {86405, 0}} {
		_ = clk.Set(t0.Add(time.Duration(step.seconds) * time.Second))
		mustPass(t, m)
		if c.Count() != step.left {
			t.Errorf("at %d s: %d left", step.seconds, c.Count())
		}
	}
}

func TestPartialBucketLane(t *testing.T) {
	for _, direction := range []string{"1", "-1"} {
		h := newHost(t)
		c := newSeries(t, h, "")
		c.AddIndex(value.MustJSON(`{"key":{"control.min.t":` + direction + `},"name":"t_1","expireAfterSeconds":1,"partialFilterExpression":{"control.version":{"$gt":0}}}`))
		measure(c, t0.UnixMilli()-5000_000)
		measure(c, t0.UnixMilli())
		m, _ := newTestMonitor(h)
		if r := mustPass(t, m); r.Of(ttl.PartialBucket).Documents != 1 || c.Count() != 1 {
			t.Errorf("direction %s: %d removed", direction, r.Of(ttl.PartialBucket).Documents)
		}
	}
	h := newHost(t)
	h.create(t, "system.buckets.c", `{"timeseries":{"timeField":"t","bucketMaxSpanSeconds":3600}}`, nil, `{"key":{"meta":1},"name":"x","expireAfterSeconds":1}`)
	m, _ := newTestMonitor(h)
	if mustPass(t, m); m.Metrics().InvalidTTLIndexSkips.Load() != 1 {
		t.Error("not skipped")
	}
}

// A pass against the conditions of the specification, taken literally.
func TestBucketsProperty(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		const span = 3600
		now := rapid.Int64Range(0, 5e9).Draw(t, "now") * 1000
		e := rapid.Int64Range(0, 1e5).Draw(t, "expireAfterSeconds")
		h := newHost(outer)
		c := newSeries(t, h, fmt.Sprintf(`"expireAfterSeconds":{"$numberLong":"%d"},`, e))
		type bucket struct{ b, maximum int64 }
		var all []bucket
		near := rapid.Int64Range(-2e5, 2e5)
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			base := rapid.SampledFrom([]int64{0, now / 1000, 1 << 31, 1 << 32, -1 << 31, now/1000 - e - span}).Draw(t, "base")
			at := (base+near.Draw(t, "offset"))*1000 + rapid.Int64Range(0, 999).Draw(t, "ms")
			b := floorTo(floorSeconds(at), 60)
			at = min(at+rapid.Int64Range(0, 3e6).Draw(t, "later"), (b+span)*1000-1)
			all = append(all, bucket{b, at})
			c.Put(0, bucketDoc(b, at))
		}
		extended := false
		for _, x := range all {
			extended = extended || x.b < 0 || x.b >= 1<<31
		}
		want := ""
		for i, x := range all {
			due := (x.b+span+e)*1000 <= now
			if extended {
				id := int64(uint32(x.b))
				due = x.maximum <= now-e*1000 && (id*1000 <= now-e*1000-span*1000 || id >= 1<<31-span)
			}
			if !due {
				want += fmt.Sprint(i+1, " ")
			}
		}
		m, clk := newTestMonitor(h)
		_ = clk
		m.clock = fixedClock{clk, now}
		mustPassRapid(t, m)
		got, left := "", c.Records()
		for i := range all {
			if _, ok := left[storage.RecordID(i+1)]; ok {
				got += fmt.Sprint(i+1, " ")
			}
		}
		if got != want {
			t.Fatalf("left %q, want %q", got, want)
		}
	})
}
