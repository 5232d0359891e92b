package kernel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// The version that the server reports: MongoDB's, whose behaviour it follows.
const (
	ServerVersion  = "8.0.16"
	MaxWireVersion = 25
)

// Limits that hello announces.
const (
	MaxDocumentBytes = 16 * 1024 * 1024
	MaxMessageBytes  = 48_000_000
	MaxWriteBatch    = 100_000
)

// Options says what a Service works with.
type Options struct {
	Engine     storage.Engine
	Clock      clock.Clock
	Log        zerolog.Logger
	TempDir    string             // for sorts and groups that spill
	DBPath     string             // as given, for getCmdLineOpts
	Parameters map[string]string  // --setParameter
	Argv       []string           // the command line, for getCmdLineOpts
	Parsed     value.Doc          // the parsed configuration, for getCmdLineOpts
	TestClock  bool               // Clock is a *clock.Manual that commands may move
	Shutdown   func()             // asked for by the shutdown command
	DuskDB     string             // version of DuskDB itself
	Lines      *observe.LogLines  // the recent log, for getLog
	RotateLog  func() error       // begins a new log file; nil: the log goes to no file
	Profiling  *observe.Profiling // of every database at first; nil: none but slow operations in the log
	Warnings   []string           // startup warnings, for getLog
	Security   Security           // who may use the server
	Memory     int64              // bytes that the data may grow to; 0: no limit
	MaxConns   int                // most connections, for serverStatus; 0: no limit
	// Compressors are the names of those that clients may choose; nil: all.
	Compressors []string

	OplogBytes              int64 // bound of the change log; 0: 64 MB once it is read, negative: none is kept
	OplogMinRetentionMillis int64 // how long its entries are kept at least
	NoScripting             bool  // there is no JavaScript

	// ReplSet is the name of the replica set whose only member this server
	// says it is; "": it is a standalone.
	ReplSet string
	// AdvertiseHost is the member's "host:port"; "": the address that the
	// client connected to.
	AdvertiseHost string
	// AskSelf asks who answers at a "host:port" for the id that its command
	// _isSelf gives; nil: nobody can be asked.
	AskSelf func(ctx context.Context, address string) (value.OID, error)
}

// Service runs commands. It is safe for concurrent use.
type Service struct {
	Engine    storage.Engine
	Clock     clock.Clock
	Log       zerolog.Logger
	Options   Options
	StartedAt time.Time
	Table     map[string]*Command
	Commands  []*Command // sorted by name, without aliases

	Real       clock.Clock // for what must not follow a test clock: cursors, sessions
	Params     *Parameters
	Verbosity  *observe.Verbosity
	Auth       *auth.Manager
	Cursors    *Cursors
	Sessions   *session.Registry
	Ops        *Operations
	Metrics    observe.Metrics
	Stamps     clustertime.Clock
	Oplog      *oplog.Log
	Records    session.Records
	Snapshots  session.Snapshots
	Memory     *limits.MemoryGuard
	Began      time.Time    // real time of the start
	Outs       atomic.Int64 // names for the collections $out writes into
	Usage      observe.Usage
	IndexUse   catalog.IndexUse
	Fsync      *limits.FsyncLock
	Leader     replset.Leadership
	FailPoints observe.FailPoints
	Buckets    *timeseries.Catalog
	Background context.Context // ends when the server stops
	ProcessID  value.OID       // which hello shows to everybody
	Instance   value.OID       // by which the server knows itself
	Monitor    *ttl.Monitor
	// monitorDone waits for a running pass to end; nil before Start.
	MonitorDone func()
	Changes     *broadcast.Broadcast // signalled after every committed write
	Queues      *queue.Broker
	lastConn    atomic.Int64
	Profiler    *observe.Profiler
	Compaction  autoCompaction
	Settings    *Settings
	RequireAPI  atomic.Bool // requireApiVersion: every command asks
	Scripts     *script.Engine
	// establishment limits how fast connections begin.
	Establishment *limits.RateLimiter
}

// autoCompaction is the compaction that goes on in the background, if any.
type autoCompaction struct {
	Mu     sync.Mutex
	Cancel context.CancelFunc
}

// With --replSet the server shows the face of a replica set of one member,
// which needs no set-up to be its primary: drivers then use sessions,
// retryable writes and causal consistency on their own. Transactions and
// change streams do not need it.

// InReplicaSet reports whether the server says that it is a member.
func (s *Service) InReplicaSet() bool { return s.Options.ReplSet != "" }

// Security says who may use a Service.
type Security struct {
	// Auth demands that clients log in.
	Auth bool
	// RootUser and RootPassword name the first user, made with the role root
	// if there is no user yet.
	RootUser, RootPassword string
	// Exposed tells that others than this machine can connect.
	Exposed bool
	// RotateCertificates reads the TLS certificates again; nil without TLS.
	RotateCertificates func() error
}

// WaitUnlocked blocks a write while the lock is held.
func (c *Call) WaitUnlocked() error { return c.Svc.Writable(c.Ctx) }

// Writable waits until nobody holds the lock.
func (s *Service) Writable(ctx context.Context) error {
	l := s.Fsync
	for l.Held() {
		released := l.Released.Wait()
		if !l.Held() {
			return nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return mongoerr.From(context.Cause(ctx))
		}
	}
	return nil
}
