package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// now returns the real time for the watcher, which must not follow a test
// clock.
func (s *Server) now() int64 { return clock.System().Now().UnixNano() }

// watchEvery is the interval at which connections are checked.
const watchEvery = time.Second

// watch cancels the commands of clients that have disconnected, and closes
// connections that exceed a time limit. The goroutine of a connection cannot
// do that itself while it runs a command, reads or writes.
func (s *Server) watch() {
	defer s.wg.Done()
	real := clock.System()
	data := residentData{engine: s.service.Engine}
	if s.gc != nil {
		s.gc.idle.serve(s)
	}
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-real.After(watchEvery):
		}
		s.checkConnections(real.Now())
		if s.gc != nil {
			// A reply that its client does not read allocates nothing and could not be freed yet.
			s.gc.idle.step(s.service.Turns.Claims() || s.inFlight.sending(), func() int64 { return data.read(s.ctx) })
		}
	}
}

// checkConnections checks all connections once.
func (s *Server) checkConnections(now time.Time) {
	limit := now.UnixNano() - int64(watchEvery)
	s.each(func(c *conn) {
		since := c.progress.began.Load()
		if since != 0 && since < limit && hungUp(c.nc) {
			c.cancel(errClientGone)
		}
		if why := c.progress.overdue(now, &s.timeLimits, since != 0); why != "" {
			s.cut(c, why)
		}
	})
	s.checkReplies(now)
}

// checkReplies closes connections whose clients do not read large replies, the
// longest waiting first, until the replies of all connections are within their
// memory limit and there is a slot for each command that waits to write one.
func (s *Server) checkReplies(now time.Time) {
	type waiting struct {
		c     *conn
		since time.Duration
	}
	held, stalled := int64(0), []waiting(nil)
	slots := s.inFlight.waiting.Load()
	s.each(func(c *conn) {
		if c.progress.cut.Load() { // its memory is about to be freed
			return
		}
		held += c.progress.held.Load()
		if d := c.progress.stalled(now); d >= s.timeLimits.scarce {
			stalled = append(stalled, waiting{c, d})
		}
	})
	slices.SortFunc(stalled, func(a, b waiting) int { return cmp.Compare(b.since, a.since) })
	for _, w := range stalled {
		if held <= s.inFlight.replies && slots <= 0 {
			return
		}
		held -= w.c.progress.held.Load()
		slots--
		s.cut(w.c, "it does not take in its reply, and memory for replies is short")
	}
}

// cut closes the connection of a client.
func (s *Server) cut(c *conn, why string) {
	s.log.Info().Str("remote", c.client.Remote).Str("reason", why).Msg("connection closed")
	c.progress.cut.Store(true)
	_ = c.nc.Close()
}
