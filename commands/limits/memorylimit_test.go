package limits_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// fakeHeap is a heap of which some is garbage.
type fakeHeap struct {
	live, dead  int64
	collections int
	log         bytes.Buffer
}

func (h *fakeHeap) guard(limit int64, c clock.Clock) *limits.MemoryGuard {
	log := zerolog.New(&h.log)
	g := limits.NewMemoryGuard(limit, c, &log)
	g.InUse, g.Collect = func() int64 { return h.live + h.dead }, func() { h.dead = 0; h.collections++ }
	g.Refresh()
	return g
}

func TestMemoryGuard(t *testing.T) {
	c := clock.NewManual(harness.TestStart)
	h := &fakeHeap{live: 100 << 20, dead: 800 << 20}
	g := h.guard(1000<<20, c)
	if err := g.Admit(50 << 20); err != nil || h.collections != 1 {
		t.Errorf("garbage in the way: %v, %d collections", err, h.collections)
	}
	h.live = 990 << 20
	g.Refresh()
	err := g.Admit(20 << 20)
	if mongoerr.CodeOf(err) != mongoerr.ExceededMemoryLimit || h.collections != 1 {
		t.Errorf("beyond the limit: %v, %d collections", err, h.collections)
	}
	if err := g.Admit(1 << 20); err != nil {
		t.Errorf("what fits: %v", err)
	}
	h.live, h.dead = 300<<20, 700<<20 // the client deleted
	if err := g.Admit(20 << 20); mongoerr.CodeOf(err) != mongoerr.ExceededMemoryLimit || h.collections != 1 {
		t.Errorf("collected again at once: %v", err)
	}
	c.Advance(time.Second)
	if err := g.Admit(20 << 20); err != nil || h.collections != 2 {
		t.Errorf("after deletes: %v, %d collections", err, h.collections)
	}
}

// TestMemoryGuardAddsUp: bytes written since the last measurement count.
func TestMemoryGuardAddsUp(t *testing.T) {
	h := &fakeHeap{live: 1 << 20}
	g := h.guard(64<<20, clock.NewManual(harness.TestStart))
	looks := 0
	g.InUse = func() int64 { looks++; return h.live }
	for range 50 {
		if err := g.Admit(1 << 20); err != nil {
			t.Fatal(err)
		}
		h.live += 1 << 20
	}
	if looks != 0 {
		t.Errorf("asked the runtime %d times far from the limit", looks)
	}
	for range 20 {
		h.live += 1 << 20
		_ = g.Admit(1 << 20)
	}
	if looks == 0 {
		t.Error("never asked")
	}
}

func TestMemoryGuardOff(t *testing.T) {
	if err := limits.NewMemoryGuard(0, clock.System(), nil).Admit(1 << 40); err != nil {
		t.Error(err)
	}
}

// TestMemoryLimit: at the limit inserts and growing updates fail with 146;
// reads, deletes and shrinking updates still work.
func TestMemoryLimit(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "s": "` + strings.Repeat("x", 1000) + `"}, {"_id": 2}]}`)
	heap := &fakeHeap{live: 100 << 20}
	h.Svc.Memory = heap.guard(50<<20, clock.System())
	h.Fails(146, `{"insert": "c", "documents": [{"_id": 3}]}`)
	h.Fails(146, `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 1}}}]}`)
	h.Fails(146, `{"update": "c", "updates": [{"q": {"_id": 9}, "u": {"$set": {"a": 1}}, "upsert": true}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"s": "y"}}}]}`)
	if n := h.OK(`{"count": "c"}`).Lookup("n").Int32(); n != 2 {
		t.Errorf("%d documents", n)
	}
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	heap.live = 1 << 20
	h.OK(`{"insert": "c", "documents": [{"_id": 3}]}`)
}

// TestMemoryLimitOfIndexes: an index over many documents fails before it is
// built, one over none is made.
func TestMemoryLimitOfIndexes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}]}`)
	heap := &fakeHeap{live: 100 << 20}
	h.Svc.Memory = heap.guard(50<<20, clock.System())
	h.Fails(146, `{"createIndexes": "c", "indexes": [{"name": "a", "key": {"a": 1}}]}`)
	if n := len(harness.Docs(h.OK(`{"listIndexes": "c"}`))); n != 1 {
		t.Errorf("%d indexes", n)
	}
	h.OK(`{"createIndexes": "d", "indexes": [{"name": "a", "key": {"a": 1}}]}`)
	heap.live = 1 << 20
	h.OK(`{"createIndexes": "c", "indexes": [{"name": "a", "key": {"a": 1}}]}`)
}

