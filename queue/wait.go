package queue

import (
	"math"
	"slices"
	"sync"
	"time"
)

// waiters are the receivers that wait for messages of one queue, in the
// order in which they came. A message that becomes receivable wakes one of
// them, not all.
//
// Each of them has a timer for the earliest instant at which a lock may lapse
// or a scheduled message come due. alarm is never after that instant; whoever
// makes a message that is due before the alarm wakes all, so that they set
// their timers anew.
type waiters struct {
	mu    sync.Mutex
	list  []*waiter
	alarm int64
}

// waiter is one waiting receiver.
type waiter struct {
	ch   chan struct{}     // has room for one signal
	acks []*sync.WaitGroup // who wants to know that it has looked again
}

// join adds a receiver at the end. It must look for messages after joining,
// before it waits.
func (w *waiters) join() *waiter {
	x := &waiter{ch: make(chan struct{}, 1)}
	w.mu.Lock()
	w.list = append(w.list, x)
	w.mu.Unlock()
	return x
}

// leave removes a receiver. If it was woken and did not get to look, the
// next one takes its place.
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

// look must be called before a receiver looks for messages.
func (w *waiters) look() {
	w.mu.Lock()
	w.alarm = math.MaxInt64
	w.mu.Unlock()
}

// looked tells that the receiver has looked for messages since it was woken,
// and when the next of them is due.
func (w *waiters) looked(x *waiter, due int64) {
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

// wakeAll wakes everyone. ack, if not nil, is done when all have looked.
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

// signal wakes the receiver; false if it was awake.
func (x *waiter) signal() bool {
	select {
	case x.ch <- struct{}{}:
		return true
	default:
		return false
	}
}

// reconsiderLimit bounds how long a jump of the clock waits for a receiver
// that is itself held up, by an open transaction for instance.
const reconsiderLimit = time.Second

// reconsider lets all waiting receivers look again and returns when they
// have: after a jump of the clock.
func (b *Broker) reconsider() {
	var ack sync.WaitGroup
	b.each(func(q *live) { q.wakeAll(&ack) })
	all := make(chan struct{})
	go func() { ack.Wait(); close(all) }()
	limit := b.real.NewTimer(reconsiderLimit)
	defer limit.Stop()
	select {
	case <-all:
	case <-limit.C():
	}
}
