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

// watch cancels the commands of clients that hung up. The goroutine of a
// connection cannot see that itself while it runs a command.
func (s *Server) watch() {
	defer s.wg.Done()
	real := clock.System()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-real.After(watchEvery):
		}
		limit := s.now() - int64(watchEvery)
		s.each(func(c *conn) {
			if since := c.busy.Load(); since != 0 && since < limit && hungUp(c.nc) {
				c.cancel(errClientGone)
			}
		})
	}
}
