// Package server puts DuskDB on a socket, or into another Go program:
//
//	srv, err := server.New(server.Config{DBPath: ":memory:"})
//	err = srv.Start()
//	client, err := mongo.Connect(options.Client().ApplyURI(srv.URI()))
//	defer srv.Close(context.Background())
//
// It owns the listeners, one goroutine per connection, the engine, and the
// order in which all of it comes up and goes down. What commands do is the
// business of package commands.
//
// # Stability
//
// Programs may build on this package: what it exports keeps its meaning within a
// major version. New fields, options and methods may come.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// LogLines keeps the recent lines of the log for getLog; give it to the logger
// as a writer.
type LogLines = commands.LogLines

// MongoDBVersion is the version of MongoDB that the server behaves like.
const MongoDBVersion = commands.ServerVersion

// Memory is the DBPath of a server that keeps nothing on disk.
const Memory = ":memory:"

// Profiling is which operations are profiled and logged before a client says
// otherwise.
type Profiling = commands.Profiling

// Config says how a server runs. The zero value is a server on a free port
// of the loopback interface with its data in memory.
type Config struct {
	BindIP     []string // addresses to listen on; nil: 127.0.0.1
	Port       int      // 0: a free port, negative: none; see Server.Dial
	DBPath     string   // directory of the data; "" or Memory: none
	Parameters map[string]string
	// TestClock gives clients the testClock command (semantics.md §11) and
	// makes the server's clock a clock.Manual.
	TestClock bool
	// Clock overrides the clock; nil: the system's, or a Manual with
	// TestClock.
	Clock    clock.Clock
	MaxConns int // 0: no limit beyond the system's
	// Compressors are the names of those that clients may choose: snappy, zstd,
	// zlib; nil: all of them.
	Compressors []string
	// SocketMode are the permissions of a socket in the file system; 0: 0700.
	SocketMode os.FileMode
	// ReplSet makes the server show the face of a replica set of that name,
	// whose only member it is; "": a standalone.
	ReplSet string
	// AdvertiseHost is the "host:port" that clients are told to find the
	// member at; "": the address that they connected to.
	AdvertiseHost string
	// OplogSizeMB bounds the change log; 0: 64 MB, negative: none is kept,
	// and there are no change streams.
	OplogSizeMB int
	// OplogMinRetentionHours is how long entries of the log are kept even if
	// it is full; 0: no longer than it has room.
	OplogMinRetentionHours float64
	// NoScripting refuses server-side JavaScript.
	NoScripting bool
	// MemoryLimit bounds the memory that the data may grow to: bytes, with a
	// unit or without, a percentage of the machine's, or "none"; "": 80%.
	MemoryLimit string
	// TuneGC sets the garbage collector of the process for the server. A
	// program that embeds a server may have its own ideas.
	TuneGC bool
	// MetricsPort is where /metrics, /healthz and /readyz are served in HTTP;
	// 0: nowhere, negative: on a free port.
	MetricsPort int
	// MetricsBindIP is the address that they are served on, without login; "":
	// 127.0.0.1.
	MetricsBindIP string
	// MetricsPprof serves the profiles of the process there, too, under
	// /debug/pprof.
	MetricsPprof bool
	// Repair saves what it can of data that was damaged on disk, instead of
	// refusing it. The damaged file is kept.
	Repair  bool
	Log     zerolog.Logger
	Lines   *LogLines // what getLog shows; nil: nothing
	Argv    []string  // the command line, for getCmdLineOpts
	Parsed  value.Doc
	Version string // DuskDB's own
	// RotateLog begins a new log file; nil: the log goes to none.
	RotateLog func() error
	// Profiling is what the profiler begins with; nil: off, with operations of
	// 100 ms in the log.
	Profiling *Profiling
	// Auth demands that clients log in. Before there is any user, clients on
	// this machine may make the first one.
	Auth bool
	// RootUser and RootPassword name the first user, made if there is none.
	RootUser, RootPassword string
	TLS                    TLS
	// FileMode is what the files of the data are made with, less what the
	// process's umask takes away; 0: 0600.
	FileMode os.FileMode
	// OnShutdown is called when a client asks the server to shut down.
	OnShutdown func()
	// fault makes steps on the disk fail in tests.
	fault func(step, path string) error
}

// Server is a running DuskDB.
type Server struct {
	config    Config
	clock     clock.Clock
	engine    storage.Engine
	service   *commands.Service
	listeners []net.Listener
	metrics   *metricsServer // nil if off
	inFlight  *inFlight
	patience  patience
	gc        *gcTuner // nil unless asked for

	certificates *certificates // nil without TLS

	log zerolog.Logger

	ctx      context.Context
	cancel   context.CancelCauseFunc
	mu       sync.Mutex
	conns    map[*conn]struct{}
	wg       sync.WaitGroup
	draining atomic.Bool
	started  atomic.Bool
	repaired []string
}

