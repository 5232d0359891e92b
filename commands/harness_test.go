package commands

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// harness runs commands against a Service over an engine in memory, whose
// clock stands at 2026-01-01T00:00:00Z.
type harness struct {
	testing.TB
	svc   *kernel.Service
	clock *clock.Manual
	conn  *kernel.Conn
}

var testStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newHarness(tb testing.TB) *harness {
	tb.Helper()
	return newHarnessWith(tb, kernel.Options{Log: zerolog.Nop()})
}

// newHarnessWith is a harness with options of its own.
func newHarnessWith(tb testing.TB, o kernel.Options) *harness {
	tb.Helper()
	manual := clock.NewManual(testStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		tb.Fatal(err)
	}
	return newHarnessOver(tb, engine, manual, o)
}

// newHarnessOver is a harness over an engine of its own.
func newHarnessOver(tb testing.TB, engine storage.Engine, manual *clock.Manual, o kernel.Options) *harness {
	tb.Helper()
	o.Engine, o.Clock, o.TempDir, o.TestClock = engine, manual, tb.TempDir(), true
	svc, err := newRunning(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		housekeeping.Close(svc)
		_ = engine.Close()
	})
	return &harness{TB: tb, svc: svc, clock: manual, conn: svc.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
}

// run runs a command given as relaxed JSON on the database "test".
func (h *harness) run(command string) value.Doc {
	h.Helper()
	return h.runOn("test", relaxed(command))
}

func (h *harness) admin(command string) value.Doc {
	h.Helper()
	return h.runOn("admin", relaxed(command))
}

// bareKey finds a string, or a key without quotes.
var bareKey = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[{,]\s*[A-Za-z_$][\w$]*\s*:`)

// relaxed reads extended JSON whose keys need no quotes, as the shell.
func relaxed(s string) value.Doc {
	return value.MustJSON(bareKey.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == '"' {
			return m
		}
		return m[:1] + `"` + strings.Trim(m[1:len(m)-1], " \t\n") + `":`
	}))
}

func (h *harness) runOn(db string, body value.Doc) value.Doc {
	h.Helper()
	b := value.NewBuilder()
	it := body.Iter()
	b.Raw(it.Rest()).String("$db", db)
	out, _ := answer(h.svc, context.Background(), h.conn, &kernel.Request{Body: b.Doc()}, nil)
	reply := value.Doc(out)
	if err := value.Validate(reply); err != nil {
		h.Fatalf("%s: invalid reply: %v", body, err)
	}
	return reply
}

// ok runs a command that must succeed.
func (h *harness) ok(command string) value.Doc {
	h.Helper()
	reply := h.run(command)
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
		h.Fatalf("%s\nanswered %s", command, reply)
	}
	return reply
}

// fails runs a command that must fail with a code: of the command, or of its
// first write error.
func (h *harness) fails(code int32, command string) string {
	h.Helper()
	reply := h.run(command)
	got, text := reply.Lookup("code"), reply.Lookup("errmsg").Str()
	if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
		got, text = first.Doc().Lookup("code"), first.Doc().Lookup("errmsg").Str()
	}
	if got.Int32() != code {
		h.Errorf("%s\nanswered %s, want code %d", command, reply, code)
	}
	return text
}

// docs returns the first batch of a cursor reply.
func docs(reply value.Doc) (list []value.Doc) {
	for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		list = append(list, v.Doc())
	}
	return list
}

// newRunning makes a Service as [New] does.
func newRunning(o kernel.Options) (*kernel.Service, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return s.Service, nil
}

// answer runs one command as [Service.Handle] does.
func answer(s *kernel.Service, ctx context.Context, conn *kernel.Conn, req *kernel.Request, dst []byte) ([]byte, kernel.Response) {
	return (&Service{Service: s}).Handle(ctx, conn, req, dst)
}
