package commands_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// clocked starts servers over the same data, which have one clock.
type clocked struct {
	*testing.T
	real *clock.Manual // by which leases end
	join func() storage.Engine
}

func newClocked(t *testing.T) clocked {
	t.Helper()
	s := clocked{T: t, real: clock.NewManual(harness.TestStart)}
	if engines.Remote(engines.ForTests()) {
		uri := engines.TestURI(engines.Memory)
		s.join = func() storage.Engine {
			opened, err := engines.Open(engines.ForTests(), engines.Options{URI: uri, Indexer: catalog.NewIndexer()})
			if err != nil {
				t.Fatal(err)
			}
			return harness.Hostile(t, opened.Engine)
		}
		return s
	}
	opened, err := engines.Open(engines.ForTests(), engines.Options{Path: engines.Memory, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	cluster := storagetest.NewCluster(harness.Hostile(t, opened.Engine), s.real)
	s.join = func() storage.Engine { return cluster.Join() }
	return s
}

// start starts a server with a test clock of its own, which stands at an instant, and which
// takes what the others set if it follows them.
func (s clocked) start(at time.Time, follows bool) server {
	s.Helper()
	engine := s.join()
	h := harness.NewOver(s, engine, clock.NewManual(at), kernel.Options{Log: zerolog.Nop(), CommonClock: true})
	ctx, stop := context.WithCancel(context.Background())
	wait := h.Svc.Monitor.Start(ctx)
	s.Cleanup(func() { stop(); wait() }) // before the service closes
	if follows {
		go h.Svc.Follow(ctx)
	}
	return server{h, engine, nil}
}

// now is what the clock shows, which no command has asked for.
func (s server) now() time.Duration { return s.Clock.Now().Sub(harness.TestStart) }

// move moves the clock.
func (s server) move(args string) value.Doc {
	s.Helper()
	reply := s.Admin(`{testClock: 1, ` + args + `}`)
	if !reply.Lookup("ok").Truthy() {
		s.Fatalf("testClock %s answered %s", args, reply)
	}
	return reply
}

// The test clock is one for all servers: those that run take a move before it is
// acknowledged, those that start take what is set, and moves at the same time add up.
func TestSharedTestClock(t *testing.T) {
	t.Parallel()
	s := newClocked(t)
	a := s.start(harness.TestStart, true)
	b := s.start(harness.TestStart.AddDate(-1, 0, 0), true)
	all := []server{a, b}
	check := func(what string, want time.Duration) {
		t.Helper()
		for i, on := range all {
			if got := on.now(); got != want {
				t.Errorf("%s: the clock of server %d shows %v, want %v", what, i, got, want)
			}
			if at := on.Admin(`{testClock: 1}`).Lookup("now").DateTime(); at != harness.TestStart.Add(want).UnixMilli() {
				t.Errorf("%s: server %d says %v", what, i, time.UnixMilli(at))
			}
		}
	}
	check("at the start", 0)
	a.move(`advanceSeconds: 3600`)
	check("advanced", time.Hour)
	b.move(`set: {$date: "2026-01-01T02:00:00Z"}`)
	check("set", 2*time.Hour)
	all = append(all, s.start(harness.TestStart.AddDate(1, 0, 0), true))
	check("a third server", 2*time.Hour)
	if reply := a.Admin(`{testClock: 1, set: {$date: "2026-01-01T01:00:00Z"}}`); reply.Lookup("code").Int32() != 2 || reply.Lookup("errmsg").Str() != "the clock cannot move backwards" {
		t.Errorf("a move backwards answered %s", reply)
	}
	var wg sync.WaitGroup
	for _, on := range all {
		wg.Go(func() {
			for range 5 {
				on.move(`advanceMillis: 1000`)
			}
		})
	}
	wg.Wait()
	check("moved at the same time", 2*time.Hour+15*time.Second)

	b.move(`freeze: false`)
	for i, on := range all {
		if on.Clock.Frozen() {
			t.Errorf("the clock of server %d stands still", i)
		}
	}
	a.move(`freeze: true`)
	if x, y := a.now(), b.now(); x != y || !b.Clock.Frozen() {
		t.Errorf("the clocks show %v and %v", x, y)
	}
	if reply := all[2].move(`reset: true`); reply.Lookup("frozen").Truthy() || reply.Lookup("offsetMillis").Int64() != 0 {
		t.Errorf("reset answered %s", reply)
	}
	for i, on := range all {
		if off := time.Since(on.Clock.Now()).Abs(); off > time.Minute {
			t.Errorf("the clock of server %d is off by %v", i, off)
		}
	}
}

// Documents of document TTL expire on all servers in the same millisecond, a move runs the
// pass that is due on the server that got it, and receivers that wait for a lock to lapse
// are woken on all.
func TestSharedTestClockExpires(t *testing.T) {
	t.Parallel()
	s := newClocked(t)
	a, b := s.start(harness.TestStart, true), s.start(harness.TestStart, true)
	c := s.start(harness.TestStart, true)
	all := []server{a, b, c}
	a.engine.Lease("expiry")
	a.OK(`{create: "d", documentTtl: {default: 10}}`)
	a.OK(`{insert: "d", documents: [{_id: 1}]}`)
	count := func(what string, want int64) {
		t.Helper()
		for i, on := range all {
			if n := on.OK(`{count: "d", query: {_id: 1}}`).Lookup("n").SafeInt64(); n != want {
				t.Errorf("%s: server %d has %d documents, want %d", what, i, n, want)
			}
		}
	}
	b.move(`advanceMillis: 9999, runDuePasses: false`)
	count("a millisecond before", 1)
	c.move(`advanceMillis: 1, runDuePasses: false`)
	count("in that millisecond", 0)

	c.OK(`{createIndexes: "t", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`)
	insert := func() {
		t.Helper()
		b.OK(fmt.Sprintf(`{insert: "t", documents: [{at: {$date: {$numberLong: "%d"}}}]}`, b.Clock.NowMillis()))
	}
	insert()
	if reply := b.move(`advanceSeconds: 61, runDuePasses: false`); reply.Lookup("passRan").Truthy() || a.Count("t") != 1 {
		t.Errorf("answered %s, %d documents are left", reply, a.Count("t"))
	}
	if reply := b.move(`advanceSeconds: 1`); !reply.Lookup("passRan").Truthy() || a.Count("t") != 0 {
		t.Errorf("answered %s, %d documents are left", reply, a.Count("t"))
	}

	a.OK(`{create: "q", messageQueue: {lockDuration: 5}}`)
	a.OK(`{mqSend: "q", messages: [{n: 1}]}`)
	a.OK(`{mqReceive: "q"}`)
	got := make(chan value.Doc, 1)
	go func() { got <- b.Run(`{mqReceive: "q", maxWaitTimeMS: 60000}`) }()
	inTime(t, "the receive", func() {
		for b.OK(`{serverStatus: 1}`); ; { // until the receiver waits
			select {
			case reply := <-got:
				if reply.Lookup("messages").Doc().Len() != 1 {
					t.Errorf("answered %s", reply)
				}
				return
			default:
				c.move(`advanceSeconds: 1`)
			}
		}
	})
}

// A move waits for a server that lives and has not taken it, and not for one that has died.
func TestSharedTestClockWaits(t *testing.T) {
	t.Parallel()
	s := newClocked(t)
	a, b := s.start(harness.TestStart, true), s.start(harness.TestStart, false)
	if reply := a.Admin(`{testClock: 1, advanceSeconds: 1, maxTimeMS: 300}`); reply.Lookup("code").Int32() != 50 {
		t.Errorf("answered %s although a server has not taken it", reply)
	}
	done := make(chan value.Doc, 1)
	go func() { done <- a.Admin(`{testClock: 1, advanceSeconds: 1, maxTimeMS: 60000}`) }()
	inTime(t, "the move", func() {
		for {
			b.OK(`{ping: 1}`) // takes it
			select {
			case reply := <-done:
				if !reply.Lookup("ok").Truthy() || b.now() != 2*time.Second {
					t.Errorf("answered %s, and the clock shows %v", reply, b.now())
				}
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	b.die(t)
	if err := s.real.Advance(storagetest.LeaseTime); err != nil {
		t.Fatal(err)
	}
	inTime(t, "the move without the dead server", func() { a.move(`advanceSeconds: 1`) })
	if a.now() != 3*time.Second {
		t.Errorf("the clock shows %v", a.now())
	}
}

// Servers with a test clock and servers without do not start beside each other.
func TestSharedTestClockOfAllOrNone(t *testing.T) {
	t.Parallel()
	s := newClocked(t)
	try := func(test bool) (end func(), err error) {
		engine := s.join()
		o := kernel.Options{Engine: engine, Clock: clock.System(), Log: zerolog.Nop(), TempDir: t.TempDir(), CommonClock: true}
		if test {
			o.Clock, o.TestClock = clock.NewManual(harness.TestStart), true
		}
		svc, err := harness.NewService(o)
		if err != nil {
			_ = engine.Close()
			return nil, err
		}
		return func() { housekeeping.Close(svc); _ = engine.Close() }, nil
	}
	must := func(test bool) (end func()) {
		t.Helper()
		end, err := try(test)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	refused := func(test bool, want string) {
		t.Helper()
		if end, err := try(test); err == nil {
			end()
			t.Errorf("a server with a test clock: %v started", test)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("refused: %v", err)
		}
	}
	first, second := must(true), must(true)
	refused(false, "a server with a test clock runs there")
	first()
	refused(false, "a server with a test clock runs there")
	second()
	first, second = must(false), must(false)
	refused(true, "a server without a test clock runs there")
	second()
	first()
	must(true)()
}
