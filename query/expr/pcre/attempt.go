package pcre

import (
	"runtime"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/duskdb/duskdb/clock"
)

const (
	// BacktrackLimit bounds one match by the backtracking engine.
	BacktrackLimit = time.Second
	// quickLimit bounds the first attempt at a match, which cannot be interrupted. The
	// engine adds up to twice the interval at which it looks at its clock.
	quickLimit = 30 * time.Millisecond
	// askEvery is the interval at which a longer one asks whether to go on.
	askEvery = 20 * time.Millisecond
)

func init() { regexp2.SetTimeoutCheckPeriod(10 * time.Millisecond) }

// longAttempts has a place for each long attempt, also for those whose operation is over: the
// engine cannot be stopped, so nothing else may begin one until its limit of time is reached.
var longAttempts = make(chan struct{}, 4*runtime.GOMAXPROCS(0))

// findBack finds the first match of the backtracking engine from a position.
func (p *Pattern) findBack(runes []rune, at int, ask func() error) (*regexp2.Match, error) {
	m, err := p.back.FindRunesMatchStartingAt(runes, at)
	if err == nil {
		return m, nil
	}
	return attemptLong(ask, func() (*regexp2.Match, error) { return p.longPattern().FindRunesMatchStartingAt(runes, at) })
}

// longPattern is the pattern with the limit of a long attempt.
func (p *Pattern) longPattern() *regexp2.Regexp {
	p.retried.Do(func() { p.long, _ = p.compileWith(BacktrackLimit) }) // it has been compiled before
	return p.long
}

// attempt is the outcome of a long attempt.
type attempt[T any] struct {
	found T
	err   error
	fault any // the value of its panic
}

// attemptLong makes a long attempt in a goroutine of its own, so that the caller can end before
// it does.
func attemptLong[T any](ask func() error, find func() (T, error)) (found T, err error) {
	if ask == nil {
		ask = func() error { return nil }
	}
	if err := waiting(ask, func(tick <-chan time.Time) bool {
		select {
		case longAttempts <- struct{}{}:
			return true
		case <-tick:
			return false
		}
	}); err != nil {
		return found, err
	}
	done := make(chan attempt[T], 1)
	go func() {
		var a attempt[T]
		defer func() {
			a.fault = recover()
			<-longAttempts
			done <- a
		}()
		a.found, a.err = find()
	}()
	var a attempt[T]
	if err := waiting(ask, func(tick <-chan time.Time) bool {
		select {
		case a = <-done:
			return true
		case <-tick:
			return false
		}
	}); err != nil {
		return found, err
	}
	if a.fault != nil {
		panic(a.fault)
	}
	if a.err != nil { // the engine has no other error
		return found, ErrLimit
	}
	return a.found, nil
}

// waiting asks at intervals whether to go on, until something is ready.
func waiting(ask func() error, ready func(tick <-chan time.Time) bool) error {
	for !ready(clock.System().After(askEvery)) {
		if err := ask(); err != nil {
			return err
		}
	}
	return nil
}
