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
// Each of them has a timer for the earliest instant at which a lock may lapse
// or a scheduled message come due. alarm is never after that instant. A writer
// of a message that is due before the alarm wakes all receivers, so that they
// reset their timers.
type waiters struct {
	mu    sync.Mutex
	list  []*waiter
	alarm int64
}

// waiter is one waiting receiver.
type waiter struct {
	ch   chan struct{}     // has room for one signal
	acks []*sync.WaitGroup // signalled when the receiver has polled again
}

// join adds a receiver at the end. It must poll for messages after joining,
// before it waits.
func (w *waiters) join() *waiter {
	x := &waiter{ch: make(chan struct{}, 1)}
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
	w.mu.Unlock()
	done(acks)
	select {
	case <-x.ch:
		w.wake(1, 0)
	default:
	}
}

// beginPoll must be called before a receiver polls for messages.
func (w *waiters) beginPoll() {
	w.mu.Lock()
	w.alarm = math.MaxInt64
	w.mu.Unlock()
}

// endPoll records that the receiver has polled since it was woken, and when
// the next message is due.
func (w *waiters) endPoll(x *waiter, due int64) {
	w.mu.Lock()
	w.alarm = due
	acks := x.acks
	x.acks = nil
	w.mu.Unlock()
	done(acks)
}

func done(acks []*sync.WaitGroup) {
	for _, a := range acks {
		a.Done()
	}
}

// wake wakes the first n receivers that are not awake yet, or all if a
// message is due (unless that is 0) before they expect it.
func (w *waiters) wake(n int, due int64) {
	if n <= 0 && due == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if due != 0 && due < w.alarm {
		n = len(w.list)
	}
	for _, x := range w.list {
		if n == 0 {
			return
		}
		if x.signal() {
			n--
		}
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
