//go:build unix

package growth

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestProcessorTime: the processor time does not grow as a square.
func TestProcessorTime(t *testing.T) {
	if os.Getenv("DUSKDB_GROWTH") == "" {
		t.Skip("takes two minutes: set DUSKDB_GROWTH (.ci/run growth)")
	}
	grow(t, 250, processor{})
}

// processor is the processor time of the process.
type processor struct{}

func (processor) now() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
func (processor) runs() int           { return 2 }
func (processor) tries() int          { return 3 }
func (processor) larger() bool        { return true }
func (processor) noise() int64        { return int64(20 * time.Millisecond) } // the collector and others run, too
func (processor) show(n int64) string { return time.Duration(n).Round(10 * time.Microsecond).String() }
