package limits

import "time"

// FakeHeap has the guard measure and collect by these functions, in place of the
// runtime's.
func (g *MemoryGuard) FakeHeap(inUse func() int64, collect func()) {
	g.inUse, g.collect = inUse, collect
}

// FakeUse replaces what the guard measures.
func (g *MemoryGuard) FakeUse(inUse func() int64) { g.inUse = inUse }

// Take takes a token without waiting for it.
func (l *RateLimiter) Take(now time.Time) (wait time.Duration, ok bool) { return l.take(now) }

// Leave gives up a place in the queue that Take has taken.
func (l *RateLimiter) Leave(waited time.Duration, err error) { l.leave(waited, err) }

// Waiting returns how many operations have to wait for their turn.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(len(t.all)-t.allowed, 0)
}
