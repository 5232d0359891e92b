package engine

import (
	"sync"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// pollEvery is the interval of the calls of Poll.
const pollEvery = 5 * time.Millisecond

// idlePolls is after how many polls without a script the watcher ends.
const idlePolls = 20

// sealAfter is after how many more polls a script that was interrupted, and goes on,
// loses its memory. It is in a function of the engine that takes long.
const sealAfter = 4

// watch asks the host of a scope, while a script runs, whether it may go on,
// and interrupts the script if not. The goroutine that does so is started by a
// script and ends soon after the last one.
type watch struct {
	clock     clock.Clock
	interrupt func()
	seal      func()

	mu      sync.Mutex // held while the host is asked
	poll    func() error
	working bool // a script runs, and not a function of the host
	running bool // the goroutine does
	stopped error
	late    int // polls since the script was interrupted
}

// begin is called before the engine begins to run a script, or goes on with it.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = true
	if !w.running {
		w.running = true
		go w.run()
	}
}

// end is called when the script has ended, or calls the host. It returns why the
// script had to stop.
func (w *watch) end() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = false
	return w.stopped
}

// stop interrupts the script.
func (w *watch) stop(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop1(err)
}

func (w *watch) stop1(err error) {
	if w.stopped == nil {
		w.stopped = err
	}
	w.interrupt()
}

func (w *watch) run() {
	t := w.clock.NewTimer(pollEvery)
	defer t.Stop()
	for idle := 0; ; {
		<-t.C()
		if idle = w.look(idle); idle > idlePolls {
			return
		}
		t.Reset(pollEvery)
	}
}

// look asks the host once. It returns for how many polls no script has run.
func (w *watch) look(idle int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.working {
		if idle++; idle > idlePolls {
			w.running = false
		}
		return idle
	}
	if w.stopped != nil {
		w.press()
	} else if err := w.poll(); err != nil {
		w.stop1(err)
	}
	return 0
}

// press interrupts once more: the engine may have overwritten its counter. If that
// does not help, it takes the memory away.
func (w *watch) press() {
	switch w.late++; {
	case w.late < sealAfter:
		w.interrupt()
	case w.late == sealAfter:
		w.seal()
	}
}
