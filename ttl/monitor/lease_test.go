package monitor

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// A server that gets the lease of one that has ended runs a pass within a second, and not
// only at the end of its own sleep. One that had no predecessor sleeps first.
func TestMonitorTakesOver(t *testing.T) {
	c := clock.NewManual(t0)
	var holder atomic.Int32 // 0: the lease is free
	start := func(me int32) (m *Monitor, end func()) {
		m = New(newHost(t), Options{Clock: c, Real: c, Lease: func() bool { return holder.CompareAndSwap(0, me) || holder.Load() == me }})
		ctx, cancel := context.WithCancel(context.Background())
		wait := m.Start(ctx)
		end = func() { cancel(); wait() }
		t.Cleanup(end)
		return m, end
	}
	pass := func(d time.Duration, monitors int) {
		t.Helper()
		for range d / time.Second {
			c.WaitForTimers(monitors)
			if err := c.Advance(time.Second); err != nil {
				t.Fatal(err)
			}
		}
		c.WaitForTimers(monitors)
	}
	one, end := start(1)
	pass(10*time.Second, 1)
	other, _ := start(2)
	pass(49*time.Second, 2)
	if passes(one) != 0 || passes(other) != 0 {
		t.Errorf("%d and %d passes before the end of the first sleep", passes(one), passes(other))
	}
	pass(11*time.Second, 2)
	if passes(one) != 1 || passes(other) != 0 {
		t.Errorf("%d and %d passes", passes(one), passes(other))
	}
	end()
	pass(5*time.Second, 1)
	if passes(other) != 0 {
		t.Error("a pass without the lease")
	}
	holder.Store(0)
	for range 10 { // what wakes the monitor may come just after the clock has moved
		if pass(time.Second, 1); passes(other) > 0 {
			break
		}
	}
	if passes(other) != 1 {
		t.Errorf("%d passes after the lease has come", passes(other))
	}
	pass(59*time.Second, 1)
	if passes(other) != 1 {
		t.Errorf("%d passes before the end of the next sleep", passes(other))
	}
}
