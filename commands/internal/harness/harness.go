package harness

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/relaxed"
	_ "github.com/duskdb/duskdb/server/pebble"   // for DUSKDB_TEST_ENGINE
	_ "github.com/duskdb/duskdb/server/postgres" // likewise
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Harness runs commands on a Service over an engine in memory. Its clock stands at
// 2026-01-01T00:00:00Z.
type Harness struct {
	testing.TB
	Svc   *kernel.Service
	Clock *clock.Manual
	Conn  *kernel.Conn
}

func init() { engines.TestURI = pgtest.EngineURI }

// TestStart is the time of the clock of a new harness.
var TestStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New returns a harness with the default options.
func New(tb testing.TB) *Harness {
	tb.Helper()
	return NewWith(tb, kernel.Options{Log: zerolog.Nop()})
}

// Dialects are the versions of MongoDB that a server can speak, by the names of tests.
var Dialects = map[string]dialect.Dialect{"8.2": dialect.Mongo82, "8.2 as 8.0": dialect.Mongo82As80, "8.0": dialect.Mongo80}

// NewOf returns a harness that speaks a version of MongoDB.
func NewOf(tb testing.TB, d dialect.Dialect) *Harness {
	tb.Helper()
	return NewWith(tb, kernel.Options{Log: zerolog.Nop(), Dialect: d})
}

// NewWith returns a harness with the given options.
func NewWith(tb testing.TB, o kernel.Options) *Harness {
	tb.Helper()
	manual := clock.NewManual(TestStart)
	opened, err := engines.Open(engines.ForTests(), engines.Options{Path: engines.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		tb.Fatal(err)
	}
	return NewOver(tb, Hostile(tb, opened.Engine), manual, o)
}

// NewOver returns a harness over the given engine, whose clock is manual.
func NewOver(tb testing.TB, engine storage.Engine, manual *clock.Manual, o kernel.Options) *Harness {
	tb.Helper()
	o.Engine, o.Clock, o.TempDir, o.TestClock = engine, manual, tb.TempDir(), true
	svc, err := NewService(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		housekeeping.Close(svc)
		_ = engine.Close()
	})
	return &Harness{TB: tb, Svc: svc, Clock: manual, Conn: svc.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
}

// Run runs a command given as relaxed JSON on the database "test".
func (h *Harness) Run(command string) value.Doc {
	h.Helper()
	return h.RunOn("test", Relaxed(command))
}

// Admin runs a command given as relaxed JSON on the database "admin".
func (h *Harness) Admin(command string) value.Doc {
	h.Helper()
	return h.RunOn("admin", Relaxed(command))
}

// Relaxed reads a document as people write it in a shell.
func Relaxed(s string) value.Doc { return relaxed.MustDoc(s) }

// RunOn runs a command on a database and checks that the reply is valid BSON.
func (h *Harness) RunOn(db string, body value.Doc) value.Doc {
	h.Helper()
	b := value.NewBuilder()
	it := body.Iter()
	b.Raw(it.Rest()).String("$db", db)
	out, _ := Answer(h.Svc, context.Background(), h.Conn, &kernel.Request{Body: b.Doc()}, nil)
	reply := value.Doc(out)
	if err := value.Validate(reply); err != nil {
		h.Fatalf("%s: invalid reply: %v", body, err)
	}
	return reply
}

// OK runs a command, which must succeed, and returns the reply.
func (h *Harness) OK(command string) value.Doc {
	h.Helper()
	reply := h.Run(command)
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
		h.Fatalf("%s\nanswered %s", command, reply)
	}
	return reply
}

// Fails runs a command, which must fail with the code, and returns the message.
// For writes, the first write error counts.
func (h *Harness) Fails(code int32, command string) string {
	h.Helper()
	reply := h.Run(command)
	got, text := reply.Lookup("code"), reply.Lookup("errmsg").Str()
	if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
		got, text = first.Doc().Lookup("code"), first.Doc().Lookup("errmsg").Str()
	}
	if got.Int32() != code {
		h.Errorf("%s\nanswered %s, want code %d", command, reply, code)
	}
	return text
}

// Docs returns the first batch of a cursor reply.
func Docs(reply value.Doc) (list []value.Doc) {
	for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		list = append(list, v.Doc())
	}
	return list
}

// NewService returns the service that [commands.New] makes.
func NewService(o kernel.Options) (*kernel.Service, error) {
	s, err := commands.New(o)
	if err != nil {
		return nil, err
	}
	return s.Service, nil
}

// Answer runs one command as [commands.Service.Handle] does.
func Answer(s *kernel.Service, ctx context.Context, conn *kernel.Conn, req *kernel.Request, dst []byte) ([]byte, kernel.Response) {
	return (&commands.Service{Service: s}).Handle(ctx, conn, req, dst)
}
