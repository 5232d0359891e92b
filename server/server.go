// Package server runs DuskDB, on a socket or within another Go program:
//
//	srv, err := server.New(server.Config{DBPath: ":memory:"})
//	err = srv.Start()
//	client, err := mongo.Connect(options.Client().ApplyURI(srv.URI()))
//	defer srv.Close(context.Background())
//
// It owns the listeners, one goroutine per connection and the engine, and
// starts and stops them in order. Package commands implements the commands.
//
// # Stability
//
// Programs may build on this package: what it exports keeps its meaning within
// a major version. New fields, options and methods may come.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// LogLines keeps the recent lines of the log for getLog; pass it to the logger
// as a writer.
type LogLines = commands.LogLines

// LogLimit bounds the attributes of log lines, which may repeat what clients have sent; its
// Writer goes between the logger and where the lines are kept.
type LogLimit = commands.LogLimit

// MongoDBVersion is the version of MongoDB whose behaviour the server implements unless
// [Config] names another.
const MongoDBVersion = dialect.NewestFull

// Memory is the DBPath of a server that keeps nothing on disk.
const Memory = ":memory:"

// Profiling holds the initial settings of the profiler and the slow query log.
type Profiling = commands.Profiling

// Config configures a server. The zero value is a server on a free port of the
// loopback interface with its data in memory.
type Config struct {
	BindIP     []string // addresses, host names and sockets to listen on; nil: 127.0.0.1
	IPv6       bool     // host names stand for their IPv6 addresses, too
	Port       int      // 0: a free port, negative: none; see Server.Dial
	DBPath     string   // directory of the data; "" or Memory: none
	Parameters map[string]string
	// StorageEngine is the engine of the data, one of StorageEngines; "": bunt.
	StorageEngine string
	// StorageURI names the database of the engine postgres, with the password:
	// postgres://user:password@host/database. See docs/cluster.md.
	StorageURI string
	// CacheSize is the memory for data that an engine reads from disk when they
	// are needed: bytes, with a unit or without, or a percentage of the machine's
	// memory; "": the engine's default. An engine whose data are all in memory has
	// no cache.
	CacheSize string
	// TestClock gives clients the testClock command (semantics.md §11) and
	// makes the server's clock a clock.Manual.
	TestClock bool
	// Clock overrides the clock; nil: the system's, or a Manual with
	// TestClock.
	Clock    clock.Clock
	MaxConns int // 0: no limit beyond the system's
	// Compressors are the message compressors that clients may choose: snappy,
	// zstd, zlib; nil: all of them.
	Compressors []string
	// SocketMode are the permissions of a socket in the file system; 0: 0700.
	SocketMode os.FileMode
	// ReplSet makes the server the only member of a replica set of that name; "":
	// a standalone server.
	ReplSet string
	// AdvertiseHost is the "host:port" that the replica set reports to clients as
	// its member; "": the address that they connected to.
	AdvertiseHost string
	// OplogSizeMB is the size limit of the change log; 0: 64 MB, negative: no
	// change log and no change streams.
	OplogSizeMB int
	// OplogMinRetentionHours is how long entries of the change log are kept even
	// if it is full; 0: only the size counts.
	OplogMinRetentionHours float64
	// MongoDBVersion is the version of MongoDB that the server behaves as: "8.2" or "8.0";
	// "": 8.2.
	MongoDBVersion string
	// NoScripting refuses server-side JavaScript.
	NoScripting bool
	// MemoryLimit is the memory limit of the data: bytes, with a unit or without,
	// a percentage of the machine's memory, or "none"; "": 80%.
	MemoryLimit string
	// TuneGC configures the garbage collector of the process for the server.
	// Leave it unset in a program that configures the collector itself.
	TuneGC bool
	// MetricsPort is the port for /metrics, /healthz and /readyz, over HTTP; 0:
	// off, negative: a free port.
	MetricsPort int
	// MetricsBindIP is their address; there is no login. "": 127.0.0.1.
	MetricsBindIP string
	// MetricsPprof also serves the profiles of the process there, under
	// /debug/pprof.
	MetricsPprof bool
	// ConsolePort is the port of the web console, over HTTP, or over TLS if TLS is
	// enabled; 0: off, negative: a free port.
	ConsolePort int
	// ConsoleBindIP is its address; "": 127.0.0.1.
	ConsoleBindIP string
	// ConsoleReadOnly lets the console run only commands that read.
	ConsoleReadOnly bool
	// ConsoleHosts are names of the console besides those of the loopback addresses
	// and ConsoleBindIP. Requests to other names are refused.
	ConsoleHosts []string
	// Repair salvages the readable part of data that was damaged on disk, instead
	// of refusing it. The damaged file is kept.
	Repair bool
	Log    zerolog.Logger
	Lines  *LogLines // lines for getLog; nil: none
	// LogLimit is what the writer of Log was made with, so that the parameter maxLogSizeKB
	// has an effect; nil: the lines are not bounded.
	LogLimit *LogLimit
	Argv     []string // the command line, for getCmdLineOpts
	Parsed   value.Doc
	Version  string // DuskDB's own
	// RotateLog starts a new log file; nil: the log is not a file.
	RotateLog func() error
	// Profiling holds the initial settings of the profiler; nil: off, and
	// operations of 100 ms or more are logged as slow.
	Profiling *Profiling
	// Auth requires clients to log in. While no user exists, clients on this
	// machine may create the first one.
	Auth bool
	// RootUser and RootPassword define the first user, which is created if no
	// user exists.
	RootUser, RootPassword string
	TLS                    TLS
	// FileMode is the mode of the data files, restricted by the process's umask;
	// 0: 0600.
	FileMode os.FileMode
	// OnShutdown is called when a client asks the server to shut down.
	OnShutdown func()
	// fault makes operations on the disk fail in tests.
	fault func(step, path string) error
}

