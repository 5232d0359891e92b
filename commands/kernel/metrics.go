package kernel

import (
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// LatencyClass returns the histogram of opLatencies to which a command belongs: reads,
// writes or commands.
func LatencyClass(l *observe.LatencyClasses, cmd *Command) *observe.Latencies {
	switch {
	case cmd.Has(ReadOp):
		return &l.Reads
	case cmd.Has(WriteOp):
		return &l.Writes
	}
	return &l.Commands
}

// ConnectionOpened and ConnectionClosed keep the connection counters. They return how many
// connections are open.
func (s *Service) ConnectionOpened() int64 {
	s.Metrics.Connections.Total.Add(1)
	return s.Metrics.Connections.Current.Add(1)
}

// ConnectionClosed is called once for each ConnectionOpened.
func (s *Service) ConnectionClosed() int64 { return s.Metrics.Connections.Current.Add(-1) }

// ConnectionRejected counts a connection that was refused because there are
// too many.
func (s *Service) ConnectionRejected() { s.Metrics.Connections.Rejected.Add(1) }

// CountNetwork adds the bytes of one request and its reply.
func (s *Service) CountNetwork(in, out int) {
	s.Metrics.Network.BytesIn.Add(int64(in))
	s.Metrics.Network.BytesOut.Add(int64(out))
	s.Metrics.Network.Requests.Add(1)
}

// AppendCommandMetrics writes serverStatus.metrics.commands.
func AppendCommandMetrics(m *observe.Metrics, s *Service, b *value.Builder) {
	b.StartDocument("commands")
	for _, cmd := range s.Commands {
		counter := m.Command(cmd.Name)
		b.StartDocument(cmd.Name)
		b.Int64("failed", counter.Failed.Load()).Int64("total", counter.Total.Load())
		b.End()
	}
	b.End()
}

// CountReadConcern notes the read concern of a command.
func CountReadConcern(r *observe.ReadConcerns, c *Call) {
	n := &r.Outside
	if c.Generic.Autocommit != nil {
		if c.Generic.StartTxn == nil {
			return // the transaction has been counted
		}
		n = &r.Inside
	}
	switch c.Generic.Level {
	case "local":
		n.Local.Add(1)
	case "available":
		n.Available.Add(1)
	case "majority":
		n.Majority.Add(1)
	case "linearizable":
		n.Linearizable.Add(1)
	case "snapshot":
		if c.Generic.ReadConcern.Has("atClusterTime") {
			n.SnapshotAt.Add(1)
		} else {
			n.Snapshot.Add(1)
		}
	default:
		n.None.Add(1)
	}
}
