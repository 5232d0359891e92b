package storage

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/internal/histogram"
)

// DurationBuckets is the number of buckets of a [DurationCounts] that have a bound: powers
// of two from 16 µs to about 34 s.
const DurationBuckets = 22

// shortest is the number of bits of a duration in microseconds that is in the first bucket.
const shortest = 4

// Durations is a histogram to which goroutines add at the same time, at little cost. The
// zero value is empty.
type Durations struct {
	nanos  atomic.Int64
	counts [DurationBuckets + 1]atomic.Int64
}

// Observe adds a duration.
func (h *Durations) Observe(d time.Duration) {
	d = max(d, 0)
	h.nanos.Add(int64(d))
	// What takes a bound exactly belongs below it, hence the 1.
	n := bits.Len64(uint64(max((d+time.Microsecond-1)/time.Microsecond-1, 0)))
	h.counts[min(max(n-shortest, 0), DurationBuckets)].Add(1)
}

// Counts returns what was observed up to now.
func (h *Durations) Counts() (out DurationCounts) {
	out.Seconds = time.Duration(h.nanos.Load()).Seconds()
	for i := range h.counts {
		out.Counts[i] = h.counts[i].Load()
	}
	return out
}

// DurationCounts is the content of a [Durations].
type DurationCounts struct {
	Seconds float64 // sum
	// Counts has the number of durations in each bucket, which are not in the one before.
	// The last bucket has no bound.
	Counts [DurationBuckets + 1]int64
}

// Bound returns the upper bound of a bucket but the last, in seconds.
func (*DurationCounts) Bound(bucket int) float64 {
	return float64(int64(1)<<(bucket+shortest)) / 1e6
}

// Total counts the durations.
func (c *DurationCounts) Total() int64 { return histogram.Total(c.Counts[:]) }

// Quantile estimates the duration in seconds that a share of them did not exceed, see
// [histogram.Quantile].
func (c *DurationCounts) Quantile(q float64) float64 {
	return histogram.Quantile(c.Counts[:], c.Bound, q)
}
