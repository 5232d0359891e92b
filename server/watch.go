package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// now is real time for the watcher, which must not follow a test clock.
func (s *Server) now() int64 { return clock.System().Now().UnixNano() }

// watchEvery is how often long-running commands are checked for clients that
// have gone away.
const watchEvery = time.Second

// watch cancels the commands of clients that hung up, and closes the
// connections of those who keep them busy with nothing. The goroutine of a
// connection cannot see that itself while it runs a command, reads or writes.
func (s *Server) watch() {
	defer s.wg.Done()
	real := clock.System()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-real.After(watchEvery):
		}
		s.look(real.Now())
		if s.gc != nil {
			s.gc.tune()
			s.gc.idle.step()
		}
	}
}

// look does it once.
func (s *Server) look(now time.Time) {
	limit := now.UnixNano() - int64(watchEvery)
	s.each(func(c *conn) {
		since := c.busy.Load()
		if since != 0 && since < limit && hungUp(c.nc) {
			c.cancel(errClientGone)
		}
		if why := c.progress.overdue(now, &s.patience, since != 0); why != "" {
			s.cut(c, why)
		}
	})
	s.lookAtReplies(now)
}

// lookAtReplies cuts off clients that do not take in large replies, those
// first which have waited for the longest, as long as the replies of all
// connections hold more memory than they should.
func (s *Server) lookAtReplies(now time.Time) {
	type waiting struct {
		c     *conn
		since time.Duration
	}
	held, stalled := int64(0), []waiting(nil)
	s.each(func(c *conn) {
		if c.progress.cut.Load() { // what it holds is about to go
			return
		}
		held += c.progress.held.Load()
		if d := c.progress.stalled(now); d >= s.patience.pressed {
			stalled = append(stalled, waiting{c, d})
		}
	})
	slices.SortFunc(stalled, func(a, b waiting) int { return cmp.Compare(b.since, a.since) })
	for _, w := range stalled {
		if held <= s.inFlight.replies {
			return
		}
		held -= w.c.progress.held.Load()
		s.cut(w.c, "it does not take in its reply, and memory for replies is short")
	}
}

// cut closes the connection of a client.
func (s *Server) cut(c *conn, why string) {
	s.log.Info().Str("remote", c.client.Remote).Str("reason", why).Msg("connection closed")
	c.progress.cut.Store(true)
	_ = c.nc.Close()
}
