// Package servertest starts a DuskDB for a test, in one line:
//
//	srv := servertest.Run(t)
//	client := srv.Client(t)
//
// The server keeps its data in memory, starts in about a millisecond and stops
// when the test ends; each of many parallel tests can have its own. The client
// connects within the process. Other code connects to srv.URI(), on a free
// port.
//
// The clock stands still, at the present, until the test moves it:
//
//	srv.Advance(61 * time.Second)
//
// returns when the expiration pass that has become due has run, so that a test
// of expiry need not wait and is not flaky. Only the server's clock moves;
// time.Now in the code under test does not, unless the test runs in a [Bubble]
// of testing/synctest. [At] starts the clock at another instant.
//
// [Server.SetError] makes commands fail, to test how code handles errors, and
// [Server.Dump] returns the stored documents.
//
// # Stability
//
// Programs may build on this package: what it exports keeps its meaning within
// a major version. New fields, options and methods may come.
package servertest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/server"
)

// Start is a round instant for [At], for tests that assert dates.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Server is a running server of a test. Its methods are those of
// [server.Server].
type Server struct {
	*server.Server
	// Clock is the server's clock, which stands still until it is moved. Advance
	// and Set return when the expiration pass that has become due, if any, has
	// run. In a [Bubble] those of the Server move it.
	Clock *clock.Manual

	t       testing.TB
	bubble  bool        // whether the server runs in a bubble of synctest, see [Bubble]
	stopped atomic.Bool // whether the test has stopped it
}

// Option changes how [Run] starts a server.
type Option func(*server.Config)

// At sets the instant of the clock.
func At(t time.Time) Option {
	return func(c *server.Config) { c.Clock = clock.NewManual(t) }
}

// Dir stores the data in a directory, so that another server can open it after
// Close.
func Dir(path string) Option {
	return func(c *server.Config) { c.DBPath = path }
}

// Engine names the storage engine, as --storageEngine does. Without it the
// environment variable DUSKDB_TEST_ENGINE decides, and without that it is bunt. The
// engine pebble needs the import of github.com/duskdb/duskdb/server/pebble.
func Engine(name string) Option {
	return func(c *server.Config) { c.StorageEngine = name }
}

// Parameter sets a server parameter, as --setParameter does.
func Parameter(name, value string) Option {
	return func(c *server.Config) { c.Parameters[name] = value }
}

// Oplog limits the change log to the given number of megabytes; a negative
// number switches it off.
func Oplog(mb int) Option {
	return func(c *server.Config) { c.OplogSizeMB = mb }
}

// NoPort starts the server without a port: only [Server.Client] and
// [Server.ClientOptions] can connect.
func NoPort() Option {
	return func(c *server.Config) { c.Port = -1 }
}

// ReplicaSet makes the server a replica set of this name with one member, for
// clients that require one for transactions or change streams.
func ReplicaSet(name string) Option {
	return func(c *server.Config) { c.ReplSet = name }
}

// MongoDBVersion makes the server behave as another version of MongoDB than the newest that
// it knows, as --mongodbVersion does: "8.0".
func MongoDBVersion(version string) Option {
	return func(c *server.Config) { c.MongoDBVersion = version }
}

// Log makes the server log; without it, it is silent.
func Log(l zerolog.Logger) Option {
	return func(c *server.Config) { c.Log = l }
}

// Run starts a server that is closed when the test ends.
func Run(t testing.TB, opts ...Option) *Server {
	t.Helper()
	cfg, err := configure(opts)
	if err == nil {
		err = checkBubble(t, &cfg)
	}
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	s := &Server{Server: srv, Clock: cfg.Clock.(*clock.Manual), t: t, bubble: inBubble(&cfg)}
	t.Cleanup(s.Stop)
	if err := srv.Start(); err != nil {
		t.Fatalf("servertest: %v", err)
	}
	return s
}

// configure applies the options to the configuration of a test.
func configure(opts []Option) (server.Config, error) {
	cfg := server.Config{DBPath: server.Memory, StorageEngine: engines.ForTests(), Parameters: map[string]string{}, TestClock: true, Log: zerolog.Nop()}
	At(clock.System().Now().Truncate(time.Second))(&cfg) // document TTL counts whole seconds
	var at, bubble bool
	for _, o := range opts {
		before := cfg.Clock
		o(&cfg)
		m, ok := cfg.Clock.(*clock.Manual)
		if !ok {
			return cfg, errors.New("the clock must be a *clock.Manual, so that the test can move it")
		}
		given := cfg.Clock != before
		at, bubble = at || given && m.Frozen(), bubble || given && !m.Frozen()
	}
	switch {
	case at && bubble:
		return cfg, errors.New("At and Bubble exclude each other: the clock of a bubble starts at 2000-01-01, and time.Sleep or Advance moves it")
	case cfg.Clock.Now().IsZero():
		return cfg, errors.New("At needs an instant: the zero time.Time is in the year 1")
	case cfg.DBPath == "":
		return cfg, errors.New("Dir needs the path of a directory, such as t.TempDir()")
	}
	return cfg, nil
}

// running fails the test if the server has been stopped.
func (s *Server) running() {
	s.t.Helper()
	if s.stopped.Load() {
		s.t.Fatalf("servertest: %v", errStopped)
	}
}

var errStopped = errors.New("the server has been stopped")

// Stop closes the server before the test ends, for instance to restart it.
func (s *Server) Stop() {
	if err := s.Close(context.Background()); err != nil {
		s.t.Errorf("servertest: %v", err)
	}
}

// Close is [server.Server.Close]: Stop with a limit to the time that running commands have to
// end.
func (s *Server) Close(ctx context.Context) error {
	s.stopped.Store(true)
	return s.Server.Close(ctx)
}
