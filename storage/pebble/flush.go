package pebble

import "time"

// When it is opened, Pebble repeats its logs: what was in tables in memory is
// read, sorted and written to tables on disk before the first read, which takes
// as long as there is to repeat. So closing does that beforehand.

const (
	// minFlush is the size of a log that opening repeats in no time.
	minFlush = 512 << 10
	// flushWithin is how long closing waits for the tables. What is not on disk by
	// then stays in the log.
	flushWithin = 10 * time.Second
)

// flush writes what is in memory to tables, unless that is little, or there was
// no space a moment ago. A flush that fails leaves the log as it is. The caller
// is the only one who uses the store.
func (s *store) flush() (err error) {
	if !s.persistent() || s.opts.readOnly || s.trouble.refused() != nil {
		return nil
	}
	if s.db.Metrics().WAL.Size < minFlush {
		return nil
	}
	defer s.recovered(&err)
	select {
	case <-s.trouble.failed: // of an earlier flush
	default:
	}
	done, err := s.db.AsyncFlush()
	if err != nil {
		return s.breakWith(err)
	}
	timer := s.opts.Clock.NewTimer(flushWithin)
	defer timer.Stop()
	select {
	case <-done:
	case <-s.trouble.failed:
	case <-timer.C():
	}
	return nil
}
