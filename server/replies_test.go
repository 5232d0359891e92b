package server

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// TestLargeReplies: clients that do not read large replies are disconnected when the
// unread ones take more memory than they may, and not before.
func TestLargeReplies(t *testing.T) {
	s := serveConfig(t, Config{})
	good := dial(t, s)
	good.ok(t, value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(1), "s", value.String(strings.Repeat("x", 15<<20))))), "$db", value.String("test")))
	const deaf = 4
	for range deaf {
		if _, err := dial(t, s).Write(request(value.MustJSON(`{"find": "c", "$db": "test"}`))); err != nil {
			t.Fatal(err)
		}
	}
	count := func(want func(*conn) bool) (n int) {
		s.each(func(c *conn) {
			if want(c) {
				n++
			}
		})
		return n
	}
	held := func() (sum int64) {
		s.each(func(c *conn) { sum += c.progress.held.Load() })
		return sum
	}
	waitFor(t, func() bool { return count(func(c *conn) bool { return c.progress.held.Load() > 0 }) == deaf })
	all := held()
	if all < deaf*15<<20 {
		t.Errorf("%d bytes are held", all)
	}
	now := time.Now()
	later := func() {
		now = now.Add(10 * time.Second)
		s.checkReplies(now)
	}
	later()
	later()
	later()
	if n := s.Service().Snapshot().Connections.Current; n != deaf+1 {
		t.Fatalf("%d connections while there is memory, want %d", n, deaf+1)
	}
	s.inFlight.replies = all / 2
	// The sockets may have buffered more since.
	waitFor(t, func() bool {
		later()
		return held() <= all/2
	})
	waitFor(t, func() bool { return s.Service().Snapshot().Connections.Current == deaf/2+1 })
	later()
	if n := s.Service().Snapshot().Connections.Current; n != deaf/2+1 {
		t.Errorf("%d connections, want %d", n, deaf/2+1)
	}
	good.ok(t, value.MustJSON(`{"find": "c", "$db": "test"}`))
}
