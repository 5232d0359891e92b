package diagnostics

import (
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// Metrics holds the counters and gauges of the service, for monitoring systems.
type Metrics struct {
	Uptime      time.Duration
	Opcounters  []Counter
	Documents   []Counter
	Connections struct{ Current, Available, Created, Rejected int64 }
	Network     struct{ BytesIn, BytesOut, Requests int64 }
	Cursors     struct{ Open, Opened, TimedOut int64 }
	Errors      int64 // commands that failed
	Panics      int64
	Sessions    int64
	Running     int64 // commands under way
	Expiry      ExpiryCounters
	ExpiryLags  []PolicyLag
	Expiring    []CollectionExpiry // a bounded number of collections, and the sum of the others
	Queues      []QueueDepth       // likewise
	Unread      int                // collections that were not looked at, as time was up
	Now         int64              // the server's time
	Latencies   []ClassLatency
	Storage     storage.EngineStats
	Cluster     *storage.ClusterStats // nil if the engine's data belong to this server alone
	Data        struct{ Collections, Documents, DataBytes, Indexes, IndexBytes int64 }
	Disk        struct{ Free, Total int64 } // the file system of the data; 0: unknown
	MemoryLimit int64
	MemoryUsed  int64 // the memory that counts for the limit; 0 without one
}

// ExpiryCounters are the counters of the monitor and of the queues.
type ExpiryCounters struct {
	SubPasses, DeferredPasses, Errors         int64
	SkippedIndexes, Keys, Kept                int64
	LocksLapsed, MaxDeliveries, QueuesDeleted int64
	PassTimes                                 storage.DurationCounts
	SincePass                                 time.Duration // real time since the last pass, or the start
	Enabled                                   bool
	Interval                                  int64 // seconds between passes
	Removed                                   ttl.PolicyCounts
}

// Counter is a named count.
type Counter struct {
	Name  string
	Value int64
}

// ClassLatency is the histogram of one class of commands.
type ClassLatency struct {
	Class string
	observe.Latency
}

// PolicyLag is how long after their expiry one policy removed documents.
type PolicyLag struct {
	Policy string
	ttl.Lags
}

// Snapshot reads all counters.
func Snapshot(s *kernel.Service) Metrics {
	m := Metrics{
		Now: s.Clock.NowMillis(), Uptime: s.Real.Now().Sub(s.Began),
		Errors: s.Metrics.Asserts.User.Load(), Panics: s.Metrics.Asserts.Regular.Load(),
		Sessions: int64(len(s.Sessions.List())), Running: int64(s.Ops.Count()),
		MemoryLimit: s.Memory.Limit, MemoryUsed: s.Memory.Used.Load(),
	}
	fill(&s.Metrics, &m)
	m.Connections.Available = max(maxConns(s)-m.Connections.Current, 0)
	m.Cursors.Open, _, _, m.Cursors.Opened, m.Cursors.TimedOut = s.Cursors.Count()
	fillExpiry(s, &m)
	var err error
	if m.Storage, err = s.Engine.Stats(); err != nil {
		s.Log.Warn().Err(err).Msg("The state of the storage engine could not be read")
	}
	used, total := diskUsage(s.Options.DBPath)
	m.Disk.Free, m.Disk.Total = total-used, total
	if e, ok := clustered(s); ok {
		st, err := e.ClusterStats(s.Background)
		if err != nil {
			s.Log.Warn().Err(err).Msg("The state of the servers could not be read")
		}
		m.Cluster = &st
	}
	if reachable(s) == nil {
		fillData(s, &m)
	}
	return m
}

// maxConns is how many connections there may be.
func maxConns(s *kernel.Service) int64 {
	if s.Options.MaxConns > 0 {
		return int64(s.Options.MaxConns)
	}
	return defaultMaxConns
}

func fill(x *observe.Metrics, m *Metrics) {
	o, d, c, n := &x.Opcounters, &x.Document, &x.Connections, &x.Network
	m.Opcounters = []Counter{
		{"insert", o.Insert.Load()}, {"query", o.Query.Load()}, {"update", o.Update.Load()},
		{"delete", o.Remove.Load()}, {"getmore", o.Getmore.Load()}, {"command", o.Command.Load()},
	}
	m.Documents = []Counter{
		{"inserted", d.Inserted.Load()}, {"updated", d.Updated.Load()},
		{"deleted", d.Deleted.Load()}, {"returned", d.Returned.Load()},
	}
	m.Connections.Current, m.Connections.Created, m.Connections.Rejected = c.Current.Load(), c.Total.Load(), c.Rejected.Load()
	m.Network.BytesIn, m.Network.BytesOut, m.Network.Requests = n.BytesIn.Load(), n.BytesOut.Load(), n.Requests.Load()
	m.Latencies = []ClassLatency{
		{"reads", x.Latency.Reads.Snapshot()}, {"writes", x.Latency.Writes.Snapshot()}, {"commands", x.Latency.Commands.Snapshot()},
	}
}

func fillExpiry(s *kernel.Service, m *Metrics) {
	e := s.Monitor.Metrics()
	m.Expiry.SubPasses, m.Expiry.DeferredPasses = e.SubPasses.Load(), e.DeferredPasses.Load()
	m.Expiry.Errors, m.Expiry.SkippedIndexes, m.Expiry.Keys, m.Expiry.Kept = e.Errors.Load(), e.InvalidTTLIndexSkips.Load(), e.DeletedKeys.Load(), e.Kept.Load()
	m.Expiry.LocksLapsed, m.Expiry.MaxDeliveries, m.Expiry.QueuesDeleted = e.LocksLapsed.Load(), e.MaxDeliveryDeadLettered.Load(), e.QueuesAutoDeleted.Load()
	m.Expiry.PassTimes, m.Expiry.SincePass = e.PassTimes.Counts(), s.Monitor.SincePass()
	m.Expiry.Enabled, m.Expiry.Interval = s.Params.Bool("ttlMonitorEnabled"), s.Params.Int("ttlMonitorSleepSecs")
	m.Expiry.Removed = e.Removed()
	for p := range ttl.NumPolicies {
		m.ExpiryLags = append(m.ExpiryLags, PolicyLag{p.String(), e.LagOf(p)})
	}
}

// fillData adds up the sizes of all collections, and looks at what expires in them.
func fillData(s *kernel.Service, m *Metrics) {
	none := m.Data
	err := s.Engine.View(s.Background, func(tx storage.Tx) error {
		m.Data = none
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		gauges := newExpiryGauges(s, m, infos)
		defer gauges.end()
		for _, info := range infos {
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			m.Data.Collections++
			records, err := coll.Count()
			if err != nil {
				return err
			}
			size, err := coll.Size()
			if err != nil {
				return err
			}
			m.Data.Documents += records
			m.Data.DataBytes += size
			for i := range info.Indexes {
				st, err := coll.IndexStats(info.Indexes[i].Name)
				if err != nil {
					return err
				}
				m.Data.Indexes++
				m.Data.IndexBytes += st.Bytes
			}
			if err := gauges.add(tx, coll); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.Log.Warn().Err(err).Msg("The sizes of the collections could not be read")
	}
}

// Ready returns why the server cannot do its work, nil if it can.
func Ready(s *kernel.Service) error {
	if err := reachable(s); err != nil {
		return err
	}
	return s.Engine.View(s.Background, func(storage.Tx) error { return s.Background.Err() })
}

// Panics returns the number of commands that panicked.
func Panics(s *kernel.Service) int64 { return s.Metrics.Asserts.Regular.Load() }
