package clock

import (
	"container/heap"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fired returns what the channel holds, without waiting.
func fired(c <-chan time.Time) (time.Time, bool) {
	select {
	case at := <-c:
		return at, true
	default:
		return time.Time{}, false
	}
}

func TestTimerFires(t *testing.T) {
	m := NewManual(t0)
	tm := m.NewTimer(10 * time.Second)
	_ = m.Advance(10*time.Second - 1)
	if _, ok := fired(tm.C()); ok {
		t.Fatal("fired too early")
	}
	_ = m.Advance(1)
	if at, ok := fired(tm.C()); !ok || !at.Equal(t0.Add(10*time.Second)) {
		t.Fatalf("at its instant: %v, %v", at, ok)
	}
	_ = m.Advance(time.Hour)
	if _, ok := fired(tm.C()); ok {
		t.Error("fired twice")
	}
}

func TestAfter(t *testing.T) {
	m := NewManual(t0)
	c := m.After(time.Second)
	_ = m.Advance(time.Minute)
	if at, ok := fired(c); !ok || !at.Equal(t0.Add(time.Minute)) {
		t.Errorf("got %v, %v: the move is atomic, so the time is the new one", at, ok)
	}
	for _, d := range []time.Duration{0, -time.Second} {
		if _, ok := fired(m.After(d)); !ok {
			t.Errorf("After(%v) waits", d)
		}
	}
}

func TestStopAndReset(t *testing.T) {
	m := NewManual(t0)
	tm := m.NewTimer(time.Second)
	if !tm.Stop() || tm.Stop() {
		t.Error("Stop of a waiting timer is true, and once")
	}
	_ = m.Advance(time.Minute)
	if _, ok := fired(tm.C()); ok {
		t.Error("fired after Stop")
	}
	if tm.Reset(time.Second) {
		t.Error("Reset of a stopped timer is true")
	}
	if !tm.Reset(time.Hour) {
		t.Error("Reset of a waiting timer is false")
	}
	_ = m.Advance(time.Minute)
	if _, ok := fired(tm.C()); ok {
		t.Error("fired at the instant before Reset")
	}
	_ = m.Advance(time.Hour)
	if tm.Stop() {
		t.Error("Stop of a fired timer is true")
	}
	if _, ok := fired(tm.C()); ok {
		t.Error("a value from before Stop")
	}
	if tm.Reset(time.Second); m.Timers() != 1 {
		t.Errorf("%d timers", m.Timers())
	}
	_ = m.Advance(time.Second)
	if tm.Reset(time.Second); m.Timers() != 1 {
		t.Errorf("%d timers", m.Timers())
	}
	if _, ok := fired(tm.C()); ok {
		t.Error("a value from before Reset")
	}
}

// Due timers fire in order of their instants, then of their age. Channels
// that are read afterwards do not show the order, so the test empties the
// heap as fireDue does.
func TestFiringOrder(t *testing.T) {
	m := NewManual(t0)
	for _, d := range []int{5, 3, 9, 3, 1, 7, 5, 3} {
		m.NewTimer(time.Duration(d) * time.Second)
	}
	var order []uint64 // a timer's seq is its place in the list above, from 1
	for len(m.timers) > 0 {
		order = append(order, heap.Pop(&m.timers).(*manualTimer).seq)
	}
	if want := []uint64{5, 2, 4, 8, 1, 7, 6, 3}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestTimersOfARunningClock(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	late, soon := m.After(time.Minute), m.After(time.Second)
	s.pass(time.Second)
	if _, ok := fired(soon); !ok {
		t.Error("the first timer did not fire by itself")
	}
	if _, ok := fired(late); ok {
		t.Error("the second timer fired too early")
	}
	_ = m.Advance(30 * time.Second)
	s.pass(29 * time.Second)
	if _, ok := fired(late); !ok {
		t.Error("the second timer waits for time that was skipped")
	}
	if s.waiting() != 0 {
		t.Error("the source is asked to wake a clock without timers")
	}
}

func TestFreezeHoldsTimers(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	c := m.After(time.Second)
	m.Freeze()
	s.pass(time.Hour)
	if _, ok := fired(c); ok || s.waiting() != 0 {
		t.Error("a frozen clock fires")
	}
	m.Resume()
	s.pass(time.Second)
	if _, ok := fired(c); !ok {
		t.Error("a resumed clock does not fire")
	}
}

func TestResetKeepsRemainingTime(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	_ = m.Set(t0.AddDate(4, 0, 0))
	c := m.After(time.Minute)
	m.Reset()
	s.pass(time.Minute - 1)
	if _, ok := fired(c); ok {
		t.Error("fired too early")
	}
	s.pass(1)
	if _, ok := fired(c); !ok {
		t.Error("a minute has become years")
	}
}

// A wake-up of the source that comes too early, or for a timer that has
// been stopped, fires nothing.
func TestStaleWakeUp(t *testing.T) {
	s := newFakeSource()
	m := newManual(s)
	tm := m.NewTimer(time.Minute)
	var wake func()
	for _, c := range s.calls {
		wake = c.f
	}
	wake()
	if _, ok := fired(tm.C()); ok || s.waiting() != 1 {
		t.Error("an early wake-up has fired the timer or disarmed the clock")
	}
	tm.Stop()
	wake()
	if _, ok := fired(tm.C()); ok || s.waiting() != 0 {
		t.Error("a stopped timer has fired")
	}
}

func TestWaitForTimers(t *testing.T) {
	m := NewManual(t0)
	woke := make(chan time.Time)
	for range 3 {
		go func() { woke <- <-m.After(time.Hour) }()
	}
	m.WaitForTimers(3)
	_ = m.Advance(time.Hour)
	for range 3 {
		if at := <-woke; !at.Equal(t0.Add(time.Hour)) {
			t.Errorf("woke at %v", at)
		}
	}
}

func TestSystem(t *testing.T) {
	c := System()
	before := time.Now()
	if now := c.Now(); now.Before(before) || now.After(time.Now()) {
		t.Errorf("Now() = %v", now)
	}
	if ms := c.NowMillis(); ms < before.UnixMilli() || ms > time.Now().UnixMilli() {
		t.Errorf("NowMillis() = %d", ms)
	}
	<-c.After(0)
	tm := c.NewTimer(time.Hour)
	if !tm.Stop() || tm.Reset(0) {
		t.Error("Stop or Reset of a system timer")
	}
	<-tm.C()
}

func TestRunningFollowsTheSystem(t *testing.T) {
	m := NewRunning()
	_ = m.Advance(time.Hour)
	if d := time.Until(m.Now()); d < 59*time.Minute || d > 61*time.Minute {
		t.Errorf("an hour ahead is %v", d)
	}
	<-m.After(time.Microsecond) // fires without being moved
}
