package server

import (
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
			s.log.Info().Str("remote", c.client.Remote).Str("reason", why).Msg("connection closed")
			_ = c.nc.Close()
		}
	})
}