// Server is a running DuskDB.
type Server struct {
	config     Config
	dialect    dialect.Dialect // version of MongoDB with its own feature compatibility version
	endpoints  []string        // addresses and sockets to listen on
	clock      clock.Clock
	engine     storage.Engine
	service    *commands.Service
	listeners  []net.Listener
	balancers  []net.Listener // the port for load balancers
	metrics    *metricsServer // nil if off
	console    *consoleServer // nil if off
	opening    *opening
	inFlight   *inFlight
	timeLimits timeLimits
	gc         *gcTuner // nil unless requested

	certificates *certificates // nil without TLS

	log zerolog.Logger

	ctx      context.Context
	cancel   context.CancelCauseFunc
	mu       sync.Mutex
	conns    map[*conn]struct{}
	refused  map[net.Conn]struct{} // connections before Start
	wg       sync.WaitGroup
	draining atomic.Bool
	started  atomic.Bool
	repaired []string
}

// New opens the data and prepares a server. It listens, but clients are refused
// with NotYetInitialized until Start, while reading a large log takes long.
func New(cfg Config) (*Server, error) {
	s := &Server{
		config: cfg, log: cfg.Log, timeLimits: defaultTimeLimits, opening: newOpening(&cfg),
		conns: map[*conn]struct{}{}, refused: map[net.Conn]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	memory, err := s.readConfig()
	if err != nil {
		return nil, &OptionError{err}
	}
	s.inFlight = newInFlight(s.ctx, memory)
	if cfg.TuneGC {
		cache := int64(0)
		if HasCache(cfg.engineName()) {
			cache, _ = cfg.cacheBytes() // readConfig has checked it
		}
		s.gc = newGCTuner(memory, cache)
	}
	undo, err := s.makeDataDir()
	if err != nil {
		return nil, err
	}
	if err := s.openService(memory); err != nil {
		s.abandon()
		undo()
		return nil, asOption(err)
	}
	return s, nil
}

// security returns the access settings for the commands.
func (s *Server) security() commands.Security {
	sec := commands.Security{
		TLSMode: s.config.TLS.Mode, Auth: s.config.Auth,
		RootUser: s.config.RootUser, RootPassword: s.config.RootPassword,
	}
	for _, ip := range s.endpoints {
		sec.Exposed = sec.Exposed || !auth.IsLocal(net.JoinHostPort(ip, "0")) && !strings.HasPrefix(ip, "/")
	}
	if s.certificates != nil {
		sec.RotateCertificates = s.RotateCertificates
	}
	return sec
}

// Start serves in the background.
func (s *Server) Start() error {
	if s.config.ConsolePort != 0 {
		console, err := s.serveConsole(answerTime)
		if err != nil {
			return err
		}
		s.console = console
	}
	s.service.Start(s.ctx)
	s.started.Store(true)
	s.wg.Add(1)
	go s.watch()
	return nil
}

// listen opens an address, or a socket in the file system. A socket without a
// listener is left over from a server that was killed.
func (s *Server) listen(ip string, port int, flags listenFlags) (net.Listener, error) {
	if strings.HasPrefix(ip, "/") {
		if c, err := net.Dial("unix", ip); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("cannot listen on %s: another server listens there; choose another socket", ip)
		} else if info, err := os.Lstat(ip); err == nil && info.Mode()&os.ModeSocket != 0 {
			_ = os.Remove(ip)
		}
		l, err := net.Listen("unix", ip)
		if err != nil {
			return nil, cannotListen("cannot listen on "+ip, listenFlags{}, err)
		}
		return l, os.Chmod(ip, cmp.Or(s.config.SocketMode, 0o700))
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return nil, cannotListen(fmt.Sprintf("cannot listen on %s port %d", ip, port), flags, err)
	}
	return l, nil
}

