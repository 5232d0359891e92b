package commands

import "sync"

// broadcast wakes everyone who waits for something to happen.
type broadcast struct {
	mu      sync.Mutex
	ch      chan struct{}
	waiting bool
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

// signal wakes all waiters; it costs little when there is none.
func (b *broadcast) signal() {
	b.mu.Lock()
	if b.waiting {
		close(b.ch)
		b.ch, b.waiting = make(chan struct{}), false
	}
	b.mu.Unlock()
}
