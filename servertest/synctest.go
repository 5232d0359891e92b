package servertest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/server"
)

// Bubble starts the server inside a bubble of [testing/synctest], where one call moves
// every clock: that of the server, [time.Now] and all timers of the code under test.
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := servertest.Run(t, servertest.Bubble())
//		insertCart(srv.Client(t)) // uses time.Now
//		srv.Advance(61 * time.Minute)
//		…
//	})
//
// The server's clock shows the bubble's time, which starts at 2000-01-01. It has no port, since
// a bubble's time stands still while a goroutine waits for a network; clients connect with
// [Server.Client] or [Server.ClientOptions]. The server works every second of that time, so
// that Advance by a month takes some seconds.
func Bubble() Option {
	return func(c *server.Config) {
		c.Port = -1
		c.Clock = clock.NewRunning()
	}
}

// inBubble reports whether the server is to run in a bubble: no option but Bubble gives it a
// clock that runs.
func inBubble(c *server.Config) bool { return !c.Clock.(*clock.Manual).Frozen() }

// checkBubble refuses a server whose test would wait in real time, or for ever.
func checkBubble(t testing.TB, c *server.Config) error {
	switch wanted, given := inBubble(c), bubbled(); {
	case given && outlives(t):
		return errors.New("Run got the t of a test that outlives the bubble: give it the one that synctest.Test passes to its function")
	case wanted && !given:
		return errors.New("Bubble needs a bubble: put the test into synctest.Test(t, func(t *testing.T) { … }) of testing/synctest, " +
			"or leave Bubble out and move the server's clock alone")
	case wanted && engines.Remote(c.StorageEngine):
		return fmt.Errorf("Bubble does not work with the engine %s: a bubble's time stands still while a goroutine waits for a network", c.StorageEngine)
	case given && c.Port >= 0:
		return errors.New("a server that listens on a port stops the time of this bubble: add servertest.Bubble(), or NoPort() to keep the two clocks apart")
	}
	return nil
}

// bubbled reports whether the goroutine is in a bubble: outside one, Wait panics.
func bubbled() (yes bool) {
	defer func() {
		if r := recover(); r != nil {
			yes = fmt.Sprint(r) == "wait already in progress" // by another goroutine of the bubble
		}
	}()
	synctest.Wait()
	return true
}

// outlives reports whether a test is not that of the bubble, whose Deadline panics.
func outlives(t testing.TB) (yes bool) {
	d, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return false
	}
	defer func() { yes = recover() == nil }()
	_, _ = d.Deadline()
	return true
}

// Advance moves the server's clock forward and returns when the expiration pass that has
// become due, if any, has run. In a [Bubble] it moves the bubble's time, and with it the
// server's clock: all passes run that fall due meanwhile, and so do the timers of the test.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.running()
	switch {
	case d < 0:
		s.t.Fatalf("servertest: %v is negative: the clock moves forward only", d)
	case 0 < d && d < time.Microsecond: // a constant without its unit
		s.t.Fatalf("servertest: %v is less than a microsecond: give the unit, such as %d*time.Second", d, d.Nanoseconds())
	}
	s.move(d)
}

// Set moves the server's clock to an instant that is not before its time; otherwise it is like
// Advance.
func (s *Server) Set(to time.Time) {
	s.t.Helper()
	s.running()
	now := s.Clock.Now()
	if to.Before(now) {
		s.t.Fatalf("servertest: %v, from %s to %s", clock.ErrBackwards, now.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano))
	}
	if s.bubble {
		s.move(to.Sub(now))
	} else if err := s.Clock.Set(to); err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
}

// move moves the server's clock forward, in a bubble with all others.
func (s *Server) move(d time.Duration) {
	s.t.Helper()
	if s.bubble {
		<-clock.System().After(d) // a timer of the bubble
		synctest.Wait()
	} else if err := s.Clock.Advance(d); err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
}