// Addr is the first address the server listens on, "host:port".
func (s *Server) Addr() string {
	if len(s.listeners) == 0 {
		return ""
	}
	return s.listeners[0].Addr().String()
}

// Addrs are all addresses the server listens on.
func (s *Server) Addrs() []string {
	var out []string
	for _, l := range s.listeners {
		out = append(out, l.Addr().String())
	}
	return out
}

// URI is the connection string of the server.
func (s *Server) URI() string {
	uri := "mongodb://" + reachable(s.Addr()) + "/?directConnection=true"
	if s.config.TLS.Mode == TLSRequire {
		uri += "&tls=true"
	}
	return uri
}

// Clock is the server's clock; a *clock.Manual with Config.TestClock.
func (s *Server) Clock() clock.Clock { return s.clock }

// Service runs the commands. It is internal to DuskDB: its result may change
// with any version.
func (s *Server) Service() *commands.Service { return s.service }

// acceptPause is the pause after a failed accept.
const acceptPause = 50 * time.Millisecond

// accept accepts connections until the listener is closed.
func (s *Server) accept(l net.Listener, fromBalancer bool) {
	defer s.wg.Done()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.draining.Load() || errors.Is(err, net.ErrClosed) {
				return
			}
			s.log.Error().Err(err).Msg("accept failed")
			select { // most likely the process has no descriptors left
			case <-clock.System().After(acceptPause):
			case <-s.ctx.Done():
			}
			continue
		}
		if !s.started.Load() {
			s.refuse(nc, fromBalancer)
			continue
		}
		s.serve(nc, fromBalancer)
	}
}

// serve starts the goroutine of a connection, unless there are too many.
func (s *Server) serve(nc net.Conn, fromBalancer bool) {
	c := newConn(s, nc, fromBalancer)
	s.mu.Lock()
	full := s.config.MaxConns > 0 && len(s.conns) >= s.config.MaxConns
	if full || s.draining.Load() {
		s.mu.Unlock()
		s.log.Warn().Str("remote", nc.RemoteAddr().String()).Msg("connection refused: too many open connections")
		s.service.ConnectionRejected()
		_ = nc.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		c.run()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

// drainTime is the time that Close gives running commands to end.
const drainTime = 3 * time.Second

// Close stops listening, waits a short time for running commands, then closes
// the connections and the data. It may be called more than once.
func (s *Server) Close(ctx context.Context) error {
	if s.draining.Swap(true) {
		return nil
	}
	began := clock.System().Now()
	s.logStop()
	s.closeListeners()
	s.closeRefused()
	if s.metrics != nil {
		s.metrics.close()
	}
	if s.console != nil {
		s.console.close()
	}
	s.drain(ctx)
	s.service.Close()
	if s.gc != nil {
		s.gc.end()
	}
	err := s.engine.Close()
	s.log.Info().Int64("durationMillis", clock.System().Now().Sub(began).Milliseconds()).AnErr("error", err).Msg("Now exiting")
	return err
}

// logStop logs that the server stops, and what it has to wait for.
func (s *Server) logStop() {
	m := &s.service.Metrics
	s.log.Info().Int64("connections", m.Connections.Current.Load()).Int("runningCommands", s.service.Ops.CountClients()).
		Int64("uptimeMillis", s.service.Real.Now().Sub(s.service.Began).Milliseconds()).Msg("Shutting down")
}

// drain waits for running commands to end, at most for drainTime or until ctx
// is done.
func (s *Server) drain(ctx context.Context) {
	s.each(func(c *conn) { c.stopReading() })
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	s.cancel(errShutdown) // wakes waiting commands and the background work
	timer := clock.System().NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C():
	case <-ctx.Done():
	}
	s.each(func(c *conn) { _ = c.nc.Close() })
	<-done
}

func (s *Server) each(fn func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		fn(c)
	}
}
