package server

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// TestMain fails if a test leaves goroutines behind. BuntDB's own looks once
// a second whether its database was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func serveConfig(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close(context.Background()) })
	if err := s.Start(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// testClient is a plain client.
type testClient struct {
	net.Conn
	*wire.Client
}

func dial(tb testing.TB, s *Server) *testClient {
	tb.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = nc.Close() })
	return &testClient{nc, wire.NewClient(nc)}
}

var pingCommand = value.MustJSON(`{"ping": 1, "$db": "admin"}`)

// ok runs a command that must succeed.
func (c *testClient) ok(tb testing.TB, command value.Doc) value.Doc {
	tb.Helper()
	m, err := c.RoundTrip(command)
	if err != nil {
		tb.Fatalf("%s: %v", command, err)
	}
	if !m.Body.Lookup("ok").Truthy() || m.Body.Has("writeErrors") {
		tb.Fatalf("%s: %s", command, m.Body)
	}
	return m.Body.Clone()
}

// closed reports whether the server closes the connection without a reply.
func closed(nc net.Conn) bool {
	_ = nc.SetReadDeadline(time.Now().Add(30 * time.Second))
	_, err := nc.Read(make([]byte, 1))
	return errors.Is(err, io.EOF) || err != nil && !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func TestMaxConns(t *testing.T) {
	s := serveConfig(t, Config{MaxConns: 2})
	a, b := dial(t, s), dial(t, s)
	a.ok(t, pingCommand)
	b.ok(t, pingCommand)
	if c := dial(t, s); !closed(c) {
		t.Fatal("a third connection was let in")
	}
	status := a.ok(t, value.MustJSON(`{"serverStatus": 1, "$db": "admin"}`)).Lookup("connections").Doc()
	if status.Lookup("current").Int32() != 2 || status.Lookup("available").Int32() != 0 || status.Lookup("rejected").Int64() != 1 {
		t.Errorf("connections: %s", status)
	}
	_ = b.Close()
	waitFor(t, func() bool { return s.Service().Snapshot().Connections.Current == 1 })
	dial(t, s).ok(t, pingCommand)
}

// waitFor waits for something that happens in the background.
func waitFor(tb testing.TB, done func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); proc.Pause(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("it did not happen")
		}
	}
}

// TestSlowClients: the watcher closes connections that hold resources for nothing, and no
// others.
func TestSlowClients(t *testing.T) {
	s := serveConfig(t, Config{})
	good := dial(t, s)
	good.ok(t, pingCommand)
	silent, slow, deaf := dial(t, s), dial(t, s), dial(t, s)
	deaf.ok(t, value.MustJSON(`{"insert": "c", "documents": [{"_id": 1, "s": "`+strings.Repeat("x", 1<<20)+`"}], "$db": "test"}`))
	if _, err := slow.Write([]byte{60, 0, 0, 0, 1, 0}); err != nil {
		t.Fatal(err)
	}
	find := request(value.MustJSON(`{"find": "c", "$db": "test"}`))
	go func() {
		for {
			if _, err := deaf.Write(find); err != nil { // until the server hangs up
				return
			}
		}
	}()
	stuck := func(want func(*conn) bool) (n int) {
		s.each(func(c *conn) {
			if want(c) {
				n++
			}
		})
		return n
	}
	waitFor(t, func() bool {
		return stuck(func(c *conn) bool { return c.progress.sending.Load()%2 == 1 }) == 1 &&
			stuck(func(c *conn) bool { return c.progress.received.Load() == 6 }) == 1
	})
	now := time.Now()
	s.checkConnections(now)
	s.checkConnections(now.Add(30 * time.Second))
	s.checkConnections(now.Add(61 * time.Second))
	if !closed(silent) || !closed(slow) {
		t.Error("silent or slow clients are kept")
	}
	// The deaf client's socket may have buffered more since: the watcher must find the
	// same reply unsent twice.
	at := now.Add(61 * time.Second)
	waitFor(t, func() bool {
		at = at.Add(130 * time.Second)
		s.checkConnections(at)
		return s.Service().Snapshot().Connections.Current == 1
	})
	good.ok(t, pingCommand)
}

// request is a command as a client sends it.
func request(d value.Doc) []byte {
	return wire.FinishMsg(append(wire.BeginMsg(nil, 1, 0, 0), d...), 0)
}

// TestShutdownUnderLoad: clients that are in the middle of things get an
// answer or an end of the connection, and all that was acknowledged is there.
func TestShutdownUnderLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serveConfig(t, Config{DBPath: dir})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[int32]bool{}
	begun := make(chan struct{}, 1000)
	for w := range int32(8) {
		c := dial(t, s)
		wg.Go(func() {
			for i := w * 1_000_000; ; i++ {
				d := value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(i)))), "$db", value.String("test"))
				m, err := c.RoundTrip(d)
				if err != nil || !m.Body.Lookup("ok").Truthy() {
					return
				}
				mu.Lock()
				acknowledged[i] = true
				mu.Unlock()
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 200 {
		<-begun
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	r, err := Check(dir)
	if err != nil || !r.Sound() || r.TornBytes != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	again := dial(t, serveConfig(t, Config{DBPath: dir}))
	n := again.ok(t, value.MustJSON(`{"count": "c", "$db": "test"}`)).Lookup("n").SafeInt64()
	if n < int64(len(acknowledged)) {
		t.Errorf("%d documents, %d were acknowledged", n, len(acknowledged))
	}
	if _, err := New(Config{DBPath: dir}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("a second server: %v", err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	s := serveConfig(t, Config{DBPath: filepath.Join(t.TempDir(), "data")})
	c := dial(t, s)
	c.ok(t, value.MustJSON(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "test"}`))
	backup, restored := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	c.ok(t, value.NewDoc("duskBackup", value.Int32(1), "path", value.String(backup), "$db", value.String("admin")))
	c.ok(t, value.MustJSON(`{"insert": "c", "documents": [{"_id": 3}], "$db": "test"}`))
	r, err := Restore(backup, restored)
	if err != nil || !r.Sound() {
		t.Fatal(r, err)
	}
	again := dial(t, serveConfig(t, Config{DBPath: restored}))
	if n := again.ok(t, value.MustJSON(`{"count": "c", "$db": "test"}`)).Lookup("n").SafeInt64(); n != 2 {
		t.Errorf("%d documents in the backup", n)
	}
	if _, err := Restore(t.TempDir(), filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("restored nothing")
	}
}
