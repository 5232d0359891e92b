package commands

import (
	"time"

	"github.com/duskdb/duskdb/storage"
)

// Metrics is what the service counts, for monitoring systems.
type Metrics struct {
	Version     string // DuskDB's own
	Uptime      time.Duration
	Opcounters  []Counter
	Documents   []Counter
	Connections struct{ Current, Available, Created, Rejected int64 }
	Network     struct{ BytesIn, BytesOut, Requests int64 }
	Cursors     struct{ Open, Pinned, Opened, TimedOut int64 }
	Errors      int64 // commands that failed
	Panics      int64
	Sessions    int64
	Running     int64 // commands under way
	Expiry      []Counter
	Latencies   []ClassLatency
	Storage     storage.EngineStats
	Data        struct{ Collections, Documents, DataBytes, Indexes, IndexBytes int64 }
	MemoryLimit int64
	MemoryUsed  int64 // as the memory limit counts it; 0 without one
}

// Counter is a named count.
type Counter struct {
	Name  string
	Value int64
}

// ClassLatency is the histogram of one class of commands.
type ClassLatency struct {
	Class string
	Latency
}

// Snapshot reads all counters.
func (s *Service) Snapshot() Metrics {
	m := Metrics{
		Version: s.options.DuskDB, Uptime: s.real.Now().Sub(s.began), Storage: s.engine.Stats(),
		Errors: s.metrics.asserts.user.Load(), Panics: s.metrics.asserts.regular.Load(),
		Sessions: int64(len(s.sessions.list())), Running: int64(s.ops.count()),
		MemoryLimit: s.memory.limit, MemoryUsed: s.memory.used.Load(),
	}
	s.metrics.fill(&m)
	m.Connections.Available = max(s.maxConns()-m.Connections.Current, 0)
	m.Cursors.Open, _, m.Cursors.Pinned, m.Cursors.Opened, m.Cursors.TimedOut = s.cursors.count()
	s.fillExpiry(&m)
	s.fillData(&m)
	return m
}

// maxConns is how many connections there may be.
func (s *Service) maxConns() int64 {
	if s.options.MaxConns > 0 {
		return int64(s.options.MaxConns)
	}
	return defaultMaxConns
}

func (x *metrics) fill(m *Metrics) {
	o, d, c, n := &x.opcounters, &x.document, &x.connections, &x.network
	m.Opcounters = []Counter{
		{"insert", o.insert.Load()}, {"query", o.query.Load()}, {"update", o.update.Load()},
		{"delete", o.remove.Load()}, {"getmore", o.getmore.Load()}, {"command", o.command.Load()},
	}
	m.Documents = []Counter{
		{"inserted", d.inserted.Load()}, {"updated", d.updated.Load()},
		{"deleted", d.deleted.Load()}, {"returned", d.returned.Load()},
	}
	m.Connections.Current, m.Connections.Created, m.Connections.Rejected = c.current.Load(), c.total.Load(), c.rejected.Load()
	m.Network.BytesIn, m.Network.BytesOut, m.Network.Requests = n.bytesIn.Load(), n.bytesOut.Load(), n.requests.Load()
	m.Latencies = []ClassLatency{
		{"reads", x.latency.reads.snapshot()}, {"writes", x.latency.writes.snapshot()}, {"commands", x.latency.commands.snapshot()},
	}
}

func (s *Service) fillExpiry(m *Metrics) {
	e := s.monitor.Metrics()
	m.Expiry = []Counter{
		{"ttl_deleted_documents", e.DeletedDocuments.Load()},
		{"ttl_deleted_keys", e.DeletedKeys.Load()},
		{"ttl_passes", e.Passes.Load()},
		{"ttl_sub_passes", e.SubPasses.Load()},
		{"ttl_invalid_index_skips", e.InvalidTTLIndexSkips.Load()},
		{"document_ttl_purged", e.Purged.Load()},
		{"document_ttl_deferred_passes", e.DeferredPasses.Load()},
		{"on_expire_moved", e.Moved.Load()},
		{"on_expire_kept", e.Kept.Load()},
		{"messages_dropped", e.ExpiredDropped.Load()},
		{"messages_dead_lettered", e.ExpiredDeadLettered.Load()},
		{"message_locks_lapsed", e.LocksLapsed.Load()},
		{"message_max_deliveries", e.MaxDeliveryDeadLettered.Load()},
		{"queues_auto_deleted", e.QueuesAutoDeleted.Load()},
	}
}

// fillData adds up the sizes of all collections.
func (s *Service) fillData(m *Metrics) {
	_ = s.engine.View(s.background, func(tx storage.Tx) error {
		for _, info := range tx.Collections("") {
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				continue
			}
			m.Data.Collections++
			m.Data.Documents += coll.Count()
			m.Data.DataBytes += coll.Size()
			for i := range info.Indexes {
				if st, err := coll.IndexStats(info.Indexes[i].Name); err == nil {
					m.Data.Indexes++
					m.Data.IndexBytes += st.Bytes
				}
			}
		}
		return nil
	})
}

// Ready reports why the server cannot do its work, nil if it can.
func (s *Service) Ready() error {
	return s.engine.View(s.background, func(storage.Tx) error { return s.background.Err() })
}

// Panics is the number of commands that met an error of the server itself.
func (s *Service) Panics() int64 { return s.metrics.asserts.regular.Load() }
