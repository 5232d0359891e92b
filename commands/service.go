package commands

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/diagnostics"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Types of the rooms that users of this package need.
type (
	// Options are the options of a Service.
	Options = kernel.Options
	// Security are the options of access control.
	Security = kernel.Security
	// Conn is the state of one client connection.
	Conn = kernel.Conn
	// Request is one command as it came in.
	Request = kernel.Request
	// Response says what to do with the reply and the connection.
	Response = kernel.Response
	// Sequence is a list of documents sent beside the command's body.
	Sequence = kernel.Sequence
	// Metrics are the counters and gauges of the server.
	Metrics = diagnostics.Metrics
	// Counter is a count with a name.
	Counter = diagnostics.Counter
	// CollectionExpiry is what has expired and what will in one collection.
	CollectionExpiry = diagnostics.CollectionExpiry
	// LogLines are the latest log lines, which getLog shows.
	LogLines = observe.LogLines
	// LogLimit bounds the attributes of log lines.
	LogLimit = observe.LogLimit
	// Profiling are the options of the profiler.
	Profiling = observe.Profiling
)

// OtherCollections names the sum of the collections without metrics of their own.
const OtherCollections = diagnostics.OtherCollections

// LogNetwork is the log component of connections.
const LogNetwork = observe.LogNetwork

// Service runs commands. It is safe for concurrent use.
type Service struct{ *kernel.Service }

// New makes a Service over an open engine, whose Indexer is that of
// [NewIndexer]. If the database of the engine goes away meanwhile, New waits for it.
func New(o Options) (*Service, error) {
	var pause storage.Backoff
	for {
		s, err := newService(o)
		if err == nil {
			return &Service{s}, nil
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return nil, err
		}
		<-clock.System().After(pause.Next())
	}
}

// Handle runs one command and appends the reply to dst.
func (s *Service) Handle(ctx context.Context, conn *Conn, req *Request, dst []byte) ([]byte, Response) {
	return handleCommand(s.Service, ctx, conn, req, dst)
}

// Start starts the background work. It ends when ctx is done.
func (s *Service) Start(ctx context.Context) {
	housekeeping.Start(s.Service, ctx)
	if s.Shared {
		s.Work.Go(func() { clearAfterOthers(s.Service, ctx) })
	}
}

// Close ends all cursors and sessions. The context of [Service.Start] must have ended:
// Close waits for the work that goes on with it. The engine belongs to the caller.
func (s *Service) Close() { housekeeping.Close(s.Service) }

// CloseConn ends the commands of a connection and releases what it holds.
func (s *Service) CloseConn(c *Conn) {
	s.Service.CloseConn(c)
	endBalanced(s.Service, c)
}

// Ready returns why the server cannot serve now, nil if it can.
func (s *Service) Ready() error { return diagnostics.Ready(s.Service) }

// Snapshot returns the counters and gauges of the server.
func (s *Service) Snapshot() Metrics { return diagnostics.Snapshot(s.Service) }

// Panics returns how many commands have panicked.
func (s *Service) Panics() int64 { return diagnostics.Panics(s.Service) }

// SetFailPoint sets the fail point "failCommand", as configureFailPoint does. It
// returns how often it had been entered.
func (s *Service) SetFailPoint(mode value.Value, data value.Doc) (entered int64, err error) {
	return diagnostics.SetFailPoint(s.Service, mode, data)
}

// NewIndexer makes the Indexer to open an engine with.
func NewIndexer() storage.Indexer { return catalog.NewIndexer() }

// OrphanIndexes returns the indexes of a collection that a repair makes for documents
// whose collection is lost.
func OrphanIndexes() []storage.IndexSpec { return catalog.OrphanIndexes() }
