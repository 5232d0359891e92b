// Package servertest starts a DuskDB for a test, in one line:
//
//	srv := servertest.Run(t)
//	client, err := mongo.Connect(options.Client().ApplyURI(srv.URI()))
//
// The server has a port of its own, keeps its data in memory, starts in a
// few milliseconds and is gone when the test ends. Its clock stands still
// until the test moves it:
//
//	srv.Clock.Advance(61 * time.Second)
//
// returns when the expiration pass that has become due has run, so that a
// test of data that expires waits for nothing and never flickers.
package servertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// Start is the instant at which the clock stands unless [At] says otherwise.
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

// Log makes the server log; without it, it is silent.
func Log(l zerolog.Logger) Option {
	return func(c *server.Config) { c.Log = l }
}

// Run starts a server that is closed when the test ends.
func Run(t testing.TB, opts ...Option) *Server {
	t.Helper()
	cfg := server.Config{Parameters: map[string]string{}, TestClock: true, Log: zerolog.Nop()}
	At(Start)(&cfg)
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

// Dump returns the documents of a collection, named "db.coll", as clients
// see them: one line of extended JSON each.
func (s *Server) Dump(collection string) string {
	s.t.Helper()
	db, coll, ok := strings.Cut(collection, ".")
	if !ok {
		s.t.Fatalf("servertest: %q does not name a collection; want db.coll", collection)
	}
	conn := s.Service().NewConn("servertest", s.Addr())
	defer s.Service().CloseConn(conn)
	run := func(d value.Doc) value.Doc {
		out, _ := s.Service().Handle(context.Background(), conn, &commands.Request{Body: d}, nil)
		if reply := value.Doc(out); !reply.Lookup("ok").Truthy() {
			s.t.Fatalf("servertest: %s", reply)
		}
		return value.Doc(out).Lookup("cursor").Doc()
	}
	var b strings.Builder
	cursor := run(value.NewDoc("find", value.String(coll), "$db", value.String(db)))
	for batch := "firstBatch"; ; batch = "nextBatch" {
		for v := range cursor.Lookup(batch).Doc().Values() {
			line, err := bson.MarshalExtJSON(bson.Raw(v.Doc()), false, false)
			if err != nil {
				s.t.Fatalf("servertest: %v", err)
			}
			b.Write(append(line, '\n'))
		}
		id := cursor.Lookup("id")
		if id.Int64() == 0 {
			return b.String()
		}
		cursor = run(value.NewDoc("getMore", id, "collection", value.String(coll), "$db", value.String(db)))
	}
}
