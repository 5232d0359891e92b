package queue

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func TestMain(m *testing.M) {
	// The store looks once a second whether it has been closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// waiting starts a receiver and returns once it waits.
func (e *env) waiting(ctx context.Context, name string, wait time.Duration) <-chan result {
	ch := make(chan result, 1)
	before := e.waitersFor(name)
	go func() {
		docs, err := e.broker.Receive(ctx, e.store, Request{Ref: ref(name), Max: 1, Wait: wait}, e.now())
		ch <- result{docs, err}
	}()
	for e.waitersFor(name) == before {
		if len(ch) > 0 {
			break
		}
		runtime.Gosched()
	}
	return ch
}

type result struct {
	docs []value.Doc
	err  error
}

func (e *env) waitersFor(name string) (n int) {
	e.must(e.broker.view(e.ctx, e.store, ref(name), e.now(), func(x *entity) error {
		w := &x.state.main
		if x.dead {
			w = &x.state.dead
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		n = len(w.list)
		return nil
	}))
	return n
}

// get waits for the result of a receiver; the real time is only a safeguard.
func get(t *testing.T, ch <-chan result) result {
	t.Helper()
	select {
	case r := <-ch:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("the receiver does not return")
		return result{}
	}
}

func (e *env) got(t *testing.T, ch <-chan result, number int64) value.Doc {
	t.Helper()
	r := get(t, ch)
	if r.err != nil || len(r.docs) != 1 || mq(r.docs[0], "sequenceNumber").Int64() != number {
		t.Fatalf("received %v, %v; want number %d", r.docs, r.err, number)
	}
	return r.docs[0]
}

func TestWaitForSend(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	a := e.waiting(e.ctx, "q", MaxWait)
	b := e.waiting(e.ctx, "q", MaxWait)
	e.send("q", `{"_id": 1}`)
	first := e.got(t, a, 1) // in the order in which they came
	e.abandon("q", first)
	e.got(t, b, 1)
}

func TestWaitEnds(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	ch := e.waiting(e.ctx, "q", 5*time.Second)
	e.at(5)
	if r := get(t, ch); r.err != nil || len(r.docs) != 0 {
		t.Errorf("%v, %v", r.docs, r.err)
	}
	ctx, cancel := context.WithCancelCause(e.ctx)
	ch = e.waiting(ctx, "q", 5*time.Second)
	cancel(mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit"))
	if r := get(t, ch); !mongoerr.Is(r.err, mongoerr.MaxTimeMSExpired) {
		t.Errorf("%v, %v", r.docs, r.err)
	}
	ch = e.waiting(e.ctx, "q", 5*time.Second)
	e.broker.Close()
	if r := get(t, ch); r.err != nil || len(r.docs) != 0 {
		t.Errorf("%v, %v", r.docs, r.err)
	}
}

// A frozen clock does not keep a client waiting for ever.
func TestWaitEndsByRealTime(t *testing.T) {
	e := newEnv(t)
	real := clock.NewManual(time.UnixMilli(0))
	e.broker = NewBroker(e.clock, real, &e.metrics)
	e.create("q", `{}`)
	ch := e.waiting(e.ctx, "q", 5*time.Second)
	real.WaitForTimers(1)
	_ = real.Advance(5 * time.Second)
	if r := get(t, ch); r.err != nil || len(r.docs) != 0 {
		t.Errorf("%v, %v", r.docs, r.err)
	}
}

// When Advance returns, all waiting receivers have polled again.
func TestJumpWakesWaiters(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 10}`)
	e.send("q", `{"_id": 1, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225605000}}}`) // at 5
	a := e.waiting(e.ctx, "q", MaxWait)
	e.at(5)
	e.got(t, a, 2)
	if st := e.stats("q"); st.Locked != 1 {
		t.Errorf("%+v", st)
	}
	b := e.waiting(e.ctx, "q", MaxWait)
	e.at(15) // the lock lapses
	e.got(t, b, 2)
	if st := e.stats("q"); st.Locked != 1 {
		t.Errorf("%+v", st)
	}
}

func TestWaitForDeadLetter(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"defaultMessageTimeToLive": 5, "deadLetteringOnMessageExpiration": true}`)
	a := e.waiting(e.ctx, dlq, MaxWait)
	e.send("q", `{"_id": 1}`)
	m := e.one("q")
	e.must(e.broker.DeadLetter(e.ctx, e.store, Lock{ref("q"), tokenOf(m)}, "r", "", e.now()))
	e.got(t, a, 1)
	b := e.waiting(e.ctx, dlq, MaxWait)
	e.send("q", `{"_id": 2}`)
	e.at(5) // it expires
	e.got(t, b, 2)
}

