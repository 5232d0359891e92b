package clock

import (
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// ErrBackwards is returned for a move into the past.
var ErrBackwards = errors.New("the clock cannot move backwards")

// ErrOutOfRange is returned for a move beyond the last representable date.
var ErrOutOfRange = errors.New("the clock cannot move past the last date")

// Manual is a clock that is moved by hand. It is frozen, or runs along with
// the system clock. It is safe for concurrent use.
type Manual struct {
	jumping sync.Mutex // held during a move, its timers and its hooks

	mu      sync.Mutex
	source  source
	frozen  bool
	at      time.Time // the clock's instant when it was last moved or frozen
	since   time.Time // the source's instant at that moment
	timers  timerHeap
	seq     uint64 // orders timers of the same instant
	stop    func() bool
	changed *sync.Cond // signals a change of the number of timers

	hooks []*hook
}

// source is the clock that a running Manual follows.
type source interface {
	Now() time.Time
	afterFunc(d time.Duration, f func()) (stop func() bool)
}

type hook struct{ f func(now time.Time) }

// NewManual returns a clock frozen at start.
func NewManual(start time.Time) *Manual {
	m := newManual(system{})
	m.frozen, m.at = true, start.Round(0)
	return m
}

// NewRunning returns a clock that shows system time until it is moved or
// frozen.
func NewRunning() *Manual { return newManual(system{}) }

// NewFollowing is NewRunning for a clock that shows the time of another one instead
// of the system's, such as that of a database.
func NewFollowing(c Clock) *Manual { return newManual(followed{c}) }

// followed makes a clock a source. The system wakes it: what it is woken for too early it
// waits for again.
type followed struct{ Clock }

func (followed) afterFunc(d time.Duration, f func()) (stop func() bool) {
	return system{}.afterFunc(d, f)
}

func newManual(s source) *Manual {
	m := &Manual{source: s}
	m.changed = sync.NewCond(&m.mu)
	m.since = s.Now().Round(0)
	m.at = m.since
	return m
}

// Now returns the clock's instant.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now()
}

// NowMillis returns Now in milliseconds since 1970.
func (m *Manual) NowMillis() int64 { return m.Now().UnixMilli() }

// now follows the wall clock, not the monotonic one: dates are compared
// with it. The caller holds mu.
func (m *Manual) now() time.Time {
	if m.frozen {
		return m.at // without reading the source
	}
	return m.when(m.source.Now().Round(0))
}

// when is what the clock shows when its source shows an instant. The caller holds mu.
func (m *Manual) when(source time.Time) time.Time {
	if m.frozen {
		return m.at
	}
	return m.at.Add(source.Sub(m.since))
}

// OffsetMillis returns by how much the clock is ahead of the system clock.
func (m *Manual) OffsetMillis() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.frozen { // exact: reads the system clock only once
		return m.at.UnixMilli() - m.since.UnixMilli()
	}
	return m.at.UnixMilli() - m.source.Now().UnixMilli()
}

// Frozen reports whether the clock stands still.
func (m *Manual) Frozen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozen
}

// Advance moves the clock forward by d and returns when the timers that
// became due have fired and all [Manual.OnJump] functions have run.
func (m *Manual) Advance(d time.Duration) error {
	return m.jump(func(now time.Time) (time.Time, error) {
		if d < 0 {
			return now, ErrBackwards
		}
		return checkRange(now, now.Add(d))
	})
}

// AdvanceMillis is Advance for distances beyond the range of time.Duration.
func (m *Manual) AdvanceMillis(ms int64) error {
	return m.jump(func(now time.Time) (time.Time, error) {
		if ms < 0 {
			return now, ErrBackwards
		}
		if ms > math.MaxInt64-max(now.UnixMilli(), 0) {
			return now, ErrOutOfRange
		}
		below := now.Sub(now.Truncate(time.Millisecond))
		return time.UnixMilli(now.UnixMilli() + ms).Add(below).In(now.Location()), nil
	})
}

// Set moves the clock forward to t, otherwise like Advance.
func (m *Manual) Set(t time.Time) error {
	return m.jump(func(now time.Time) (time.Time, error) {
		if t.Before(now) {
			return now, ErrBackwards
		}
		return checkRange(now, t.Round(0))
	})
}

func checkRange(now, t time.Time) (time.Time, error) {
	if t.Before(now) || t.Year() > 292_000_000 {
		return now, ErrOutOfRange
	}
	return t, nil
}

// Reset returns the clock to system time, running. It is the only move that
// may go backwards; timers keep their remaining time.
func (m *Manual) Reset() {
	m.jumping.Lock()
	defer m.jumping.Unlock()
	m.mu.Lock()
	before := m.now()
	m.since = m.source.Now().Round(0)
	m.at, m.frozen = m.since, false
	m.backwards(before.Sub(m.at))
	m.moved()
}

// backwards lets the timers keep their remaining time after a move backwards.
// The caller holds mu.
func (m *Manual) backwards(by time.Duration) {
	if by <= 0 {
		return
	}
	for _, t := range m.timers { // all by the same amount, so the heap stays valid
		t.when = t.when.Add(-by)
	}
}

// Freeze stops the clock at its present instant.
func (m *Manual) Freeze() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.frozen {
		m.at, m.frozen = m.now(), true
		m.arm()
	}
}

// Resume lets a frozen clock run on from its instant.
func (m *Manual) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen {
		m.since, m.frozen = m.source.Now().Round(0), false
		m.arm()
	}
}

// OnJump registers a function that runs after each move, in order of
// registration, before the call that moves the clock returns. It may use the
// clock but not move it. After cancel it is no longer called.
func (m *Manual) OnJump(f func(now time.Time)) (cancel func()) {
	h := &hook{f}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hooks = append(m.hooks, h)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.hooks = slices.DeleteFunc(m.hooks, func(o *hook) bool { return o == h })
	}
}

// jump moves the clock to the result of target, unless that returns an error.
func (m *Manual) jump(target func(now time.Time) (time.Time, error)) error {
	m.jumping.Lock()
	defer m.jumping.Unlock()
	m.mu.Lock()
	since := m.source.Now().Round(0) // once: the distance to the source must be exact
	to, err := target(m.when(since))
	if err != nil {
		m.mu.Unlock()
		return err
	}
	m.at, m.since = to, since
	m.moved()
	return nil
}

// moved fires the due timers after a move, releases mu and runs the hooks.
func (m *Manual) moved() {
	m.fireDue()
	now := m.now()
	hooks := slices.Clone(m.hooks)
	m.mu.Unlock()
	for _, h := range hooks {
		if m.registered(h) {
			h.f(now)
		}
	}
}

func (m *Manual) registered(h *hook) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.hooks, h)
}
