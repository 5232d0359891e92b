package ttl

import (
	"slices"
	"sync"

	"github.com/duskdb/duskdb/internal/histogram"
	"github.com/duskdb/duskdb/value"
)

// lagBounds are the upper bounds of the buckets of [Lags] in milliseconds. They are dense
// up to two intervals of passes.
var lagBounds = [...]int64{
	1, 10, 100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 75_000, 90_000, 120_000,
	300_000, 600_000, 1800_000, 3600_000, 6 * 3600_000, 24 * 3600_000, 7 * 24 * 3600_000,
}

// Lags is a histogram of how long after its expiry something was removed. The last bucket
// has no bound.
type Lags struct {
	Counts [len(lagBounds) + 1]int64
	Millis int64 // sum
}

// Bound is the upper bound of a bucket but the last, in seconds.
func (*Lags) Bound(bucket int) float64 { return float64(lagBounds[bucket]) / 1000 }

// Observe adds a removal.
func (l *Lags) Observe(millis int64) {
	millis = max(millis, 0) // the clock may have been reset
	bucket, _ := slices.BinarySearch(lagBounds[:], millis)
	l.Counts[bucket]++
	l.Millis = value.AddClamped(l.Millis, millis)
}

// Add adds the removals of o.
func (l *Lags) Add(o *Lags) {
	for i, n := range o.Counts {
		l.Counts[i] += n
	}
	l.Millis = value.AddClamped(l.Millis, o.Millis)
}

// Total counts the removals.
func (l *Lags) Total() int64 { return histogram.Total(l.Counts[:]) }

// Quantile estimates the lag in milliseconds that a share of the removals did not exceed,
// see [histogram.Quantile].
func (l *Lags) Quantile(q float64) float64 {
	return histogram.Quantile(l.Counts[:], func(i int) float64 { return float64(lagBounds[i]) }, q)
}

// lagMetrics are the histograms of all NumPolicies since the server started.
type lagMetrics struct {
	mu sync.Mutex
	by [NumPolicies]Lags
}

// Lagged adds the lags of removals that have been committed.
func (m *Metrics) Lagged(p Policy, l *Lags) {
	m.lags.mu.Lock()
	defer m.lags.mu.Unlock()
	m.lags.by[p].Add(l)
}

// LagOf returns the lags of a policy.
func (m *Metrics) LagOf(p Policy) Lags {
	m.lags.mu.Lock()
	defer m.lags.mu.Unlock()
	return m.lags.by[p]
}

// appendLags writes the lags of the policies that have removed something.
func (m *Metrics) appendLags(b *value.Builder) {
	b.StartDocument("lag")
	for p := range NumPolicies {
		l := m.LagOf(p)
		n := l.Total()
		if n == 0 {
			continue
		}
		b.StartDocument(p.String()).Int64("count", n).Int64("totalMillis", l.Millis)
		b.Double("p50Millis", l.Quantile(0.5)).Double("p90Millis", l.Quantile(0.9)).Double("p99Millis", l.Quantile(0.99)).End()
	}
	b.End()
}