func TestDropWakesWaiters(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	ch := e.waiting(e.ctx, "q", MaxWait)
	e.must(e.store.Update(e.ctx, func(tx storage.Tx, c *Changes) error { return e.broker.Drop(tx, c, ns("q"), e.now()) }))
	if r := get(t, ch); !mongoerr.Is(r.err, mongoerr.NamespaceNotFound) {
		t.Errorf("%v, %v", r.docs, r.err)
	}
}

// An ordinary insert is a send, once it is committed.
func TestInsert(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	ch := e.waiting(e.ctx, "q", MaxWait)
	changes := e.broker.Changes()
	oops := errors.New("tried again")
	for range 2 {
		err := e.update(func(tx storage.Tx) error {
			changes.Begin()
			for i := range 3 {
				if _, err := e.broker.Insert(tx, changes, ns("q"), value.NewDoc("_id", value.Int32(int32(i))), e.now()); err != nil {
					return err
				}
			}
			return oops
		})
		if oops == nil {
			e.must(err)
		}
		oops = nil
	}
	changes.Committed()
	e.got(t, ch, 1)
	e.count("q", 3)
}

// Locks, schedules, counts, numbers and the idle clock survive a restart.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	e := newEnvAt(t, path)
	restart := func() {
		e.must(e.engine.Close())
		e.open(path)
	}
	e.create("q", `{"lockDuration": 30, "maxDeliveryCount": 3, "autoDeleteOnIdle": 300}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`, `{"_id": 3}`, `{"_id": 4, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225620000}}}`)
	e.abandon("q", e.one("q"))
	locked := e.one("q")
	e.deferIt("q", e.one("q"))
	e.must(e.complete("q", e.one("q")))
	restart()
	e.none("q")
	if st := e.stats("q"); st.Locked != 1 || st.Deferred != 1 || st.Scheduled != 1 {
		t.Errorf("%+v", st)
	}
	expectMQ(t, locked, `{"deliveryCount": 2}`)
	e.at(25)
	restart()
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "5"}, "enqueuedTimeUtc": {"$date": 1767225620000}}`)
	e.must(e.complete("q", locked))
	_, err := e.number("q", 2)
	e.must(err)
	if n := e.send("q", `{"_id": 9}`)[0]; n != 6 {
		t.Errorf("number %d, want 6", n)
	}
	e.at(100)
	e.peek("q") // an activity that writes nothing else
	restart()
	if st := e.stats("q"); st.LastActivity != t0+100_000 || st.IdleDeadline != t0+400_000 {
		t.Errorf("%+v", st)
	}
}

// Waiting receivers and senders in any order: all messages arrive.
func TestManyWaiters(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	const consumers, messages = 8, 400
	ctx, stop := context.WithCancel(e.ctx)
	var wg sync.WaitGroup
	seen := make(chan int64, messages)
	for range consumers {
		wg.Go(func() {
			for {
				docs, err := e.broker.Receive(ctx, e.store, Request{Ref: ref("q"), Max: 1, Wait: MaxWait, Delete: true}, e.now())
				if err != nil {
					return
				}
				for _, d := range docs {
					seen <- mq(d, "sequenceNumber").Int64()
				}
			}
		})
	}
	for i := range messages {
		e.send("q", value.NewDoc("_id", value.Int32(int32(i))).JSON())
	}
	got := map[int64]bool{}
	for range messages {
		select {
		case n := <-seen:
			got[n] = true
		case <-time.After(20 * time.Second):
			t.Fatalf("only %d messages arrived", len(got))
		}
	}
	if len(got) != messages {
		t.Errorf("%d different messages", len(got))
	}
	stop()
	wg.Wait()
}
