package queue

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// What is kept in memory of a queue that another server has dropped is forgotten, and its
// receivers look again.
func TestForgetsWhatIsDroppedElsewhere(t *testing.T) {
	c := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	b := NewBroker(c, c, &ttl.Metrics{})
	ns := storage.Namespace{DB: "db", Coll: "q"}
	q := b.queue([16]byte{1})
	b.queue([16]byte{2}) // nobody has waited for it
	q.elsewhere.await(ns)
	receiver := q.main.join()
	stamps := func(n uint64, err error) func(storage.Namespace) (uint64, error) {
		return func(storage.Namespace) (uint64, error) { return n, err }
	}
	for i, step := range []struct {
		stamp uint64
		err   error
		wakes bool
		left  int
	}{{7, nil, true, 2}, {7, nil, false, 2}, {0, errors.New("cannot be read"), true, 2}, {8, nil, true, 2}, {0, nil, true, 1}, {0, nil, false, 1}} {
		b.ChangedElsewhere(stamps(step.stamp, step.err))
		woken := false
		select {
		case <-receiver.ch:
			woken = true
			q.main.beginPoll(receiver)
			q.main.endPoll(receiver, never, true)
		default:
		}
		if woken != step.wakes || len(b.queues) != step.left {
			t.Errorf("step %d: woken: %v, %d queues are known, want %v, %d", i, woken, len(b.queues), step.wakes, step.left)
		}
	}
}

// countingStore counts the transactions that only read.
type countingStore struct {
	Store
	views atomic.Int64
}

func (s *countingStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	s.views.Add(1)
	return s.Store.View(ctx, fn)
}

// awaitViews waits until there were so many transactions.
func (s *countingStore) awaitViews(t *testing.T, views int64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.views.Load() < views; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d views, want %d", s.views.Load(), views)
		}
	}
}

// One receiver looks for what another server has sent, and the next one only if there was
// something.
func TestReceiversLookInTurn(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.broker.Shared = true
	store := &countingStore{Store: e.store}
	until := func(views int64) { t.Helper(); store.awaitViews(t, views) }
	const receivers = 12
	all := make(chan result, receivers)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	var polls [receivers]countingStore
	for i := range receivers {
		polls[i].Store = store
		go func() {
			docs, err := e.broker.Receive(ctx, &polls[i], Request{Ref: ref("q"), Max: 1, Wait: MaxWait}, e.now())
			all <- result{docs, err}
		}()
		until(2 * int64(i+1)) // it has looked for the queue and for messages
	}
	e.broker.ChangedElsewhere(e.engine.Stamp) // what has been there before
	until(2*receivers + 1)
	before := store.views.Load()
	var had [receivers]int64
	for i := range polls {
		had[i] = polls[i].views.Load()
	}
	other := NewBroker(e.clock, e.clock, &e.metrics)
	if _, err := other.Send(e.ctx, e.store, ref("q"), []value.Doc{value.MustJSON(`{"_id": 1}`), value.MustJSON(`{"_id": 2}`)}, e.now()); err != nil {
		t.Fatal(err)
	}
	e.broker.ChangedElsewhere(e.engine.Stamp)
	numbers := map[int64]bool{}
	for range 2 { // whose they are does not matter: the look before may still be under way
		r := get(t, all)
		if r.err != nil || len(r.docs) != 1 {
			t.Fatalf("received %v, %v", r.docs, r.err)
		}
		numbers[mq(r.docs[0], "sequenceNumber").Int64()] = true
	}
	if !numbers[1] || !numbers[2] {
		t.Errorf("received numbers %v", numbers)
	}
	until(before + 3)
	for range 100 {
		runtime.Gosched()
	}
	// Each message makes another receiver look, or two, as its lock will lapse. A receiver may poll
	// twice: if it is woken again before it polls, or if another one takes the message it has found.
	looked := 0
	for i := range polls {
		if polls[i].views.Load() > had[i] {
			looked++
		}
	}
	if looked > 5 {
		t.Errorf("%d receivers have looked for 2 messages, want at most 5", looked)
	}
	cancel()
	for range receivers - 2 {
		if r := get(t, all); len(r.docs) != 0 {
			t.Errorf("received %v", r.docs)
		}
	}
}

