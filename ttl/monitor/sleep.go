package monitor

import (
	"time"

	"github.com/duskdb/duskdb/clock"
)

// sleep is the time between two passes, by the server's clock.
type sleep struct {
	clock   clock.Clock
	began   time.Time
	skipped time.Duration // time that the sleep does not count, since a jump was to start no pass
}

// begin begins a new sleep.
func (s *sleep) begin() { s.began, s.skipped = s.clock.Now(), 0 }

// skip leaves time out of the sleep.
func (s *sleep) skip(d time.Duration) { s.skipped += max(d, 0) }

// elapsed returns the clock's time since the sleep began, including what is skipped.
func (s *sleep) elapsed() time.Duration {
	now := s.clock.Now()
	if now.Before(s.began) { // the clock was reset
		s.began, s.skipped = now, 0
	}
	return now.Sub(s.began)
}

// left returns the rest of a sleep of some length.
func (s *sleep) left(length time.Duration) time.Duration { return length - (s.elapsed() - s.skipped) }
