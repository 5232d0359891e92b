// Package commandtest is a server without a network for end-to-end tests of
// commands: documents go in as a connection would hand them over, and come
// out as they would be sent.
//
//	s := commandtest.New(t)
//	reply := s.Send("test", value.MustJSON(`{"ping": 1}`))
//
// The server is made as the program makes it, with data on disk, so that what
// depends on that is tested as well.
//
// It does what a connection does to the bytes it hands over: they are
// overwritten after each command, so that whatever a command keeps of its
// message shows.
//
// The package is for the rest of DuskDB: it may change with any version.
package commandtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/server"
	_ "github.com/duskdb/duskdb/server/pebble"   // for DUSKDB_TEST_ENGINE
	_ "github.com/duskdb/duskdb/server/postgres" // likewise
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// Server is a Service over an engine on disk and one connection to it. Its
// clock stands at the beginning of 2026.
type Server struct {
	testing.TB
	Service *commands.Service
	Clock   *clock.Manual
	Conn    *commands.Conn
	// Temp is the directory of the server's temporary files.
	Temp string
}

func init() { engines.Wrap, engines.TestURI = storagetest.HostileByEnvironment(), pgtest.EngineURI }

// New starts a server that ends with the test. parameters are names and
// values of server parameters, in turns.
func New(tb testing.TB, parameters ...string) *Server {
	tb.Helper()
	return Speaking(tb, "", parameters...)
}

// Speaking is [New] for a server that behaves as a version of MongoDB; "": the newest.
func Speaking(tb testing.TB, version string, parameters ...string) *Server {
	tb.Helper()
	manual := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	settings := map[string]string{}
	for i := 0; i+1 < len(parameters); i += 2 {
		settings[parameters[i]] = parameters[i+1]
	}
	dir := tb.TempDir()
	srv, err := server.New(server.Config{DBPath: dir, StorageEngine: engines.ForTests(), Port: -1, MongoDBVersion: version, Clock: manual, Log: zerolog.Nop(), TestClock: true, Parameters: settings})
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{TB: tb, Service: srv.Service(), Clock: manual, Temp: filepath.Join(dir, "_tmp")}
	tb.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return s.Another(tb)
}

// Another is the same server with a connection of its own.
func (s *Server) Another(tb testing.TB) *Server {
	other := *s
	other.TB = tb
	other.Conn = s.Service.NewConn("127.0.0.1:1", "127.0.0.1:27017")
	return &other
}

// Send runs a command on a database, or on the one that the command names
// itself, and returns the reply.
func (s *Server) Send(db string, body value.Doc) value.Doc {
	return s.SendContext(context.Background(), db, body)
}

// SendContext is Send for a command that may be interrupted.
func (s *Server) SendContext(ctx context.Context, db string, body value.Doc) value.Doc {
	s.Helper()
	b := value.NewBuilder()
	it := body.Iter()
	b.Raw(it.Rest())
	if !body.Has("$db") {
		b.String("$db", db)
	}
	request := b.Doc().Clone()
	out, _ := s.Service.Handle(ctx, s.Conn, &commands.Request{Body: request}, nil)
	reply := value.Doc(out)
	for i := range request { // a server reads the next message into the same buffer
		request[i] = 0xff
	}
	if err := value.Validate(reply); err != nil {
		s.Fatalf("%s: invalid reply: %v", body, err)
	}
	return reply
}

// Batch returns the documents of a cursor reply.
func Batch(reply value.Doc) (list []value.Doc) {
	cursor := reply.Lookup("cursor").Doc()
	for _, name := range []string{"firstBatch", "nextBatch"} {
		for v := range cursor.Lookup(name).Doc().Values() {
			list = append(list, v.Doc())
		}
	}
	return list
}
