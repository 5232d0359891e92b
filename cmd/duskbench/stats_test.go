package main

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{5, 1, 100}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(c.in...); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.in, got, c.want)
		}
	}
}

func TestMedianProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		m := median(in...)
		below, above := 0, 0
		for _, v := range in {
			if v < m {
				below++
			}
			if v > m {
				above++
			}
		}
		if 2*below > len(in) || 2*above > len(in) {
			t.Fatalf("median %v of %v", m, in)
		}
	})
}

func TestMedianRatio(t *testing.T) {
	ops := func(v ...float64) (rs []result) {
		for _, x := range v {
			rs = append(rs, result{OpsPerSec: x})
		}
		return rs
	}
	for _, c := range []struct {
		a, b []result
		want float64
	}{
		{nil, nil, 0},
		{ops(90), ops(100), 0.9},
		{ops(50, 90, 9), ops(100, 100, 10), 0.9}, // a slow round of both does no harm
		{ops(50, 90), ops(100, 0), 0.5},          // a round without a result does not count
		{ops(1, 2, 3), ops(1), 1},
	} {
		if got := medianRatio(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v to %v is %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestSummarize records 1 to 1000 µs once each: the quantiles are known.
func TestSummarize(t *testing.T) {
	h := newHistogram()
	for i := 1; i <= 1000; i++ {
		record(h, time.Duration(i)*time.Microsecond)
	}
	r := result{Workload: "w"}.summarize(h, 2*time.Second, 10)
	if r.Workload != "w" || r.Ops != 1000 || r.OpsPerSec != 500 || r.DocsPerSec != 5000 || r.Seconds != 2 {
		t.Errorf("got %+v", r)
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"p50": {r.P50, 500}, "p90": {r.P90, 900}, "p99": {r.P99, 990}, "p99.9": {r.P999, 999}, "max": {r.Max, 1000},
	} {
		if math.Abs(c.got-c.want) > c.want/500 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
}

func TestRecordClamps(t *testing.T) {
	h := newHistogram()
	for _, d := range []time.Duration{-1, 0, time.Hour} {
		record(h, d)
	}
	if h.TotalCount() != 3 {
		t.Errorf("%d of 3 latencies", h.TotalCount())
	}
	if r := (result{}).summarize(newHistogram(), 0, 1); r.OpsPerSec != 0 || r.P99 != 0 {
		t.Errorf("nothing gives %+v", r)
	}
}
