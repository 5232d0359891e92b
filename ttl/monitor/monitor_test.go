package monitor

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/ttl"

	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
)

func TestMain(m *testing.M) {
	// BuntDB's own goroutine ends up to a second after the engine is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// running starts a monitor and ends it with the test.
func running(t *testing.T, h Host, c clock.Clock) *Monitor {
	t.Helper()
	m := New(h, Options{Clock: c, Real: c})
	ctx, cancel := context.WithCancel(context.Background())
	wait := m.Start(ctx)
	t.Cleanup(func() { cancel(); wait() })
	return m
}

func passes(m *Monitor) int64 { return m.Metrics().Passes.Load() }

func TestJump(t *testing.T) {
	h, c := newHost(t), clock.NewManual(t0)
	m := running(t, h, c)
	jump := func(seconds int64, runDue, wantRan bool, wantPasses int64) {
		t.Helper()
		ran, err := m.Jump(func() error { return c.AdvanceMillis(seconds * 1000) }, runDue)
		if err != nil || ran != wantRan || passes(m) != wantPasses {
			t.Errorf("%d s, runDuePasses %v: ran %v, %d passes, %v; want %v, %d", seconds, runDue, ran, passes(m), err, wantRan, wantPasses)
		}
	}
	jump(59, true, false, 0)
	jump(1, true, true, 1)
	jump(1000, false, false, 1)
	jump(0, true, true, 2)
	jump(30, false, false, 2)
	jump(30, true, true, 3)
	jump(3600, true, true, 4) // one pass, however many sleeps have passed
	if _, err := m.Jump(func() error { return c.AdvanceMillis(-1) }, true); err == nil {
		t.Error("no error for a move backwards")
	}
	h.set(false, false)
	jump(3600, true, false, 4)
	h.set(true, true)
	jump(3600, true, false, 4)
	if _, err := m.RunPass(context.Background(), ttl.All); err == nil {
		t.Error("a pass under fsyncLock")
	}
	h.set(false, false)
	_, err := m.RunPass(context.Background(), ttl.All)
	if !mongoerr.Is(err, mongoerr.InvalidOptions) || !strings.Contains(err.Error(), "ttlMonitorEnabled") {
		t.Errorf("disabled: %v", err)
	}
}

// The sleep's own timer may see the move before the jump does.
func TestJumpBehindTimer(t *testing.T) {
	h, c := newHost(t), clock.NewManual(t0)
	var m *Monitor
	first := c.OnJump(func(time.Time) { m.passIfDue(context.Background()) })
	defer first()
	m = running(t, h, c)
	ran, err := m.Jump(func() error { return c.Advance(time.Minute) }, true)
	if err != nil || !ran || passes(m) != 1 {
		t.Errorf("ran %v, %d passes, %v; want true, 1", ran, passes(m), err)
	}
}

// A move of the clock that knows nothing of the monitor.
func TestAdvance(t *testing.T) {
	h, c := newHost(t), clock.NewManual(t0)
	docs := h.create(t, "c", `{}`, nil, `{"key":{"x":1},"name":"x_1","expireAfterSeconds":60}`)
	docs.Put(0, `{"_id":1,"x":`+at(0)+`}`)
	m := running(t, h, c)
	for i := range 200 {
		_ = c.Advance(60 * time.Second)
		if passes(m) != int64(i+1) {
			t.Fatalf("%d passes after %d minutes", passes(m), i+1)
		}
		// A jump that does not start a pass, right after one that did.
		if _, err := m.Jump(func() error { return c.Advance(time.Hour) }, false); err != nil || passes(m) != int64(i+1) {
			t.Fatal("a jump without passes started one")
		}
	}
	if docs.Count() != 0 || m.LastPass().At != c.NowMillis()-3600_000 {
		t.Error("the passes did not do their work")
	}
}

// The clock ticks by itself: the sleep is measured by timers.
func TestSleep(t *testing.T) {
	h := newHost(t)
	h.params.SleepSecs = 3600
	c := clock.NewRunning()
	q := &signalTarget{swept: make(chan int64, 10)}
	h.targets = []Target{q}
	host := &paramHost{testHost: h, sleep: make(chan int64, 1)}
	host.sleep <- 3600
	m := running(t, host, c)
	<-host.sleep
	host.sleep <- 0 // due at once
	m.ParametersChanged()
	<-q.swept
}

// paramHost has a ttlMonitorSleepSecs that may be changed while it runs.
type paramHost struct {
	*testHost
	sleep chan int64
}

func (h *paramHost) Parameters() Parameters {
	p := h.params
	p.SleepSecs = <-h.sleep
	h.sleep <- p.SleepSecs
	return p
}

type signalTarget struct {
	fakeTarget
	swept chan int64
}

func (s *signalTarget) Sweep(_ context.Context, v *Visit) error {
	select {
	case s.swept <- v.Now:
	default:
	}
	return nil
}

func TestClockReset(t *testing.T) {
	h, c := newHost(t), clock.NewManual(time.Now().Add(24*time.Hour))
	ctx, cancel := context.WithCancel(context.Background())
	m := New(h, Options{Clock: c})
	ended := make(chan struct{})
	go func() { m.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()
	c.WaitForTimers(1)
	c.Reset()
	if m.left() < 59*time.Second || m.left() > 61*time.Second {
		t.Errorf("%v left of the sleep", m.left())
	}
}

func TestLogAndMetrics(t *testing.T) {
	h, c := newHost(t), clock.NewManual(t0)
	var log bytes.Buffer
	m := New(h, Options{Clock: c, Log: zerolog.New(&log)})
	mustPass(t, m)
	if log.Len() != 0 {
		t.Error("an idle pass is logged")
	}
	docs := h.create(t, "c", `{"documentTtl":{"default":5}}`, ttl.DocumentIndexes(), `{"key":{"x":1},"name":"x_1","expireAfterSeconds":0}`)
	docs.Put(0, `{"_id":1,"x":`+at(0)+`}`, `{"_id":2}`)
	h.targets = []Target{&fakeTarget{Removed: ttl.Removed{MessagesDropped: 4}}}
	mustPass(t, m)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"ttl":1`) || !strings.Contains(got, `"documentTtl":1`) || !strings.Contains(got, `"messagesDropped":4`) {
		t.Error(got)
	}
	b := value.NewBuilder()
	m.Metrics().AppendTTL(b)
	m.Metrics().AppendExpiration(b, 7)
	want := `{"ttl":{"deletedDocuments":1,"deletedKeys":1,"invalidTTLIndexSkips":0,"passes":2,"subPasses":2},"expiration":{"documentTtl":{"purged":1,"pendingPurge":7,"deferredPasses":0},"onExpire":{"moved":0,"kept":0},"messageQueue":{"expiredDropped":0,"expiredDeadLettered":0,"locksLapsed":0,"maxDeliveryDeadLettered":0,"queuesAutoDeleted":0},` +
		`"lag":{"ttl":{"count":1,"totalMillis":0,"p50Millis":0.5,"p90Millis":0.9,"p99Millis":0.99},"documentTtl":{"count":1,"totalMillis":1767225595000,"p50Millis":6.048E+08,"p90Millis":6.048E+08,"p99Millis":6.048E+08}},` // the second one was last written in 1970
	removed := `,"removed":{"ttl":{"removed":1,"moved":0},"documentTtl":{"removed":1,"moved":0}}}}`
	doc := b.Doc()
	if got := doc.JSON(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, removed) {
		t.Errorf("%s\nwant %s … %s", got, want, removed)
	}
	if passes := doc.Lookup("expiration").Doc().Lookup("passes").Doc(); passes.Lookup("count").Int64() != 2 || passes.Lookup("errors").Int64() != 0 {
		t.Errorf("passes: %s", passes)
	}
}
