package monitor

import (
	"sync/atomic"
	"time"
)

// lease decides which of several servers over the same data runs the passes that are due.
type lease struct {
	ask   func() bool // asks for the lease
	held  atomic.Bool // whether this server had the lease when last asked
	other bool        // whether another server had it then; guarded by Monitor.passing
}

// leaseEvery is how often a server looks whether the one that runs the passes has ended.
const leaseEvery = time.Second

// take asks for the lease. The caller holds passing.
func (l *lease) take() bool {
	got := l.ask()
	l.held.Store(got)
	l.other = !got
	return got
}

// takenOver reports whether the lease has come from another server, whose last pass may be
// long ago. The caller holds passing.
func (l *lease) takenOver() bool {
	was := l.other
	return !l.held.Load() && l.take() && was
}
