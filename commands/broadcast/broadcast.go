package broadcast

import (
	"sync"
	"sync/atomic"
)

// Broadcast wakes all goroutines that wait for an event. It is safe for concurrent
// use.
type Broadcast struct {
	mu      sync.Mutex
	ch      chan struct{}
	waiting bool
	signals atomic.Int64
}

// New returns a Broadcast without signals.
func New() *Broadcast { return &Broadcast{ch: make(chan struct{})} }

// Wait returns a channel that is closed at the next signal. The caller must call Wait
// before it checks the condition.
func (b *Broadcast) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = true
	return b.ch
}

// Count returns the number of signals so far. A goroutine that may want to wait later
// passes it to After, which costs nothing until then.
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

// past is a closed channel.
var past = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// Signal wakes all waiters. Without waiters it costs little.
func (b *Broadcast) Signal() {
	b.mu.Lock()
	b.signals.Add(1)
	if b.waiting {
		close(b.ch)
		b.ch, b.waiting = make(chan struct{}), false
	}
	b.mu.Unlock()
}
