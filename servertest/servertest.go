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
	// run.
	Clock *clock.Manual

	t      testing.TB
	bubble bool // whether the server runs in a bubble of synctest, see [Bubble]
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
	cfg := server.Config{StorageEngine: engines.ForTests(), Parameters: map[string]string{}, TestClock: true, Log: zerolog.Nop()}
	At(clock.System().Now().Truncate(time.Second))(&cfg) // document TTL counts whole seconds
	for _, o := range opts {
		o(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	s := &Server{Server: srv, Clock: cfg.Clock.(*clock.Manual), t: t}
	s.bubble = !s.Clock.Frozen() // no other option makes it run
	t.Cleanup(s.Stop)
	if err := srv.Start(); err != nil {
		t.Fatalf("servertest: %v", err)
	}
	return s
}

// Stop closes the server before the test ends, for instance to restart it.
func (s *Server) Stop() {
	if err := s.Close(context.Background()); err != nil {
		s.t.Errorf("servertest: %v", err)
	}
}
