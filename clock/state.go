package clock

import "time"

// State is what a [Manual] shows. Clocks with the same State and the same source show the same
// time.
type State struct {
	Frozen bool
	// At is the instant that the clock shows while it is frozen. If it runs, it is the
	// one that it showed when its source showed Since.
	At, Since time.Time
}

// State returns the clock's state.
func (m *Manual) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return State{Frozen: m.frozen, At: m.at, Since: m.since}
}

// Adopt makes the state of another clock that of this one, which may go backwards: it is
// how several servers have one clock. Otherwise it is a move like Set. With the state
// that the clock has it does nothing.
func (m *Manual) Adopt(s State) {
	m.jumping.Lock()
	defer m.jumping.Unlock()
	m.mu.Lock()
	if s.Frozen == m.frozen && s.At.Equal(m.at) && (s.Frozen || s.Since.Equal(m.since)) {
		m.mu.Unlock()
		return
	}
	before := m.now()
	m.at, m.since, m.frozen = s.At.Round(0), s.Since.Round(0), s.Frozen
	m.backwards(before.Sub(m.now()))
	m.moved()
}

// Copy returns a clock with the same source and state, without its timers and hooks: a
// place to try a move.
func (m *Manual) Copy() *Manual {
	c := newManual(m.source)
	s := m.State()
	c.at, c.since, c.frozen = s.At, s.Since, s.Frozen
	return c
}
