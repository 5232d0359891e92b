package main

import (
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The histograms cover latencies from a microsecond to a minute, with three
// digits.
const (
	shortest = time.Microsecond
	longest  = time.Minute
	digits   = 3
)

func newHistogram() *hdr.Histogram {
	return hdr.New(int64(shortest), int64(longest), digits)
}

// record adds a latency; one beyond the range counts as the end of the range.
func record(h *hdr.Histogram, d time.Duration) {
	_ = h.RecordValue(int64(min(max(d, shortest), longest)))
}

// result is the result of one measurement. Latencies and processor times are in
// microseconds.
type result struct {
	Target      string  `json:"target"`
	Workload    string  `json:"workload"`
	Connections int     `json:"connections"`
	Seconds     float64 `json:"seconds"`
	Ops         int64   `json:"ops"`
	OpsPerSec   float64 `json:"opsPerSec"`
	DocsPerSec  float64 `json:"docsPerSec"`
	P50         float64 `json:"p50"`
	P90         float64 `json:"p90"`
	P99         float64 `json:"p99"`
	P999        float64 `json:"p999"`
	Max         float64 `json:"max"`
	ServerCPU   float64 `json:"serverCPU,omitempty"`   // processor time per operation; 0: not known
	OwnCPU      float64 `json:"ownCPU,omitempty"`      // processor time of the load generator
	DatabaseCPU float64 `json:"databaseCPU,omitempty"` // processor time of the database below the server
}

// summarize fills in a result's figures.
func (r result) summarize(h *hdr.Histogram, elapsed time.Duration, docsPerOp int) result {
	r.Seconds = elapsed.Seconds()
	r.Ops = h.TotalCount()
	if r.Seconds > 0 {
		r.OpsPerSec = float64(r.Ops) / r.Seconds
	}
	r.DocsPerSec = r.OpsPerSec * float64(docsPerOp)
	for quantile, to := range map[float64]*float64{50: &r.P50, 90: &r.P90, 99: &r.P99, 99.9: &r.P999, 100: &r.Max} {
		*to = float64(h.ValueAtQuantile(quantile)) / 1e3
	}
	return r
}

// median of the values; the mean of the middle two if their number is even,
// and zero of none.
func median(values ...float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// medianOf is the median of one figure of each result.
func medianOf(rs []result, figure func(result) float64) float64 {
	values := make([]float64, len(rs))
	for i, r := range rs {
		values[i] = figure(r)
	}
	return median(values...)
}

// medianRatio is the median over the rounds of a's speed to b's. The ratio is
// taken within each round, so that a machine that slows down for a while
// slows both sides of it.
func medianRatio(a, b []result) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i].OpsPerSec > 0 {
			ratios = append(ratios, a[i].OpsPerSec/b[i].OpsPerSec)
		}
	}
	return median(ratios...)
}

func opsPerSec(r result) float64  { return r.OpsPerSec }
func docsPerSec(r result) float64 { return r.DocsPerSec }
func p50(r result) float64        { return r.P50 }
func p99(r result) float64        { return r.P99 }
func p999(r result) float64       { return r.P999 }
