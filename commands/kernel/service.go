package kernel

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// Service runs commands. It is safe for concurrent use. Its parts are embedded, so that
// s.Engine is the engine of its storage; each is described with its type.
type Service struct {
	CommandTable
	Configuration
	Runtime
	Replication
	Clients
	Access
	Expiry
	Observation
	Scripts *script.Engine // runs JavaScript
	disk    diskEpisode
}

// NewService makes a Service with the parts that need nothing but the options. The
// others (parameters, command table, users, expiry, the change log) are opened by the
// packages above that know them, before the first command.
func NewService(o Options) *Service {
	s := &Service{
		Configuration: Configuration{Options: o, Settings: NewSettings()},
		Runtime:       newRuntime(o),
		Replication:   newReplication(o),
		Clients:       newClients(),
		Observation:   newObservation(o),
	}
	s.Stamps.Follow(o.Engine)
	s.Memory = limits.NewMemoryGuard(dataLimit(&o), s.Real, &s.Log)
	s.Turns = limits.NewTurns(o.Memory, s.Real)
	s.establishment = limits.NewRateLimiter(math.MaxInt32, math.Inf(1), s.Began)
	s.Scripts = newScripts(s)
	return s
}

// dataLimit is the memory that the data may take, 0 for no limit: an engine whose data
// are not in memory bounds what it keeps there itself.
func dataLimit(o *Options) int64 {
	if stats, err := o.Engine.Stats(); err == nil && !stats.Resident {
		return 0
	}
	return o.Memory
}

// CommandTable is the table of commands.
type CommandTable struct {
	Table    map[string]*Command // the commands by name and by alias
	Commands []*Command          // sorted by name, without aliases
}

// Configuration is how the server was started and what administrators have changed
// since.
type Configuration struct {
	Options  Options
	Params   *Parameters
	Settings *Settings
}

// Runtime is the engine, the limits on writes to it, and the clocks.
type Runtime struct {
	Engine     storage.Engine
	Clock      clock.Clock     // the server's time, which decides what has expired
	Real       clock.Clock     // real time, also with a test clock: for cursors, sessions, latencies
	StartedAt  time.Time       // the start of the server, by Clock
	Began      time.Time       // the start of the server, by Real
	Background context.Context // ends when the server stops
	Work       sync.WaitGroup  // waits for the work that runs until Background ends
	Memory     *limits.MemoryGuard
	Turns      *limits.Turns // the order of long operations while memory is short
	Fsync      *limits.FsyncLock
	Buckets    *timeseries.Catalog  // the open buckets of time series
	Changes    *broadcast.Broadcast // a signal after every committed write
	Shared     bool                 // whether other servers have the same data
	Outs       atomic.Int64         // the number of temporary collections of $out so far, for their names
	owner      owner                // the id of this server among several
	common     *sharedClock         // the time that several servers share; nil: Clock is this server's own
	Compaction autoCompaction
	// OnNews is called when other servers have committed something; nil: nothing is needed
	// beside Follow.
	OnNews func(context.Context) error
}

// autoCompaction is the compaction in the background, if it is on.
type autoCompaction struct {
	Mu      sync.Mutex
	Cancel  context.CancelFunc // nil: it is off
	Options CompactionOptions
}

// CompactionOptions are the arguments of autoCompact.
type CompactionOptions struct {
	TargetMB int64 // free space that makes a compaction worthwhile, in megabytes
	Once     bool  // the compaction is off when it has run
}

func newRuntime(o Options) Runtime {
	realTime := clock.System()
	return Runtime{
		Engine: o.Engine, Clock: o.Clock, Real: realTime, StartedAt: o.Clock.Now(), Began: realTime.Now(),
		Background: context.Background(), Fsync: limits.NewFsyncLock(), Buckets: timeseries.NewCatalog(), Changes: broadcast.New(), Shared: o.Engine.Changes() != nil,
	}
}

// MillisAt returns the server's time, in milliseconds, of a moment that has just been read as
// real. It saves reading the time twice, which costs as much as a few percent of a find.
func (s *Runtime) MillisAt(real time.Time) int64 {
	if s.Clock == clock.System() {
		return real.UnixMilli()
	}
	return s.Clock.NowMillis()
}

// WallNow returns the real time for what is stored: that of the database if it has a
// clock, so that all servers over it agree.
func (s *Runtime) WallNow() time.Time {
	if t, ok := s.Engine.(storage.Timekeeper); ok {
		return t.Clock().Now()
	}
	return s.Real.Now()
}

// Replication is the state of the server as the only member of a replica set, and the change
// log, which exists without a replica set, too.
type Replication struct {
	Leader    replset.Leadership
	config    *serverdocs.Cache[replset.Config] // nil without a set
	Stamps    clustertime.Clock
	Oplog     *oplog.Log
	ProcessID value.OID // the process id in hello's topologyVersion
	Instance  value.OID // the id by which the server recognizes its own address
	ServiceID value.OID // the id by which clients of a load balancer tell servers apart
}

func newReplication(o Options) Replication {
	now := o.Clock.NowMillis()
	return Replication{Leader: replset.Leadership{Changed: broadcast.New()}, ProcessID: value.NewOID(now), Instance: value.NewOID(now), ServiceID: value.NewOID(now)}
}

// Clients is the state of clients between their commands, and their running operations.
type Clients struct {
	Cursors   *Cursors
	Sessions  *session.Registry
	Snapshots session.Snapshots // the snapshots of reads with read concern "snapshot"
	Ops       *Operations
	lastConn  atomic.Int64 // id of the newest connection
	conns     sync.Map     // id -> *Conn, those that are open
}

func newClients() Clients {
	return Clients{Cursors: newCursors(), Sessions: session.NewRegistry(), Ops: newOperations()}
}

// Access is the state of authentication, authorization and the limit on new connections.
type Access struct {
	Auth          *auth.Manager
	RequireAPI    atomic.Bool         // the parameter requireApiVersion
	establishment *limits.RateLimiter // limits how fast connections begin
}

// Expiry removes expired documents and settles the messages of queues.
type Expiry struct {
	Monitor     *monitor.Monitor
	MonitorDone func() // waits for a running pass to end; nil before the start
	Queues      *queue.Broker
}

// Observation is what the server reports about itself, and the fail points.
type Observation struct {
	Log        zerolog.Logger
	Verbosity  *observe.Verbosity
	Metrics    observe.Metrics
	Usage      observe.Usage    // the counters of each collection, for top
	IndexUse   catalog.IndexUse // the counters of each index, for $indexStats
	Profiler   *observe.Profiler
	QueryStats *observe.QueryStats // for $queryStats
	FailPoints observe.FailPoints
}

func newObservation(o Options) Observation {
	return Observation{
		Log: observe.WithAllLevels(o.Log), Verbosity: observe.NewVerbosity(),
		Profiler: observe.NewProfiler(o.Profiling), QueryStats: observe.NewQueryStats(min(int64(limits.MemoryBytes()/100), 1<<30)), FailPoints: observe.NewFailPoints(),
	}
}
