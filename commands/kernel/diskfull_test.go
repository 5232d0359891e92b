package kernel_test

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/kernel"
)

// A full disk is logged once, however many writes fail, and its end once: not while writes
// still fail now and then, although deletes succeed.
func TestDiskEpisodeIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := &kernel.Service{}
	s.Real, s.Log = c, zerolog.New(&log)
	lines := func() int { return strings.Count(log.String(), "\n") }
	for range 3 {
		s.NoteDiskFull(syscall.ENOSPC)
		c.AdvanceMillis(5000)
		s.NoteDiskRoom()
	}
	if lines() != 1 || !strings.Contains(log.String(), "The disk is full") {
		t.Errorf("the log is %s", &log)
	}
	c.AdvanceMillis(kernel.DiskRecovery.Milliseconds())
	s.NoteDiskRoom()
	s.NoteDiskRoom()
	if lines() != 2 || !strings.Contains(log.String(), "There is room on the disk again") {
		t.Errorf("the log is %s", &log)
	}
	s.NoteDiskFull(syscall.ENOSPC)
	if lines() != 3 {
		t.Errorf("the second time is not logged: %s", &log)
	}
}
