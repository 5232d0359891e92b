package commands

import (
	"sync"
	"sync/atomic"
)

// broadcast wakes everyone who waits for something to happen.
type broadcast struct {
	mu      sync.Mutex
	ch      chan struct{}
	waiting bool
	signals atomic.Int64
}

func newBroadcast() *broadcast { return &broadcast{ch: make(chan struct{})} }

// wait returns a channel that is closed at the next signal. It must be taken
// before looking at the condition.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = true
	return b.ch
}

// count is how often there was a signal: for who wants to wait later, maybe.
func (b *broadcast) count() int64 { return b.signals.Load() }

// after returns a channel that is closed once there were more than n signals.
func (b *broadcast) after(n int64) <-chan struct{} {
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

// signal wakes all waiters; it costs little when there is none.
func (b *broadcast) signal() {
	b.mu.Lock()
	b.signals.Add(1)
	if b.waiting {
		close(b.ch)
		b.ch, b.waiting = make(chan struct{}), false
	}
	b.mu.Unlock()
}
