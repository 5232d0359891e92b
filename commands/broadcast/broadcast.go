package broadcast

import (
	"sync"
	"sync/atomic"
)

// Broadcast wakes everyone who waits for something to happen.
type Broadcast struct {
	mu      sync.Mutex
	ch      chan struct{}
	waiting bool
	signals atomic.Int64
}

func New() *Broadcast { return &Broadcast{ch: make(chan struct{})} }

// Wait returns a channel that is closed at the next signal. It must be taken
// before looking at the condition.
func (b *Broadcast) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = true
	return b.ch
}

// Count is how often there was a signal: for who wants to wait later, maybe.
func (b *Broadcast) Count() int64 { return b.signals.Load() }

// After returns a channel that is closed once there were more than n signals.
func (b *Broadcast) After(n int64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.signals.Load() != n {
		return past
	}
	b.waiting = true
	return b.ch
}

// past is closed.
var past = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// Signal wakes all waiters; it costs little when there is none.
func (b *Broadcast) Signal() {
	b.mu.Lock()
	b.signals.Add(1)
	if b.waiting {
		close(b.ch)
		b.ch, b.waiting = make(chan struct{}), false
	}
	b.mu.Unlock()
}
