package clock

import (
	"testing"
	"time"
)

// A clock that adopts the state of another one shows the same, now and later, also if it
// goes backwards for that; its timers and hooks see it as a move.
func TestAdopt(t *testing.T) {
	s := newFakeSource()
	one, other := newManual(s), newManual(s)
	if err := one.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	jumps := 0
	other.OnJump(func(time.Time) { jumps++ })
	timer := other.After(30 * time.Minute)
	other.Adopt(one.State())
	s.pass(time.Second)
	expectNow(t, other, t0.Add(time.Hour+time.Second))
	select {
	case <-timer:
	default:
		t.Error("a timer that became due has not fired")
	}
	other.Adopt(one.State())
	if jumps != 1 {
		t.Errorf("%d jumps, want 1: nothing has changed", jumps)
	}

	one.Freeze()
	other.Adopt(one.State())
	s.pass(time.Minute)
	expectNow(t, other, t0.Add(time.Hour+time.Second))
	if !other.Frozen() {
		t.Error("it runs")
	}

	one.Reset() // backwards
	late := other.After(time.Minute)
	other.Adopt(one.State())
	expectNow(t, other, t0.Add(61*time.Second))
	s.pass(59 * time.Second)
	select {
	case <-late:
		t.Error("a timer has fired early")
	default:
	}
	s.pass(time.Second)
	select {
	case <-late:
	default:
		t.Error("a timer has not kept its remaining time")
	}
}

// A copy can be moved without effect on the original.
func TestCopy(t *testing.T) {
	m := NewManual(t0)
	m.OnJump(func(time.Time) { t.Error("the original was moved") })
	c := m.Copy()
	if err := c.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	expectNow(t, c, t0.Add(time.Hour))
	expectNow(t, m, t0)
	if !c.Frozen() || !m.Frozen() {
		t.Error("they run")
	}
}

// A clock that follows another one shows its time until it is moved, and keeps the distance
// afterwards.
func TestFollowing(t *testing.T) {
	source := NewManual(t0)
	m := NewFollowing(source)
	expectNow(t, m, t0)
	if err := source.Advance(time.Minute); err != nil {
		t.Fatal(err)
	}
	expectNow(t, m, t0.Add(time.Minute))
	if err := m.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := source.Advance(time.Minute); err != nil {
		t.Fatal(err)
	}
	expectNow(t, m, t0.Add(time.Hour+2*time.Minute))
	m.Reset()
	expectNow(t, m, t0.Add(2*time.Minute))
	select {
	case <-NewFollowing(System()).After(time.Millisecond):
	case <-time.After(10 * time.Second):
		t.Error("a timer does not fire")
	}
}
