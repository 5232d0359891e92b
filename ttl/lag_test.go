package ttl

import (
	"math"
	"testing"
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
