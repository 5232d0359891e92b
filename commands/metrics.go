package commands

import (
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/value"
)

// metrics are the counters behind serverStatus.
type metrics struct {
	opcounters    struct{ insert, query, update, remove, getmore, command atomic.Int64 }
	document      struct{ deleted, inserted, returned, updated atomic.Int64 }
	network       struct{ bytesIn, bytesOut, requests atomic.Int64 }
	connections   struct{ current, active, total, rejected atomic.Int64 }
	asserts       struct{ user, regular atomic.Int64 }
	queryExecutor struct{ scanned, scannedObjects, collectionScans atomic.Int64 }
	transactions  struct{ started, committed, aborted, retriedCommands, retriedStatements atomic.Int64 }
	changeStreams struct{ split, failed, expanded atomic.Int64 } // large events, streams with showExpandedEvents
	commands      sync.Map                                       // name -> *commandCounter
	latency       latencyClasses
	readConcerns  readConcerns
	elections     atomic.Int64
}

// commandCounter counts the runs of one command.
type commandCounter struct{ total, failed atomic.Int64 }

func (m *metrics) command(name string) *commandCounter {
	if c, ok := m.commands.Load(name); ok {
		return c.(*commandCounter)
	}
	c, _ := m.commands.LoadOrStore(name, new(commandCounter))
	return c.(*commandCounter)
}

// ConnectionOpened and ConnectionClosed keep the connection counters.
func (s *Service) ConnectionOpened() {
	s.metrics.connections.current.Add(1)
	s.metrics.connections.total.Add(1)
}

// ConnectionClosed is called once for each ConnectionOpened.
func (s *Service) ConnectionClosed() { s.metrics.connections.current.Add(-1) }

// ConnectionRejected counts a connection that was refused because there are
// too many.
func (s *Service) ConnectionRejected() { s.metrics.connections.rejected.Add(1) }

// CountNetwork adds the bytes of one request and its reply.
func (s *Service) CountNetwork(in, out int) {
	s.metrics.network.bytesIn.Add(int64(in))
	s.metrics.network.bytesOut.Add(int64(out))
	s.metrics.network.requests.Add(1)
}

// appendCounters writes serverStatus.metrics.commands.
func (m *metrics) appendCommands(s *Service, b *value.Builder) {
	b.StartDocument("commands")
	for _, cmd := range s.commands {
		counter := m.command(cmd.name)
		b.StartDocument(cmd.name)
		b.Int64("failed", counter.failed.Load()).Int64("total", counter.total.Load())
		b.End()
	}
	b.End()
}
