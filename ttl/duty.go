package ttl

import (
	"sync/atomic"
	"time"
)

// duty says whether this server runs the passes that are due: of several servers over the
// same data, the one with the lease does.
type duty struct {
	has   atomic.Bool // as the lease was when it was asked for last
	other bool        // then it was another server's; guarded by passing
}

// dutyEvery is how often a server looks whether the one that runs the passes has ended.
const dutyEvery = time.Second

// onDuty asks for the lease. The caller holds passing.
func (m *Monitor) onDuty() bool {
	got := m.lease()
	m.duty.has.Store(got)
	m.duty.other = !got
	return got
}

// takesOver reports whether the lease has come from another server, whose last pass may be
// long ago. The caller holds passing.
func (m *Monitor) takesOver() bool {
	was := m.duty.other
	return !m.duty.has.Load() && m.onDuty() && was
}

// rest is how long to sleep.
func (m *Monitor) rest() time.Duration {
	left := m.left()
	if m.duty.has.Load() {
		return left
	}
	return min(left, dutyEvery)
}
