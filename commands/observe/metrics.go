package observe

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/value"
)

// Metrics are the counters behind serverStatus.
type Metrics struct {
	Opcounters    struct{ Insert, Query, Update, Remove, Getmore, Command atomic.Int64 }
	OpQueries     atomic.Int64 // OP_QUERY messages that were queries, which are no longer run
	Document      struct{ Deleted, Inserted, Returned, Updated atomic.Int64 }
	Network       struct{ BytesIn, BytesOut, Requests atomic.Int64 }
	Connections   struct{ Current, Total, Rejected, Balanced atomic.Int64 }
	Asserts       struct{ User, Regular atomic.Int64 }
	QueryExecutor struct{ Scanned, ScannedObjects, CollectionScans atomic.Int64 }
	Transactions  struct{ Started, Committed, Aborted, RetriedCommands, RetriedStatements atomic.Int64 }
	ChangeStreams struct{ Split, Failed, Expanded atomic.Int64 } // large events, streams with showExpandedEvents
	commands      sync.Map                                       // name -> *CommandCounter
	Latency       LatencyClasses                                 // the histograms of opLatencies
	ReadConcerns  ReadConcerns                                   // the counters of readConcernCounters
	Elections     atomic.Int64                                   // elections that this member called
}

// Examined adds what a command has read. The scan of a collection counts when its cursor is
// opened, not for each getMore.
func (m *Metrics) Examined(c *Counts) {
	q := &m.QueryExecutor
	if c.Keys > 0 {
		q.Scanned.Add(c.Keys)
	}
	if c.Docs > 0 {
		q.ScannedObjects.Add(c.Docs)
	}
	if c.Access != nil && c.Origin == nil && c.Access.ScansAll() {
		q.CollectionScans.Add(1)
	}
}

// CommandCounter counts the runs of one command.
type CommandCounter struct{ Total, Failed atomic.Int64 }

// Command returns the counter of a command, which is made if need be.
func (m *Metrics) Command(name string) *CommandCounter {
	if c, ok := m.commands.Load(name); ok {
		return c.(*CommandCounter)
	}
	c, _ := m.commands.LoadOrStore(name, new(CommandCounter))
	return c.(*CommandCounter)
}

// Total is the number of commands that were observed.
func (l *Latencies) Total() (n int64) {
	for i := range l.counts {
		n += l.counts[i].Load()
	}
	return n
}

// AppendHistogram writes how many commands took how long; micros is the lowest
// of a bucket.
func (l *Latencies) AppendHistogram(b *value.Builder) {
	b.StartArray("histogram")
	below := l.counts[0].Load() // of the first two buckets, which are one in mongod
	for i := 1; i < len(l.counts); i++ {
		n := l.counts[i].Load() + below
		below = 0
		if low, _ := bucketStart(i); n > 0 {
			b.StartDocument("").Int64("micros", low).Int64("count", n).End()
		}
	}
	b.End()
}

// ReadConcerns counts the read concerns of reads, outside and inside
// transactions.
type ReadConcerns struct{ Outside, Inside ConcernCounts }

// ConcernCounts counts read concerns by their levels.
type ConcernCounts struct{ None, Local, Available, Majority, Linearizable, Snapshot, SnapshotAt atomic.Int64 }

// TimedCounter counts commands and how long they took together, with a histogram of the times.
type TimedCounter struct {
	usageCounter
	Histogram Latencies
}

func (t *TimedCounter) add(d time.Duration) {
	t.usageCounter.add(d)
	t.Histogram.Observe(d)
}
