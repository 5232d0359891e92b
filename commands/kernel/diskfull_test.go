package kernel

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
)

// A full disk is logged once, however many writes fail, and its end once: not while writes
// still fail now and then, although deletes succeed.
func TestDiskEpisodeIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := &Service{}
	s.Real, s.Log = c, zerolog.New(&log)
	lines := func() int { return strings.Count(log.String(), "\n") }
	for range 3 {
		s.noteDiskFull(syscall.ENOSPC)
		c.AdvanceMillis(5000)
		s.noteDiskRoom()
	}
	if lines() != 1 || !strings.Contains(log.String(), "The disk is full") {
		t.Errorf("the log is %s", &log)
	}
	c.AdvanceMillis(diskRecovery.Milliseconds())
	s.noteDiskRoom()
	s.noteDiskRoom()
	if lines() != 2 || !strings.Contains(log.String(), "There is room on the disk again") {
		t.Errorf("the log is %s", &log)
	}
	s.noteDiskFull(syscall.ENOSPC)
	if lines() != 3 {
		t.Errorf("the second time is not logged: %s", &log)
	}
}
