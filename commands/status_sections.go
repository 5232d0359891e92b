package commands

import (
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Sections of serverStatus that monitoring asks a mongod for.

// writeCatalogStats counts the collections by kind: those of clients, and those
// that the server has for itself.
func writeCatalogStats(c *Call, b *value.Builder) {
	var n struct{ collections, capped, clustered, series, views, internal int32 }
	_ = c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections("") {
			m := metaOf(info)
			switch {
			case !userDatabase(info.Namespace.DB) || hiddenCollection(info.Namespace) || isSystem(info.Namespace.Coll):
				n.internal++
			case m.kind == view:
				n.views++
			case m.kind == timeSeries:
				n.series++
			default:
				n.collections++
				if m.capped {
					n.capped++
				}
				if m.clustered != nil {
					n.clustered++
				}
			}
		}
		return nil
	})
	b.Int32("collections", n.collections).Int32("capped", n.capped).Int32("clustered", n.clustered).Int32("timeseries", n.series).
		Int32("views", n.views).Int32("internalCollections", n.internal).Int32("internalViews", 0)
}

// writeElectionMetrics tells of the one member, which is elected when it starts
// and when it comes back from a step-down.
func writeElectionMetrics(c *Call, b *value.Builder) {
	for _, name := range []string{"stepUpCmd", "priorityTakeover", "catchUpTakeover", "electionTimeout", "freezeTimeout"} {
		n := int64(0)
		if name == "electionTimeout" {
			n = c.svc.metrics.elections.Load()
		}
		b.StartDocument(name).Int64("called", n).Int64("successful", n).End()
	}
	for _, name := range []string{
		"numStepDownsCausedByHigherTerm", "numCatchUps", "numCatchUpsSucceeded", "numCatchUpsAlreadyCaughtUp", "numCatchUpsSkipped",
		"numCatchUpsTimedOut", "numCatchUpsFailedWithError", "numCatchUpsFailedWithNewTerm", "numCatchUpsFailedWithReplSetAbortPrimaryCatchUpCmd",
	} {
		b.Int64(name, 0)
	}
	b.Double("averageCatchUpOps", 0)
}

// writeLocks tells how often the one lock of the engine was taken: in shared
// form by what reads, alone by what commits.
func writeLocks(c *Call, b *value.Builder) {
	b.StartDocument("Global").StartDocument("acquireCount").
		Int64("r", c.svc.metrics.latency.reads.total()+c.svc.metrics.latency.commands.total()).
		Int64("w", c.svc.engine.Stats().Commits).End().End()
}

func writeOpLatencies(c *Call, b *value.Builder) {
	l := &c.svc.metrics.latency
	for _, x := range []struct {
		name string
		of   *latencies
	}{{"reads", &l.reads}, {"writes", &l.writes}, {"commands", &l.commands}, {"transactions", &l.transactions}} {
		b.StartDocument(x.name).Int64("latency", x.of.micros.Load()).Int64("ops", x.of.total())
		if c.Body.Lookup("opLatencies").Doc().Lookup("histograms").Truthy() {
			x.of.appendHistogram(b)
		}
		b.Int64("queryableEncryptionLatencyMicros", 0).End()
	}
}

// writeOpcountersRepl counts what came from other members: there is none.
func writeOpcountersRepl(_ *Call, b *value.Builder) {
	for _, name := range []string{"insert", "query", "update", "delete", "getmore", "command"} {
		b.Int64(name, 0)
	}
}

// writeMirroredReads counts reads sent to other members: there is none.
func writeMirroredReads(_ *Call, b *value.Builder) {
	b.Int64("seen", 0).Int64("sent", 0).Int64("succeeded", 0)
}

// total is the number of commands that were observed.
func (l *latencies) total() (n int64) {
	for i := range l.counts {
		n += l.counts[i].Load()
	}
	return n
}

// appendHistogram writes how many commands took how long; micros is the least
// of a bucket.
func (l *latencies) appendHistogram(b *value.Builder) {
	b.StartArray("histogram")
	below := l.counts[0].Load() // of the first two buckets, which are one in mongod
	for i := 1; i < len(l.counts); i++ {
		n := l.counts[i].Load() + below
		below = 0
		if least, _ := leastOf(i); n > 0 {
			b.StartDocument("").Int64("micros", least).Int64("count", n).End()
		}
	}
	b.End()
}

// readConcerns counts the read concerns of reads, outside and inside
// transactions.
type readConcerns struct{ outside, inside concernCounts }

type concernCounts struct{ none, local, available, majority, linearizable, snapshot, snapshotAt atomic.Int64 }

// count notes the read concern of a command.
func (r *readConcerns) count(c *Call) {
	n := &r.outside
	if c.generic.autocommit != nil {
		if c.generic.startTxn == nil {
			return // the transaction has been counted
		}
		n = &r.inside
	}
	switch c.generic.level {
	case "local":
		n.local.Add(1)
	case "available":
		n.available.Add(1)
	case "majority":
		n.majority.Add(1)
	case "linearizable":
		n.linearizable.Add(1)
	case "snapshot":
		if c.generic.readConcern.Has("atClusterTime") {
			n.snapshotAt.Add(1)
		} else {
			n.snapshot.Add(1)
		}
	default:
		n.none.Add(1)
	}
}

func writeReadConcerns(c *Call, b *value.Builder) {
	r := &c.svc.metrics.readConcerns
	write := func(name string, n *concernCounts, inTransactions bool) {
		b.StartDocument(name).Int64("none", n.none.Load())
		b.StartDocument("noneInfo").StartDocument("CWRC").Int64("local", 0).Int64("available", 0).Int64("majority", 0).End()
		b.StartDocument("implicitDefault").Int64("local", n.none.Load()).Int64("available", 0).End().End()
		b.Int64("local", n.local.Load())
		if !inTransactions {
			b.Int64("available", n.available.Load())
		}
		b.Int64("majority", n.majority.Load())
		b.StartDocument("snapshot").Int64("withClusterTime", n.snapshotAt.Load()).Int64("withoutClusterTime", n.snapshot.Load()).End()
		if !inTransactions {
			b.Int64("linearizable", n.linearizable.Load())
		}
		b.End()
	}
	write("nonTransactionOps", &r.outside, false)
	write("transactionOps", &r.inside, true)
}

// timedCounter is a usageCounter that tells how the times spread, too.
type timedCounter struct {
	usageCounter
	spread latencies
}

func (t *timedCounter) add(d time.Duration) {
	t.usageCounter.add(d)
	t.spread.observe(d)
}