// A receiver that looks passes on what the others have to know.
func TestReceiversPassNewsOn(t *testing.T) {
	signalled := func(x *waiter) bool {
		select {
		case <-x.ch:
			return true
		default:
			return false
		}
	}
	for _, tt := range []struct {
		name    string
		due     int64 // when the first message is due, once it has looked
		nothing bool
		leaves  bool
		wakes   []bool // the second and the third
	}{
		{"nothing", 200, true, false, []bool{false, false}},
		{"nothing, and it leaves", 200, true, true, []bool{false, false}},
		{"it alone has the timer", 50, true, false, []bool{false, false}},
		{"it alone has the timer, and leaves", 50, true, true, []bool{true, false}},
		{"a message", 200, false, true, []bool{true, false}},
	} {
		var w waiters
		list := []*waiter{w.join(), w.join(), w.join()}
		for _, x := range list {
			w.beginPoll(x)
			w.endPoll(x, 100, true)
		}
		w.wakeForNews()
		if !signalled(list[0]) || signalled(list[1]) || signalled(list[2]) {
			t.Errorf("%s: not the first alone was woken", tt.name)
		}
		w.beginPoll(list[0])
		w.endPoll(list[0], tt.due, tt.nothing)
		if tt.leaves {
			w.leave(list[0])
		}
		if got := []bool{signalled(list[1]), signalled(list[2])}; !slices.Equal(got, tt.wakes) {
			t.Errorf("%s: woken %v, want %v", tt.name, got, tt.wakes)
		}
	}
	// What is due before all timers wakes one receiver, what is due later none.
	var w waiters
	a, b := w.join(), w.join()
	for _, x := range []*waiter{a, b} {
		w.beginPoll(x)
		w.endPoll(x, 100, true)
	}
	if w.wake(0, 100); signalled(a) || signalled(b) {
		t.Error("a receiver was woken for what it expects")
	}
	if w.wake(0, 99); !signalled(a) || signalled(b) {
		t.Error("not the first alone was woken for what is due earlier")
	}
	// While it polls its timer does not count.
	w.beginPoll(a)
	w.beginPoll(b)
	if w.wake(0, 150); !signalled(a) {
		t.Error("nobody was woken for what those that poll may not see")
	}
	w.leave(a)
	w.leave(b)
	// News that come while the first polls are looked for by it again, or by the next.
	a, b = w.join(), w.join()
	w.beginPoll(a)
	w.wakeForNews()
	w.endPoll(a, 100, true)
	if w.leave(a); !signalled(b) {
		t.Error("the news were lost")
	}
	if w.beginPoll(b); !b.looks {
		t.Error("the second does not know that there are news")
	}
}

// A receiver that waits for a session gets one that another server's receiver has released,
// although no message has changed.
func TestSessionReleasedElsewhere(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true}`)
	e.send("q", `{"_id": 1, "_mq": {"sessionId": "a"}}`)
	e.broker.Shared = true
	other := NewBroker(e.clock, e.clock, &e.metrics)
	there := engineStore{e.engine, other}
	held, _, err := other.AcceptSession(e.ctx, there, Accept{Ref: ref("q")}, e.now())
	e.must(err)
	store := &countingStore{Store: e.store}
	polled := func(views int64) { t.Helper(); store.awaitViews(t, views) }
	got := make(chan Accepted, 1)
	go func() {
		s, _, err := e.broker.AcceptSession(e.ctx, store, Accept{Ref: ref("q"), Wait: MaxWait}, e.now())
		if err != nil {
			t.Error(err)
		}
		got <- s
	}()
	polled(3)
	e.broker.ChangedElsewhere(e.engine.Stamp) // what has been there before
	polled(5)
	e.must(other.ReleaseSession(e.ctx, there, e.lock(held), e.now()))
	e.broker.ChangedElsewhere(e.engine.Stamp)
	polled(7)
	if s := <-got; s.ID != "a" {
		t.Errorf("accepted %q", s.ID)
	}
}
