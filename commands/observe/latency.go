package observe

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// LatencyBuckets is the number of buckets of a [Latency]: the bounds are powers of two of a
// microsecond, and the last bucket is for more than about 67 s.
const LatencyBuckets = 27

// The buckets of mongod's histograms: the powers of two of a microsecond, from
// 2048 to 2 s in halves, up to 2^40. The first of them, which has all below 2,
// are two here.
const (
	firstHalved = 12 // bits of a number that begins the halves
	lastHalved  = 21
	maxBits     = 41
	halves      = lastHalved - firstHalved + 1
	histogram   = maxBits + 1 + halves
)

// Latencies is a histogram that is cheap to add to.
type Latencies struct {
	Micros atomic.Int64 // sum
	counts [histogram]atomic.Int64
}

// Observe adds one command that took d.
func (l *Latencies) Observe(d time.Duration) {
	micros := max(d.Microseconds(), 0)
	l.Micros.Add(micros)
	l.counts[bucketOf(uint64(micros))].Add(1)
}

// bucketOf returns the bucket of a latency in microseconds.
func bucketOf(micros uint64) int {
	n := min(bits.Len64(micros), maxBits)
	switch {
	case n < firstHalved:
		return n
	case n > lastHalved:
		return n + halves
	}
	return n + n - firstHalved + int(micros>>(n-2)&1)
}

// bucketStart is the lowest latency of a bucket, and how many bits it has.
func bucketStart(bucket int) (micros int64, n int) {
	n = bucket
	switch {
	case bucket > lastHalved+halves:
		n = bucket - halves
	case bucket >= firstHalved:
		n = firstHalved + (bucket-firstHalved)/2
		if (bucket-firstHalved)%2 == 1 {
			return 3 << (n - 2), n
		}
	}
	if n < 2 {
		return 0, n
	}
	return 1 << (n - 1), n
}

// Latency is a histogram of how long commands took: Counts[i] took less than
// Bound(i), and not less than the bound before.
type Latency struct {
	Seconds float64                   // sum
	Counts  [LatencyBuckets + 1]int64 // number of commands in each bucket
}

// Bound is the upper bound of bucket i in seconds; the last has none.
func (Latency) Bound(i int) float64 { return float64(int64(1)<<i) / 1e6 }

// Snapshot returns what was observed up to now, by powers of two.
func (l *Latencies) Snapshot() (out Latency) {
	out.Seconds = float64(l.Micros.Load()) / 1e6
	for i := range l.counts {
		_, n := bucketStart(i)
		out.Counts[min(n, LatencyBuckets)] += l.counts[i].Load()
	}
	return out
}

// LatencyClasses are the histograms of serverStatus.opLatencies, one for each class of
// commands.
type LatencyClasses struct{ Reads, Writes, Commands, Transactions Latencies }
