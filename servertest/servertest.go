// Package servertest starts a DuskDB for a test, in one line:
//
//	srv := servertest.Run(t)
//	client := srv.Client(t)
//
// The server keeps its data in memory, starts in about a millisecond and is
// gone when the test ends; as many as there are tests run side by side. The
// client reaches it within the process. Code that connects by itself finds it
// at srv.URI(), on a port of its own.
//
// The clock stands still, at the present, until the test moves it:
//
//	srv.Clock.Advance(61 * time.Second)
//
// returns when the expiration pass that has become due has run, so that a
// test of data that expires waits for nothing and is never flaky. Only the
// server's clock moves: time.Now in the code under test does not. [At] starts
// the clock at another instant.
//
// [Server.SetError] makes commands fail, to see what the code under test
// makes of it, and [Server.Dump] shows what is stored.
//
// # Stability
//
// Programs may build on this package: what it exports keeps its meaning within a
// major version. New fields, options and methods may come.
package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/server"
)

// Start is a round instant for [At], for tests that assert dates.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Server is a running server of a test. Its methods are those of
// [server.Server].
type Server struct {
	*server.Server
	// Clock is the server's clock, which stands still. Advance and Set
	// return when the expiration pass that has become due, if any, has run.
	Clock *clock.Manual

	t testing.TB
}

// Option changes how [Run] starts a server.
type Option func(*server.Config)

// At sets the instant at which the clock stands.
func At(t time.Time) Option {
	return func(c *server.Config) { c.Clock = clock.NewManual(t) }
}

// Dir keeps the data in a directory, so that another server may go on with
// it after Close.
func Dir(path string) Option {
	return func(c *server.Config) { c.DBPath = path }
}

// Parameter sets a server parameter, as --setParameter does.
func Parameter(name, value string) Option {
	return func(c *server.Config) { c.Parameters[name] = value }
}

// Oplog bounds the change log to so many megabytes; a negative number keeps
// none.
func Oplog(mb int) Option {
	return func(c *server.Config) { c.OplogSizeMB = mb }
}

// NoPort keeps the server within the process: it listens nowhere, and only
// [Server.Client] and [Server.ClientOptions] lead to it.
func NoPort() Option {
	return func(c *server.Config) { c.Port = -1 }
}

// ReplicaSet shows clients a replica set of this name with one member, as
// those need that want transactions or change streams.
func ReplicaSet(name string) Option {
	return func(c *server.Config) { c.ReplSet = name }
}

// Log makes the server log; without it, it is silent.
func Log(l zerolog.Logger) Option {
	return func(c *server.Config) { c.Log = l }
}

// Run starts a server that is closed when the test ends.
func Run(t testing.TB, opts ...Option) *Server {
	t.Helper()
	cfg := server.Config{Parameters: map[string]string{}, TestClock: true, Log: zerolog.Nop()}
	At(clock.System().Now().Truncate(time.Second))(&cfg) // document TTL counts whole seconds
	for _, o := range opts {
		o(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	s := &Server{Server: srv, Clock: cfg.Clock.(*clock.Manual), t: t}
	t.Cleanup(s.Stop)
	if err := srv.Start(); err != nil {
		t.Fatalf("servertest: %v", err)
	}
	return s
}

// Stop closes the server before the test ends, as a restart does.
func (s *Server) Stop() {
	if err := s.Close(context.Background()); err != nil {
		s.t.Errorf("servertest: %v", err)
	}
}
