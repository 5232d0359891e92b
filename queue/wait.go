package queue

import (
	"math"
	"slices"
	"sync"
	"time"
)

// waiters are the receivers that wait for messages of one queue, in the order
// of their arrival. A message that becomes receivable wakes one of them, not
// all.
//
// Each of them has a timer for the earliest instant at which, when it polled, a lock was
// to lapse or a scheduled message to come due. One timer is enough: a writer of a message
// that is due before all of them wakes one receiver, so that it resets its timer, and a
// receiver that leaves hands its instant over.
//
// A receiver whose timer has fired looks, and so does one that is woken because another
// server has changed the queue, which may mean anything: if it gets a message, there may
// be more, and the next one looks; otherwise there is nothing for the others either.
type waiters struct {
	mu   sync.Mutex
	list []*waiter
}

// waiter is one waiting receiver.
type waiter struct {
	ch   chan struct{}     // a channel with room for one signal
	acks []*sync.WaitGroup // signalled when the receiver has polled again
	due  int64             // the instant of its timer; never while it polls
	look bool              // whether its next poll is a look

	// Of the poll under way:
	held  int64 // due before it
	looks bool
}

const never = math.MaxInt64

// join adds a receiver at the end. It must poll for messages after joining,
// before it waits.
func (w *waiters) join() *waiter {
	x := &waiter{ch: make(chan struct{}, 1), due: never}
	w.mu.Lock()
	w.list = append(w.list, x)
	w.mu.Unlock()
	return x
}

// leave removes a receiver. If it was woken and has not polled, the next one
// takes its place.
func (w *waiters) leave(x *waiter) {
	w.mu.Lock()
	w.list = slices.DeleteFunc(w.list, func(o *waiter) bool { return o == x })
	acks := x.acks
	x.acks = nil
	if x.look || x.due != never && !w.expect(x.due) {
		w.lookNext()
	}
	w.mu.Unlock()
	done(acks)
	select {
	case <-x.ch:
		w.wake(1, 0)
	default:
	}
}

// beginPoll must be called before a receiver polls for messages.
func (w *waiters) beginPoll(x *waiter) {
	w.mu.Lock()
	x.held, x.due = x.due, never
	x.looks, x.look = x.look, false
	w.mu.Unlock()
}

// endPoll records that the receiver has polled since it was woken. If there was no message
// for it, it will wait until the next one is due; otherwise it will leave.
func (w *waiters) endPoll(x *waiter, due int64, nothing bool) {
	w.mu.Lock()
	if nothing {
		x.due = due
	} else {
		x.due, x.look = x.held, x.look || x.looks
	}
	acks := x.acks
	x.acks = nil
	w.mu.Unlock()
	done(acks)
}

// timed records that the timer of a receiver has fired.
func (w *waiters) timed(x *waiter) {
	w.mu.Lock()
	x.look = true
	w.mu.Unlock()
}

// expect reports whether a receiver has a timer for an instant or an earlier one.
func (w *waiters) expect(due int64) bool {
	return slices.ContainsFunc(w.list, func(x *waiter) bool { return x.due <= due })
}

// lookNext makes the first receiver look that is not awake yet, or any if all are, unless
// one is about to. The caller holds the lock.
func (w *waiters) lookNext() {
	if slices.ContainsFunc(w.list, func(x *waiter) bool { return x.look }) {
		return
	}
	for i, x := range w.list {
		if x.signal() || i == len(w.list)-1 {
			x.look = true
			return
		}
	}
}

// wakeForNews wakes a receiver that finds out what another server has changed.
func (w *waiters) wakeForNews() {
	w.mu.Lock()
	w.lookNext()
	w.mu.Unlock()
}

func done(acks []*sync.WaitGroup) {
	for _, a := range acks {
		a.Done()
	}
}

// wake wakes the first n receivers that are not awake yet, and another one if a message is
// due (unless that is 0) before they expect it.
func (w *waiters) wake(n int, due int64) {
	if n <= 0 && due == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.list {
		if n <= 0 {
			break
		}
		if x.signal() {
			n--
		}
	}
	if due != 0 && !w.expect(due) {
		w.lookNext()
	}
}

// wakeAll wakes all receivers. ack, if not nil, is done when all have polled.
func (w *waiters) wakeAll(ack *sync.WaitGroup) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.list {
		if ack != nil {
			ack.Add(1)
			x.acks = append(x.acks, ack)
		}
		x.signal()
	}
}

// signal wakes the receiver. It returns false if the receiver was awake.
func (x *waiter) signal() bool {
	select {
	case x.ch <- struct{}{}:
		return true
	default:
		return false
	}
}

// reconsiderLimit is how long a jump of the clock waits for a receiver that is
// blocked, for instance by an open transaction.
const reconsiderLimit = time.Second

// reconsider makes all waiting receivers poll again after a jump of the clock,
// and returns when they have.
func (b *Broker) reconsider() {
	var ack sync.WaitGroup
	b.each(func(q *runtimeState) { q.wakeAll(&ack) })
	all := make(chan struct{})
	go func() { ack.Wait(); close(all) }()
	limit := b.real.NewTimer(reconsiderLimit)
	defer limit.Stop()
	select {
	case <-all:
	case <-limit.C():
	}
}
