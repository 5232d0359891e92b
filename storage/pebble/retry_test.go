package pebble

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// lines collects what is logged.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, fmt.Sprintf(format, args...))
}

// with counts the lines that contain a text.
func (l *lines) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.list {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// TestRetriesWait: on a full disk Pebble does not try to write a table over and over, and
// does not fill the log with messages about that.
func TestRetriesWait(t *testing.T) {
	var tries atomic.Int64
	full := atomic.Bool{}
	manual, log := clock.NewManual(time.UnixMilli(1_700_000_000_000)), &lines{}
	dir := t.TempDir()
	e, err := Open(Options{
		Path: dir, Indexer: storagetest.Indexer{}, CacheBytes: 32 << 20, Clock: manual, Logger: log.logf,
		Fault: func(step, path string) error {
			if step != "create" || !strings.HasSuffix(path, ".sst") || !full.Load() {
				return nil
			}
			tries.Add(1)
			return syscall.ENOSPC
		},
	})
	must(t, err)
	defer e.Close()
	full.Store(true)
	next := 0
	for failed := error(nil); failed == nil; next += 1000 {
		if failed = insert(e, next, 1000); failed != nil && !errors.Is(failed, syscall.ENOSPC) {
			t.Fatal(failed)
		}
	}
	for range 100 {
		if err := insert(e, next, 1); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("a write on a full disk returned %v", err)
		}
	}
	manual.WaitForTimers(1)
	before := tries.Load()
	if before > 3 {
		t.Errorf("%d tries while no time passed", before)
	}
	for n := before; n < before+20; n = tries.Load() {
		manual.WaitForTimers(1)
		if got := tries.Load(); got > n+1 {
			t.Fatalf("%d tries within a second", got-n)
		}
		must(t, manual.Advance(retryPause))
	}
	if n := log.with("no space left"); n < 1 || n > 5 {
		t.Errorf("%d lines in 20 seconds:\n%s", n, strings.Join(log.list, "\n"))
	}
	full.Store(false)
	for n := 0; ; n++ {
		must(t, manual.Advance(retryPause))
		if err := insert(e, next, 1); err == nil {
			break
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		runtime.Gosched() // to the flush
	}
	if n := log.with("can be written again"); n != 1 {
		t.Errorf("%d lines say that tables can be written again", n)
	}
	full.Store(true) // and Close does not wait for the next try
	must(t, e.Close())
}
