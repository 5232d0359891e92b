package commands

import (
	"context"
	"math"
	"os"
	"sort"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/clock"
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
	TempDir    string            // for sorts and groups that spill
	DBPath     string            // as given, for getCmdLineOpts
	Parameters map[string]string // --setParameter
	Argv       []string          // the command line, for getCmdLineOpts
	Parsed     value.Doc         // the parsed configuration, for getCmdLineOpts
	TestClock  bool              // Clock is a *clock.Manual that commands may move
	Shutdown   func()            // asked for by the shutdown command
	DuskDB     string            // version of DuskDB itself
	Lines      *LogLines         // the recent log, for getLog
	RotateLog  func() error      // begins a new log file; nil: the log goes to no file
	Profiling  *Profiling        // of every database at first; nil: none but slow operations in the log
	Warnings   []string          // startup warnings, for getLog
	Security   Security          // who may use the server
	Memory     int64             // bytes that the data may grow to; 0: no limit
	MaxConns   int               // most connections, for serverStatus; 0: no limit
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
	engine   storage.Engine
	clock    clock.Clock
	log      zerolog.Logger
	options  Options
	start    time.Time
	table    map[string]*command
	commands []*command // sorted by name, without aliases

	real          clock.Clock // for what must not follow a test clock: cursors, sessions
	params        *parameters
	verbosity     *verbosity
	auth          *auth.Manager
	cursors       *cursorRegistry
	sessions      *sessionRegistry
	ops           *operationRegistry
	metrics       metrics
	stamps        timestamps
	oplog         *changeLog
	records       sessionRecords
	snapshots     snapshots
	streamOptions streamOptions
	memory        *memoryGuard
	began         time.Time    // real time of the start
	outs          atomic.Int64 // names for the collections $out writes into
	usage         usage
	indexUse      indexUse
	fsync         *fsyncLock
	leader        leadership
	failPoints    failPoints
	buckets       *timeseries.Catalog
	background    context.Context // ends when the server stops
	processID     value.OID       // which hello shows to everybody
	instance      value.OID       // by which the server knows itself
	monitor       *ttl.Monitor
	// monitorDone waits for a running pass to end; nil before Start.
	monitorDone func()
	changes     *broadcast // signalled after every committed write
	queues      *queue.Broker
	lastConn    atomic.Int64
	profiler    *profiler
	compaction  autoCompaction
	settings    settings
	requireAPI  atomic.Bool // requireApiVersion: every command asks
	scripts     *script.Engine
	// establishment limits how fast connections begin.
	establishment *rateLimiter
}

// New makes a Service over an open engine.
func New(o Options) (*Service, error) {
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	s := &Service{
		engine: o.Engine, clock: o.Clock, log: talkative(o.Log), verbosity: newVerbosity(), options: o, start: o.Clock.Now(),
		cursors: newCursorRegistry(), sessions: newSessionRegistry(), ops: newOperationRegistry(),
		real: clock.System(), changes: newBroadcast(), leader: leadership{changed: newBroadcast()}, fsync: newFsyncLock(), failPoints: newFailPoints(), profiler: newProfiler(o.Profiling), buckets: timeseries.NewCatalog(), background: context.Background(), processID: value.NewOID(o.Clock.NowMillis()), instance: value.NewOID(o.Clock.NowMillis()),
	}
	s.memory, s.began = newMemoryGuard(o.Memory, s.real, &s.log), s.real.Now()
	if err := o.Profiling.check(); err != nil {
		return nil, err
	}
	s.establishment = newRateLimiter(math.MaxInt32, math.Inf(1), s.began)
	s.scripts = s.newScripts()
	s.params = newParameters(s)
	if err := s.params.load(o.Parameters); err != nil {
		return nil, err
	}
	s.monitor = s.newMonitor()
	s.queues = queue.NewBroker(s.clock, s.real, s.monitor.Metrics())
	s.buildTable()
	if err := s.openAuth(); err != nil {
		return nil, err
	}
	if err := s.loadTerm(); err != nil {
		return nil, err
	}
	if err := s.openLog(); err != nil {
		return nil, err
	}
	if err := s.joinSet(); err != nil {
		return nil, err
	}
	if err := s.keepVersion(); err != nil {
		return nil, err
	}
	if err := s.dropLeftOvers(); err != nil {
		return nil, err
	}
	if err := s.loadSettings(); err != nil {
		return nil, err
	}
	return s, s.reopenPolicies()
}

// buildTable collects the families of commands into one sorted table.
func (s *Service) buildTable() {
	s.table = map[string]*command{}
	for _, family := range commandFamilies() {
		for i := range family {
			cmd := &family[i]
			if cmd.enabled != nil && !cmd.enabled(s) {
				continue
			}
			cmd.runs, cmd.rule = s.metrics.command(cmd.name), authRules[cmd.name]
			s.commands = append(s.commands, cmd)
			s.table[cmd.name] = cmd
			for _, alias := range cmd.aliases {
				s.table[alias] = cmd
			}
		}
	}
	sort.Slice(s.commands, func(i, j int) bool { return s.commands[i].name < s.commands[j].name })
}

// Close ends all cursors and sessions. The engine belongs to the caller.
func (s *Service) Close() {
	if s.monitorDone != nil {
		s.monitorDone() // the context of Start has ended
	}
	s.queues.Close()
	s.cursors.closeAll()
	s.sessions.closeAll(context.Background())
	s.snapshots.close()
}
