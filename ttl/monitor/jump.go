package monitor

import (
	"context"
	"sync"
	"time"
)

// jumps are the moves of a manual clock that are under way.
type jumps struct {
	silent  int        // jumps that must not start a pass
	over    *sync.Cond // signals that silent is 0 again
	waiting int        // jumps that wait for the pass that they make due
	seen    time.Time  // the clock before the last jump
	passed  bool       // a pass ran since the last jump began
}

// Jump moves a manual clock by calling move. If runDue is set and
// ttlMonitorSleepSecs of the clock's time have passed since start-up or the
// end of the last pass, a pass has run when Jump returns; otherwise the jump
// starts no pass, and the skipped time does not count for the running sleep.
// It is the command testClock; moves of the clock that do not go through Jump
// run the due pass.
func (m *Monitor) Jump(move func() error, runDue bool) (passRan bool, err error) {
	m.mu.Lock()
	j := &m.jumps
	j.passed = false
	j.seen = m.clock.Now()
	if runDue {
		j.waiting++
	} else {
		j.silent++
	}
	m.mu.Unlock()
	err = move()
	m.mu.Lock()
	defer m.mu.Unlock()
	if runDue {
		j.waiting--
	} else if j.silent--; j.silent == 0 {
		j.over.Broadcast()
	}
	return j.passed, err
}

// jumped is called by a manual clock after each move.
func (m *Monitor) jumped(ctx context.Context, now time.Time) {
	m.mu.Lock()
	silent := m.jumps.silent > 0
	if silent {
		m.sleep.skip(now.Sub(m.jumps.seen))
	}
	m.jumps.seen = now
	m.mu.Unlock()
	if !silent {
		m.passAfterJump(ctx)
	}
	m.ParametersChanged()
}

// passAfterJump runs the due pass, without the lease if a Jump waits for it. Unlike the
// sleep, it counts the time that earlier jumps have skipped.
func (m *Monitor) passAfterJump(ctx context.Context) {
	m.passing.Lock()
	defer m.passing.Unlock()
	length := m.sleepLength()
	m.mu.Lock()
	left, waited := length-m.sleep.elapsed(), m.jumps.waiting > 0
	m.mu.Unlock()
	if left <= 0 && ctx.Err() == nil {
		m.tryPass(ctx, waited)
	}
}