// New opens the data and prepares a server; it does not listen for clients yet.
func New(cfg Config) (*Server, error) {
	s := &Server{config: cfg, log: cfg.Log, conns: map[*conn]struct{}{}, patience: defaultPatience}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if err := s.config.readTestClock(); err != nil {
		return nil, err
	}
	memory, err := parseMemory(cfg.MemoryLimit, machineMemory())
	if err != nil {
		return nil, err
	}
	s.inFlight = newInFlight(s.ctx, memory)
	if cfg.TuneGC {
		s.gc = newGCTuner(memory)
	}
	if err := s.openClock(); err != nil {
		return nil, err
	}
	if err := s.makeDataDir(); err != nil {
		return nil, err
	}
	if s.certificates, err = openTLS(cfg.TLS); err != nil {
		return nil, err
	}
	if err := s.openService(memory); err != nil {
		if s.metrics != nil {
			s.metrics.close()
		}
		return nil, err
	}
	return s, nil
}

// security is what the commands have to know of who may connect.
func (s *Server) security() commands.Security {
	sec := commands.Security{Auth: s.config.Auth, RootUser: s.config.RootUser, RootPassword: s.config.RootPassword}
	for _, ip := range s.config.BindIP {
		sec.Exposed = sec.Exposed || !auth.IsLocal(net.JoinHostPort(ip, "0")) && !strings.HasPrefix(ip, "/")
	}
	if s.certificates != nil {
		sec.RotateCertificates = s.RotateCertificates
	}
	return sec
}

// readTestClock lets the parameter enableTestClock and the field TestClock
// mean the same.
func (c *Config) readTestClock() error {
	const name = "enableTestClock"
	if text, given := c.Parameters[name]; given {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.TestClock = c.TestClock || on
	}
	if !c.TestClock {
		if c.Parameters["testClockStart"] != "" {
			return fmt.Errorf("testClockStart needs %s", name)
		}
		return nil
	}
	parameters := maps.Clone(c.Parameters)
	if parameters == nil {
		parameters = map[string]string{}
	}
	parameters[name] = "true"
	c.Parameters = parameters
	return nil
}

// openClock picks the clock: a Manual one, frozen at testClockStart if that
// is given, when clients may move it.
func (s *Server) openClock() error {
	s.clock = s.config.Clock
	if s.clock != nil {
		return nil
	}
	s.clock = clock.System()
	if !s.config.TestClock {
		return nil
	}
	start := s.config.Parameters["testClockStart"]
	if start == "" {
		s.clock = clock.NewRunning()
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, start)
	if err != nil {
		return fmt.Errorf("testClockStart: %w", err)
	}
	s.clock = clock.NewManual(t)
	return nil
}

// Start listens and serves in the background.
func (s *Server) Start() error {
	ips := s.config.BindIP
	if len(ips) == 0 {
		ips = []string{"127.0.0.1"}
	}
	port := s.config.Port
	for _, ip := range ips {
		if port < 0 {
			break
		}
		l, err := s.listen(ip, port)
		if err != nil {
			return errors.Join(err, s.Close(context.Background()))
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); ok && port == 0 {
			port = tcp.Port // further addresses share the port
		}
		s.listeners = append(s.listeners, l)
	}
	s.started.Store(true)
	s.service.Start(s.ctx)
	for _, l := range s.listeners {
		s.wg.Add(1)
		go s.accept(l)
	}
	s.wg.Add(1)
	go s.watch()
	return nil
}

// listen opens an address, or a socket in the file system. A socket that nobody
// listens on is left over from a server that was killed.
func (s *Server) listen(ip string, port int) (net.Listener, error) {
	if strings.HasPrefix(ip, "/") {
		if c, err := net.Dial("unix", ip); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("cannot listen on %s: another server listens there", ip)
		} else if info, err := os.Lstat(ip); err == nil && info.Mode()&os.ModeSocket != 0 {
			_ = os.Remove(ip)
		}
		l, err := net.Listen("unix", ip)
		if err != nil {
			return nil, err
		}
		return l, os.Chmod(ip, cmp.Or(s.config.SocketMode, 0o700))
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s port %d: %w", ip, port, err)
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
	uri := "mongodb://" + s.Addr() + "/?directConnection=true"
	if s.config.TLS.Mode == TLSRequire {
		uri += "&tls=true"
	}
	return uri
}

// Clock is the server's clock; a *clock.Manual with Config.TestClock.
func (s *Server) Clock() clock.Clock { return s.clock }

// Service runs the commands. It is for the rest of DuskDB and not promised: what
// it returns may change with any version.
func (s *Server) Service() *commands.Service { return s.service }

// acceptPause is how long the server waits after it could not accept.
const acceptPause = 50 * time.Millisecond

func (s *Server) accept(l net.Listener) {
	defer s.wg.Done()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.draining.Load() || errors.Is(err, net.ErrClosed) {
				return
			}
			s.log.Error().Err(err).Msg("accept failed")
			select { // most likely there are no descriptors left
			case <-clock.System().After(acceptPause):
			case <-s.ctx.Done():
			}
			continue
		}
		s.serve(nc)
	}
}

// serve starts the goroutine of a connection, unless there are too many.
func (s *Server) serve(nc net.Conn) {
	c := newConn(s, nc)
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

// drainTime is how long running commands may take to end on Close.
const drainTime = 3 * time.Second

// Close stops listening, lets running commands end for a moment, then cuts
// the connections and closes the data. It may be called more than once.
func (s *Server) Close(ctx context.Context) error {
	if s.draining.Swap(true) {
		return nil
	}
	for _, l := range s.listeners {
		_ = l.Close()
	}
	if s.metrics != nil {
		s.metrics.close()
	}
	s.drain(ctx)
	s.service.Close()
	return s.engine.Close()
}

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
