package clock

import (
	"sync"
	"testing"
	"time"
)

// fakeSource stands in for the system clock, so that a running Manual can be
// tested without waiting.
type fakeSource struct {
	mu    sync.Mutex
	t     time.Time
	calls map[int]*call
	next  int
}

type call struct {
	when time.Time
	f    func()
}

func newFakeSource() *fakeSource { return &fakeSource{t: t0, calls: map[int]*call{}} }

func (s *fakeSource) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t
}

func (s *fakeSource) afterFunc(d time.Duration, f func()) func() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.calls[id] = &call{s.t.Add(d), f}
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, waiting := s.calls[id]
		delete(s.calls, id)
		return waiting
	}
}

// pass lets d pass and runs what became due.
func (s *fakeSource) pass(d time.Duration) {
	s.mu.Lock()
	s.t = s.t.Add(d)
	var due []func()
	for id, c := range s.calls {
		if !c.when.After(s.t) {
			due = append(due, c.f)
			delete(s.calls, id)
		}
	}
	s.mu.Unlock()
	for _, f := range due {
		f()
	}
}

func (s *fakeSource) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// restless is a source whose time passes whenever it is read.
type restless struct{ *fakeSource }

func (s restless) Now() time.Time {
	s.pass(400 * time.Microsecond)
	return s.fakeSource.Now()
}

// A clock that runs keeps the exact distance of its moves, however long they take.
func TestExactOffset(t *testing.T) {
	for range 5 {
		m := newManual(restless{newFakeSource()})
		for n := int64(1); n <= 5; n++ {
			if err := m.Advance(time.Hour); err != nil {
				t.Fatal(err)
			}
			if got, want := m.OffsetMillis(), n*3_600_000; got != want {
				t.Errorf("after %d hours the clock is ahead by %d ms", n, got)
			}
		}
	}
}
