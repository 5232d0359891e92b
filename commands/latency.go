package commands

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// latencyBuckets are the powers of two of a microsecond that latencies are
// counted by: the last one has what took longer than about 67 s.
const latencyBuckets = 27

// latencies is a histogram that is cheap to add to.
type latencies struct {
	micros atomic.Int64 // sum
	counts [latencyBuckets + 1]atomic.Int64
}

// observe adds one command that took d.
func (l *latencies) observe(d time.Duration) {
	micros := max(d.Microseconds(), 0)
	l.micros.Add(micros)
	l.counts[min(bits.Len64(uint64(micros)), latencyBuckets)].Add(1)
}

// Latency is a histogram of how long commands took: Counts[i] took less than
// Bound(i), and not less than the bound before.
type Latency struct {
	Seconds float64 // sum
	Counts  [latencyBuckets + 1]int64
}

// Bound is the upper bound of bucket i in seconds; the last has none.
func (Latency) Bound(i int) float64 { return float64(int64(1)<<i) / 1e6 }

func (l *latencies) snapshot() (out Latency) {
	out.Seconds = float64(l.micros.Load()) / 1e6
	for i := range l.counts {
		out.Counts[i] = l.counts[i].Load()
	}
	return out
}

// latencyClasses are the kinds of commands whose latencies are told apart,
// as in serverStatus.opLatencies.
type latencyClasses struct{ reads, writes, commands, transactions latencies }

func (l *latencyClasses) of(cmd *command) *latencies {
	switch cmd.name {
	case "find", "getMore", "aggregate", "count", "distinct":
		return &l.reads
	case "insert", "update", "delete", "findAndModify", "bulkWrite":
		return &l.writes
	}
	return &l.commands
}
