package ttl

import (
	"math"
	"testing"

	"github.com/duskdb/duskdb/clock"
)

// The quantiles are those of histogram_quantile: linear within a bucket whose bounds are
// 20, 30, 40 … s, and the greatest bound for the bucket without one.
func TestLagQuantiles(t *testing.T) {
	var l Lags
	if l.Quantile(0.5) != 0 {
		t.Error("a lag without removals")
	}
	for range 10 {
		l.Observe(15_000) // 10 to 20 s
		l.Observe(35_000) // 30 to 40 s
	}
	for q, want := range map[float64]float64{0.25: 15_000, 0.5: 20_000, 0.75: 35_000, 1: 40_000} {
		if got := l.Quantile(q); math.Abs(got-want) > 0.001 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if l.Total() != 20 || l.Millis != 500_000 {
		t.Errorf("%d removals, %d ms", l.Total(), l.Millis)
	}
	var o Lags
	o.Observe(-5) // the clock was reset
	o.Observe(1)  // the bound belongs to its bucket
	o.Observe(365 * 86400_000)
	if o.Counts[0] != 2 || o.Counts[len(o.Counts)-1] != 1 || o.Quantile(1) != 7*86400_000 {
		t.Errorf("%v, greatest %v", o.Counts, o.Quantile(1))
	}
	l.Add(&o)
	if l.Total() != 23 {
		t.Errorf("together %d", l.Total())
	}
}

// Passes count each removal once, by its policy, with the time since it expired.
func TestPassesCountLags(t *testing.T) {
	h, c := newFakeHost(), clock.NewManual(t0)
	m := NewMonitor(h, Options{Clock: c})
	docs := h.newColl("c", `{}`, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
	docs.put(0, `{"_id":1,"x":`+at(-45)+`}`, `{"_id":2,"x":`+at(-3)+`}`, `{"_id":3,"x":`+at(60)+`}`)
	mustPass(t, m)
	mustPass(t, m)
	l := m.Metrics().LagOf(Index)
	if l.Total() != 2 || l.Millis != 48_000 || l.Quantile(0.5) != 5000 || l.Quantile(1) != 50_000 {
		t.Errorf("%d removals, %d ms, quantiles %v and %v", l.Total(), l.Millis, l.Quantile(0.5), l.Quantile(1))
	}
	for _, p := range Policies() {
		if l := m.Metrics().LagOf(p); p != Index && l.Total() != 0 {
			t.Errorf("%d removals of %s", l.Total(), p)
		}
	}
}
