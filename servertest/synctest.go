package servertest

import (
	"testing/synctest"
	"time"

	"github.com/duskdb/duskdb/clock"
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
// The server's clock shows the bubble's time. It has no port, since a bubble's time stands
// still while a goroutine waits for a network; clients connect with [Server.Client] or
// [Server.ClientOptions].
func Bubble() Option {
	return func(c *server.Config) {
		c.Port = -1
		c.Clock = clock.NewRunning()
	}
}

// Advance moves the server's clock forward and returns when the expiration pass that has
// become due, if any, has run. In a [Bubble] it moves the bubble's time, and with it the
// server's clock: all passes run that fall due meanwhile, and so do the timers of the test.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	if s.bubble {
		<-clock.System().After(d) // a timer of the bubble
		synctest.Wait()
		return
	}
	if err := s.Clock.Advance(d); err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
}
