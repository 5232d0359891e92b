// Package clock is the only source of time in DuskDB.
//
// Tests of expiry move the clock instead of waiting. Therefore no other
// package calls time.Now or creates timers; each uses a [Clock]: [System] in
// production, [Manual] in tests and behind the testClock command.
//
// A Manual stands still, or runs with the system clock at an offset, and can
// be moved. A move is atomic: a reader sees the old or the new instant and
// nothing in between. After the move, due timers fire in order and then the
// functions given to [Manual.OnJump] run, so that when [Manual.Advance]
// returns, expiry has seen the new time.
//
// # Several servers
//
// An engine whose database has a clock is a storage.Timekeeper, and its servers use that
// clock instead of the system's. The test clock of several servers is a document: each takes
// it with the news of a move or before its next command, and notes that it has.
//
// # Stability
//
// Programs may build on this package: what it exports keeps its meaning within
// a major version. New fields, options and methods may come.
package clock

import "time"

// Clock returns the time and creates timers.
type Clock interface {
	// Now returns the present instant.
	Now() time.Time
	// NowMillis returns Now in milliseconds since 1970, the resolution of
	// every stored date.
	NowMillis() int64
	// After returns a channel that receives the time once d has passed.
	After(d time.Duration) <-chan time.Time
	// NewTimer returns a timer that fires once d has passed.
	NewTimer(d time.Duration) Timer
}

// Timer fires once. As with time.Timer, nothing is received from C after
// Stop or Reset that was sent before.
type Timer interface {
	// C returns the channel on which the time is delivered.
	C() <-chan time.Time
	// Stop prevents the timer from firing. It returns false if the timer has
	// fired or was stopped already.
	Stop() bool
	// Reset makes the timer fire once d has passed from now. It returns false if
	// the timer had fired or been stopped.
	Reset(d time.Duration) bool
}

// System returns the clock of the machine.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time                         { return time.Now() }
func (system) NowMillis() int64                       { return time.Now().UnixMilli() }
func (system) After(d time.Duration) <-chan time.Time { return time.After(d) }
func (system) NewTimer(d time.Duration) Timer         { return systemTimer{time.NewTimer(d)} }

func (system) afterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

type systemTimer struct{ t *time.Timer }

func (t systemTimer) C() <-chan time.Time        { return t.t.C }
func (t systemTimer) Stop() bool                 { return t.t.Stop() }
func (t systemTimer) Reset(d time.Duration) bool { return t.t.Reset(d) }
