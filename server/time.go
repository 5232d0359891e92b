package server

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// readTestClock makes the parameter enableTestClock equivalent to the field
// TestClock.
func (c *Config) readTestClock() error {
	const name = "enableTestClock"
	if text, given := c.Parameters[name]; given {
		on, err := truth(name, text)
		if err != nil {
			return err
		}
		c.TestClock = c.TestClock || on
	}
	if !c.TestClock {
		if c.Parameters["testClockStart"] != "" {
			return errors.New("the parameter testClockStart needs --test-clock")
		}
		return nil
	}
	parameters := maps.Clone(c.Parameters)
	if parameters == nil {
		parameters = map[string]string{}
	}
	parameters[name] = "true"
	c.Parameters = parameters
	return nil
}

// openClock chooses the clock: that of the source, or a Manual one over it if clients may
// move it, frozen at testClockStart if that is given.
func (s *Server) openClock(source clock.Clock) error {
	s.clock = s.config.Clock
	if s.clock != nil {
		return nil
	}
	s.clock = source
	if !s.config.TestClock {
		return nil
	}
	m := clock.NewFollowing(source)
	s.clock = m
	start := s.config.Parameters["testClockStart"]
	if start == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, start)
	if err != nil {
		return fmt.Errorf("the parameter testClockStart must be a date with its time zone, such as 2026-01-01T00:00:00Z, but got %q", start)
	}
	m.Adopt(clock.State{Frozen: true, At: t})
	return nil
}

// followDatabase makes the clock that of the database which has the data, if it has one, so that all
// servers over it agree.
func (s *Server) followDatabase() error {
	if t, ok := s.engine.(storage.Timekeeper); ok {
		return s.openClock(t.Clock())
	}
	return nil
}
