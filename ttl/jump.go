package ttl

import (
	"context"
	"time"
)

// Jump moves a manual clock by calling move. If runDue is set and
// ttlMonitorSleepSecs of the clock's time have passed since start-up or the
// end of the last pass, a pass has run when Jump returns; otherwise the jump
// starts no pass, and the skipped time does not count for the running sleep.
// It is the command testClock; moves of the clock that do not go through Jump
// run the due pass.
func (m *Monitor) Jump(move func() error, runDue bool) (passRan bool, err error) {
	m.mu.Lock()
	m.ran = false
	m.seen = m.clock.Now()
	if runDue {
		m.asked++
	} else {
		m.holding++
	}
	m.mu.Unlock()
	err = move()
	m.mu.Lock()
	defer m.mu.Unlock()
	if runDue {
		m.asked--
	} else if m.holding--; m.holding == 0 {
		m.calm.Broadcast()
	}
	return m.ran, err
}

// jumped is called by a manual clock after each move.
func (m *Monitor) jumped(ctx context.Context, now time.Time) {
	m.mu.Lock()
	held := m.holding > 0
	if held {
		if d := now.Sub(m.seen); d > 0 {
			m.skipped += d
		}
	}
	m.seen = now
	m.mu.Unlock()
	if !held {
		m.passAfterJump(ctx)
	}
	m.ParametersChanged()
}

// passAfterJump runs the pass that has become due, with Jump on whichever server this is:
// the reply waits for it. Unlike the sleep, it counts the time that earlier jumps have
// skipped.
func (m *Monitor) passAfterJump(ctx context.Context) {
	m.passing.Lock()
	defer m.passing.Unlock()
	sleep := time.Duration(m.host.Parameters().SleepSecs) * time.Second
	m.mu.Lock()
	left, asked := sleep-m.elapsed(), m.asked > 0
	m.mu.Unlock()
	if left <= 0 && ctx.Err() == nil {
		m.tryPass(ctx, asked)
	}
}
