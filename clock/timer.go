package clock

import (
	"container/heap"
	"time"
)

// manualTimer is a timer of a Manual. Its fields are guarded by the clock's
// mutex.
type manualTimer struct {
	m     *Manual
	c     chan time.Time // holds one instant
	when  time.Time
	seq   uint64
	index int // in the heap, -1 if not waiting
}

// After returns a channel that receives the time once d has passed.
func (m *Manual) After(d time.Duration) <-chan time.Time { return m.NewTimer(d).C() }

// NewTimer returns a timer that fires once d has passed.
func (m *Manual) NewTimer(d time.Duration) Timer {
	t := &manualTimer{m: m, c: make(chan time.Time, 1), index: -1}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.start(t, d)
	return t
}

// Timers returns the number of timers that wait to fire.
func (m *Manual) Timers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}

// WaitForTimers blocks until at least n timers wait to fire: a test that
// starts goroutines uses it to know that they sleep before it moves the
// clock.
func (m *Manual) WaitForTimers(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.timers) < n {
		m.changed.Wait()
	}
}

// C returns the channel on which the time is delivered.
func (t *manualTimer) C() <-chan time.Time { return t.c }

// Stop prevents the timer from firing.
func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.m.remove(t)
}

// Reset makes the timer fire once d has passed from now.
func (t *manualTimer) Reset(d time.Duration) bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	active := t.m.remove(t)
	t.m.start(t, d)
	return active
}

func (m *Manual) start(t *manualTimer, d time.Duration) {
	m.seq++
	t.seq = m.seq
	t.when = m.now().Add(max(d, 0))
	heap.Push(&m.timers, t)
	m.fireDue()
	m.changed.Broadcast()
}

// remove takes the timer out of the heap and out of its channel.
func (m *Manual) remove(t *manualTimer) (active bool) {
	select {
	case <-t.c:
	default:
	}
	if t.index < 0 {
		return false
	}
	heap.Remove(&m.timers, t.index)
	m.arm()
	return true
}

// fireDue fires the timers whose instant has come, in order of instants.
func (m *Manual) fireDue() {
	now := m.now()
	for len(m.timers) > 0 && !m.timers[0].when.After(now) {
		t := heap.Pop(&m.timers).(*manualTimer)
		t.c <- now // never blocks: a waiting timer's channel is empty
	}
	m.arm()
}

// arm has the source wake a running clock at its next timer.
func (m *Manual) arm() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
	if m.frozen || len(m.timers) == 0 {
		return
	}
	m.stop = m.source.afterFunc(m.timers[0].when.Sub(m.now()), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fireDue()
	})
}

// timerHeap orders timers by instant, then by age.
type timerHeap []*manualTimer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if !h[i].when.Equal(h[j].when) {
		return h[i].when.Before(h[j].when)
	}
	return h[i].seq < h[j].seq
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*manualTimer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
