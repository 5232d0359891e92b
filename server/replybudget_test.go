package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/duskdb/duskdb/value"
)

// TestReplyPlaces: only so many large replies are in memory at a time. The commands of
// other clients wait before they write theirs; small replies do not. Clients that do not
// read are disconnected while others wait, the longest waiting first.
func TestReplyPlaces(t *testing.T) {
	s, err := New(Config{DBPath: Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	const deaf, slots, scarce = 5, 2, time.Hour
	s.timeLimits.scarce = scarce // the test moves the time
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.inFlight.slots = semaphore.NewWeighted(slots)
	good := dial(t, s)
	good.ok(t, value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(1), "s", value.String(strings.Repeat("x", 15<<20))))), "$db", value.String("test")))
	for range 3 * slots { // those that read leave their slot to the next
		good.ok(t, value.MustJSON(`{"find": "c", "$db": "test"}`))
	}
	for i := range deaf {
		command := []string{
			`{"find": "c", "$db": "test"}`, `{"distinct": "c", "key": "s", "$db": "test"}`,
			`{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, "$db": "test"}`,
		}[i%3]
		if _, err := dial(t, s).Write(request(value.MustJSON(command))); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { return s.inFlight.waiting.Load() == deaf-slots })
	held := 0
	s.each(func(c *conn) {
		if c.progress.held.Load() > 0 {
			held++
		}
	})
	if held > slots {
		t.Errorf("%d large replies are in memory, want %d", held, slots)
	}
	good.ok(t, value.MustJSON(`{"count": "c", "$db": "test"}`))
	now := time.Now()
	waitFor(t, func() bool {
		now = now.Add(2 * scarce)
		s.checkReplies(now)
		return s.inFlight.waiting.Load() == 0
	})
	now = now.Add(2 * scarce)
	s.checkReplies(now)
	if n := s.Service().Snapshot().Connections.Current; n < 1+1 {
		t.Errorf("%d connections: clients were disconnected although nobody waited", n)
	}
}