// TestMemoryLimitOfQueues: messages can no longer be sent, but existing ones can be
// received and settled.
func TestMemoryLimitOfQueues(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {}}`)
	h.OK(`{"mqSend": "q", "messages": [{"body": 1}]}`)
	heap := &fakeHeap{live: 100 << 20}
	h.Svc.Memory = heap.guard(50<<20, clock.System())
	h.Fails(146, `{"mqSend": "q", "messages": [{"body": 2}]}`)
	m := h.OK(`{"mqReceive": "q"}`).Lookup("messages").Doc()
	_, first := m.First()
	if first.Doc().Lookup("body").Int32() != 1 {
		t.Fatalf("received %s", m)
	}
	heap.live = 1 << 20
	h.OK(`{"mqSend": "q", "messages": [{"body": 2}]}`)
}

func TestCursorCap(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	h.Svc.Cursors.Limit = 3
	for range 3 {
		h.OK(`{"find": "c", "batchSize": 1}`)
	}
	h.Fails(146, `{"find": "c", "batchSize": 1}`)
	h.OK(`{"find": "c"}`)
}

// TestMemoryLimitIsLogged: the limit is logged once, however often it is reached, until
// there has been room again.
func TestMemoryLimitIsLogged(t *testing.T) {
	c := clock.NewManual(harness.TestStart)
	h := &fakeHeap{live: 95 << 20}
	g := h.guard(100<<20, c)
	for range 2 {
		for range 100 {
			if err := g.Admit(20 << 20); !strings.Contains(err.Error(), "--memoryLimit") {
				t.Fatal(err)
			}
			if err := g.Admit(1 << 10); err != nil { // what is small may fit in between
				t.Fatal(err)
			}
		}
		if n := strings.Count(h.log.String(), "is reached"); n != 1 {
			t.Errorf("%d lines:\n%s", n, h.log.String())
		}
		h.log.Reset()
		h.live = 10 << 20
		g.Refresh()
		if err := g.Admit(1 << 10); err != nil || strings.Count(h.log.String(), "room") != 1 {
			t.Errorf("%v, %s", err, h.log.String())
		}
		h.live = 95 << 20
		g.Refresh()
		h.log.Reset()
	}
}

// TestDeadLettersAtTheLimit: moving a document needs no additional memory, so it works at
// the limit, as deletes do.
func TestDeadLettersAtTheLimit(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c", "onExpire": {"deadLetterTo": "dead"}}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}]}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "at": {"$date": "2026-01-01T00:00:00Z"}}, {"_id": 2}]}`)
	heap := &fakeHeap{live: 100 << 20}
	h.Svc.Memory = heap.guard(50<<20, clock.System())
	h.Fails(146, `{"insert": "dead", "documents": [{"_id": 3}]}`)
	h.Admin(`{"runExpirationPass": 1}`)
	if left, moved := h.Count("c"), h.Count("dead"); left != 1 || moved != 1 {
		t.Errorf("%d left, %d moved", left, moved)
	}
}

// TestKeptDeadLettersAreCounted, and warned of once in each pass, with one of
// them as an example.
func TestKeptDeadLettersAreCounted(t *testing.T) {
	var log bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log).Level(zerolog.WarnLevel)})
	h.OK(`{"create": "dead", "validator": {"never": true}}`)
	h.OK(`{"create": "c", "onExpire": {"deadLetterTo": "dead"}}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}]}`)
	const n = 60
	for range n {
		h.OK(`{"insert": "c", "documents": [{"at": {"$date": "2026-01-01T00:00:00Z"}}]}`)
	}
	for pass := range 2 {
		log.Reset()
		h.Admin(`{"runExpirationPass": 1}`)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 1 || !strings.Contains(lines[0], `"kept":60`) || !strings.Contains(lines[0], "Cannot move the expired document with _id ") || !strings.Contains(lines[0], "Document failed validation") {
			t.Errorf("%d lines:\n%s", len(lines), log.String())
		}
		status := h.Admin(`{"serverStatus": 1}`).Lookup("metrics").Doc().Lookup("expiration").Doc()
		if got := status.Lookup("onExpire").Doc().Lookup("kept").SafeInt64(); got != int64(n*(pass+1)) {
			t.Errorf("kept is %d after pass %d", got, pass)
		}
	}
}
