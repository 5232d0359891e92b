package pebble

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/clock"
)

// When a flush or a compaction fails, Pebble tries it again at once, over and
// over. Here it waits between two tries. While a flush fails, writes are refused:
// otherwise they would wait in memory for what may not happen.

const (
	// retryPause is how long Pebble's own work waits after a failure.
	retryPause = time.Second
	// repeatAfter is the shortest time between two messages about the same thing.
	repeatAfter = time.Minute
)

// trouble knows what of Pebble's own work has failed, and has the listeners
// that Pebble calls.
type trouble struct {
	clock clock.Clock
	done  <-chan struct{} // closed when the store is about to be closed
	log   func(format string, args ...any)

	flush  atomic.Pointer[error] // the failure of a flush, until one succeeds
	failed chan struct{}         // receives when a flush fails
	merge  chan struct{}         // receives when a merge of tables has no space

	mu    sync.Mutex
	until time.Time            // Pebble's next try
	said  map[string]time.Time // when a message of a kind was logged
	alarm bool                 // the log says that writes are refused
}

// refused is the error that writes get, if any.
func (t *trouble) refused() error {
	if err := t.flush.Load(); err != nil {
		return *err
	}
	return nil
}

// flushed is called at the end of a flush.
func (t *trouble) flushed(i pebble.FlushInfo) {
	err := i.Err
	if err != nil && err.Error() == nothingLeft {
		err = nil
	}
	t.ended(err)
}

// nothingLeft is the error of a flush that succeeded and wrote no table, because
// everything was deleted again.
const nothingLeft = "pebble: empty table"

// compacted is called at the end of a compaction. One that fails leaves the tables
// as they were, and writes go on: without space, those that need some are refused
// (see space), and no pause mends a damaged table.
func (t *trouble) compacted(i pebble.CompactionInfo) {
	if i.Err != nil && !errors.Is(i.Err, pebble.ErrCancelledCompaction) {
		t.pause()
	}
	if errors.Is(i.Err, syscall.ENOSPC) {
		select {
		case t.merge <- struct{}{}:
		default:
		}
	}
}

func (t *trouble) ended(err error) {
	if err == nil {
		if t.flush.Swap(nil) != nil {
			t.over()
		}
		return
	}
	err = fmt.Errorf("write to the data files: %w", tell(err))
	t.flush.Store(&err)
	select {
	case t.failed <- struct{}{}:
	default:
	}
	t.pause()
	if t.say("refused", "storage: %v; writes are refused until that succeeds", err) {
		t.mu.Lock()
		t.alarm = true
		t.mu.Unlock()
	}
}

// over takes back what the log says.
func (t *trouble) over() {
	t.mu.Lock()
	was := t.alarm
	t.alarm = false
	t.mu.Unlock()
	if was {
		t.log("storage: data files can be written again")
	}
}

// say logs a message unless one of its kind was logged a moment ago.
func (t *trouble) say(kind, format string, args ...any) bool {
	now := t.clock.Now()
	t.mu.Lock()
	last, again := t.said[kind]
	pass := !again || now.Sub(last) >= repeatAfter
	if pass {
		if t.said == nil {
			t.said = map[string]time.Time{}
		}
		t.said[kind] = now
	}
	t.mu.Unlock()
	if pass {
		t.log(format, args...)
	}
	return pass
}

// pause makes Pebble's own work wait from now on.
func (t *trouble) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = t.clock.Now().Add(retryPause)
}

// wait makes a goroutine of Pebble's wait if something failed a moment ago.
func (t *trouble) wait() {
	t.mu.Lock()
	until := t.until
	t.mu.Unlock()
	d := until.Sub(t.clock.Now())
	if until.IsZero() || d <= 0 || calledByStore() {
		return
	}
	timer := t.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-t.done:
	}
}

// background is called with every failure of Pebble's own work.
func (t *trouble) background(err error) { t.say("background", "storage: %v", tell(err)) }

// corrupted is called when what was read fails its checksum. A compaction that
// has found that would read the same again at once.
func (t *trouble) corrupted(i pebble.DataCorruptionInfo) {
	t.say("corrupted", "storage: the data are damaged: %s: %s; run \"duskdb check\", and restore a backup", i.Path, plain(i.Details.Error()))
	t.wait()
}

// slow is called when an operation takes long.
func (t *trouble) slow(i pebble.DiskSlowInfo) {
	t.say("slow", "storage: the disk is slow: %s", plain(i.String()))
}
