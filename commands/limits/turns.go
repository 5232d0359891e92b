package limits

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// Turns bounds the memory that operations need for their work. Sorts, groups and windows
// have their own limits, but an array that an expression builds has not, and a hundred
// operations below such a limit may need more together than the machine has.
//
// Operations claim large arrays, sorts and groups before they allocate them. While the
// claims exceed the limit, only the oldest operation with large claims goes on; the others
// with large claims wait. So the peak is about the limit and what one operation needs.
//
// Not all that an operation allocates is claimed. So Turns gets the size of the live
// heap after each garbage collection, and compares it with that of a time without such
// operations. While the difference exceeds the limit, only the oldest long operation goes
// on; the others wait at their next check for an interruption. Short operations without
// large claims never wait.
//
// A busy server may have no time without operations, and its data need more memory than
// was estimated when they were written. What is still there when all operations of the
// time before the shortage are over is therefore taken for data.
type Turns struct {
	limit int64 // maximum growth of the live heap above its base
	clock clock.Clock
	short atomic.Bool // whether memory is scarce, or operations that had to wait are not over
	heap  atomic.Bool // the same, as collections have shown: not because of claims alone
	seen  atomic.Bool // whether an operation has checked since the last collection

	mu      sync.Mutex
	scarce  bool      // whether memory was scarce at the last collection
	claimed int64     // bytes claimed by all operations
	urgent  func()    // nil, or called when the claims exceed half of the limit
	since   time.Time // the begin of the scarcity
	base    int64     // the live heap without long operations; 0: not known yet
	written int64     // bytes written to the data until the last collection
	all     []*Turn   // the operations that have checked while memory was short, the oldest first
	allowed int       // number of these that may go on
	changed time.Time
	stepped time.Time     // the time of the last check of an operation that may go on
	wake    chan struct{} // closed when others may go on
}

// Turn is the place of one operation. Its zero value has none.
type Turn struct {
	began   time.Time
	listed  bool
	claimed int64 // bytes that it has claimed
}

const (
	minTurnLimit = 64 << 20 // the limit of a small machine
	maxTurnLimit = 1 << 30
	turnShare    = 256 // the memory limit, divided by this, is the limit of turns

	largeClaim     = 8 << 20                // an operation that has claimed less waits only if it has run for long
	shortOperation = 20 * time.Millisecond  // an operation that has run for less never waits
	turnEach       = 100 * time.Millisecond // between operations that go on when memory suffices again
	turnStuck      = 5 * time.Second        // operations that make no step for so long wait for something themselves
	turnKnown      = time.Second            // within this time each long operation has checked
)

// NewTurns returns the turns of a server with a memory limit, 0 for none.
func NewTurns(memory int64, real clock.Clock) *Turns {
	limit := int64(minTurnLimit)
	if memory > 0 {
		limit = min(max(memory/turnShare, minTurnLimit), maxTurnLimit)
	}
	return &Turns{limit: limit, clock: real, wake: make(chan struct{})}
}

// Collected is called after a garbage collection with the live heap and the bytes that
// were ever written to the data. It reports whether memory is short.
func (t *Turns) Collected(live, written int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	quiet := !t.seen.Swap(false) && len(t.all) == 0
	if quiet || t.base == 0 {
		t.base = live
	} else {
		t.base = min(t.base+written-t.written, live)
	}
	t.written = written
	was, now := t.scarce, t.clock.Now()
	if was && now.Sub(t.since) >= turnKnown && (len(t.all) == 0 || !t.all[0].began.Before(t.since)) {
		t.base = live
	}
	if t.scarce = live-t.base > t.limit; t.scarce && !was {
		t.since = now
		t.allow(1, now)
	}
	t.refresh()
	return t.scarce || t.pressed()
}

// OnPressure sets what is called when the claims begin to exceed half of the limit: the
// garbage should be collected more often from then on. Collected reports when this is over.
func (t *Turns) OnPressure(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.urgent = fn
}

// pressed reports whether the claims exceed half of the limit.
func (t *Turns) pressed() bool { return t.claimed > t.limit/2 }

// Claim is called before an operation allocates n bytes that it needs until it is over.
// The operation may have to wait for its turn at its next Step, which should follow.
func (t *Turns) Claim(turn *Turn, n int64) {
	t.mu.Lock()
	was, lacking := t.pressed(), t.lacking()
	turn.claimed += n
	t.claimed += n
	if t.lacking() && !lacking {
		t.allow(1, t.clock.Now())
	}
	t.refresh()
	urgent := t.urgent
	now := t.pressed()
	t.mu.Unlock()
	if now && !was && urgent != nil {
		urgent()
	}
}

// Claims reports whether an operation has claimed memory.
func (t *Turns) Claims() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.claimed > 0
}

// lacking reports whether memory is scarce.
func (t *Turns) lacking() bool { return t.scarce || t.claimed > t.limit }

// refresh updates the atomics by which operations see whether they must wait for their turn.
func (t *Turns) refresh() {
	t.heap.Store(t.scarce || t.heap.Load() && len(t.all) > 0)
	t.short.Store(t.lacking() || len(t.all) > 0)
}

// allow lets so many operations go on.
func (t *Turns) allow(n int, now time.Time) {
	t.allowed, t.changed, t.stepped = n, now, now
	t.wakeAll()
}

func (t *Turns) wakeAll() {
	close(t.wake)
	t.wake = make(chan struct{})
}

// Step is called now and then by an operation that began at an instant. It waits for the
// operation's turn if memory is short.
func (t *Turns) Step(ctx context.Context, turn *Turn, began time.Time) error {
	if !t.seen.Load() {
		t.seen.Store(true)
	}
	if !t.short.Load() {
		return nil
	}
	now := t.clock.Now()
	if turn.claimed < largeClaim && (now.Sub(began) < shortOperation || !t.heap.Load()) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !turn.listed {
		turn.began, turn.listed = began, true
		t.all = slices.Insert(t.all, t.place(turn), turn)
	}
	for !t.may(turn, now) {
		wake := t.wake
		t.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
		case <-t.clock.After(turnEach):
		}
		t.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
		now = t.clock.Now()
	}
	t.stepped = now
	return nil
}

// place returns where an operation belongs, behind those that began at the same time.
func (t *Turns) place(turn *Turn) int {
	for i, other := range t.all {
		if other.began.After(turn.began) {
			return i
		}
	}
	return len(t.all)
}

// may reports whether an operation may go on. One more may do so from time to time while
// memory suffices, or if none that may has made a step: they may wait for something that a
// waiting operation has.
func (t *Turns) may(turn *Turn, now time.Time) bool {
	pause, since := turnEach, t.changed
	if t.lacking() {
		pause, since = turnStuck, t.stepped
	}
	if now.Sub(since) >= pause {
		t.allow(t.allowed+1, now)
	}
	return slices.Index(t.all, turn) < t.allowed
}

// Waiting returns how many operations wait for their turn.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(len(t.all)-t.allowed, 0)
}

// Done ends the turn of an operation that is over.
func (t *Turns) Done(turn *Turn) {
	if !turn.listed && turn.claimed == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claimed -= turn.claimed
	if !turn.listed {
		*turn = Turn{}
		t.refresh()
		return
	}
	t.all = slices.DeleteFunc(t.all, func(x *Turn) bool { return x == turn })
	*turn = Turn{}
	if t.allowed > 1 {
		t.allowed--
	}
	t.wakeAll()
	t.refresh()
}
