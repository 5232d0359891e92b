package server

import (
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// pulse is a timer that runs while requests are served.
//
// The monitor of Go's scheduler is a thread that makes long computations give way, and looks
// at the network if no processor has had the time to. It sleeps when no goroutine runs, until
// a system call that the scheduler knows of, or until the next timer. To wake it for each
// request costs as much as a short command, so sockets are read and written by calls that the
// scheduler does not know of; and so that it does not sleep while a long command runs that
// came after a short one, there is always a timer.
type pulse struct {
	beats atomic.Bool
	start chan struct{}
}

// pulseEvery is how long the monitor sleeps at most, awake, between two looks.
const pulseEvery = 10 * time.Millisecond

func newPulse() *pulse { return &pulse{start: make(chan struct{}, 1)} }

// felt makes the pulse beat. It is called before requests are served.
func (p *pulse) felt() {
	if !p.beats.Load() && p.beats.CompareAndSwap(false, true) {
		p.start <- struct{}{}
	}
}

// run beats until done is closed, but not when there was no request since the last beat.
// A command that is running then keeps the monitor awake itself.
func (p *pulse) run(done <-chan struct{}, requests func() int64) {
	timer := clock.System().NewTimer(pulseEvery)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-p.start:
		}
		timer.Reset(pulseEvery)
		wakeMonitor() // it sleeps until a timer that was set before
		for before := int64(-1); ; timer.Reset(pulseEvery) {
			select {
			case <-done:
				return
			case <-timer.C():
			}
			now := requests()
			if now == before {
				break
			}
			before = now
		}
		p.beats.Store(false)
	}
}
