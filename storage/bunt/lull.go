package bunt

import (
	"sync"
	"time"
)

// A small log that is mostly garbage is compacted when little is being written. While much
// is written, it may grow to busyParts times Options.CompactMinBytes: what is left of it is
// mainly the change log, and to copy that again after every few megabytes would cost the
// writers a tenth of their time. A higher limit would save a little more, but the file of
// data that come and expire would grow beyond four times their size.
const (
	busyParts  = 2
	quietParts = 8           // a lull: less than CompactMinBytes/quietParts is written in lullLength
	lullLength = time.Second // of Options.Clock
)

// lull is when maintenance has last begun to wait for a lull, and the size of the log then.
type lull struct {
	mu   sync.Mutex
	from time.Time // zero: it does not wait
	size int64
}

// awaitsLull reports whether the compaction of a log of this size should wait. If so,
// maintenance is woken to ask again.
func (e *Engine) awaitsLull(size int64) bool {
	l := &e.lull
	l.mu.Lock()
	defer l.mu.Unlock()
	if size >= busyParts*e.opts.CompactMinBytes || e.reserve.spent.Load() || e.life.Err() != nil {
		l.from = time.Time{}
		return false
	}
	now := e.opts.Clock.Now()
	waits := !l.from.IsZero()
	if waits && now.Sub(l.from) < lullLength {
		return true
	}
	if waits && size-l.size < e.opts.CompactMinBytes/quietParts {
		l.from = time.Time{}
		return false
	}
	l.from, l.size = now, size
	e.background.Go(func() {
		t := e.opts.Clock.NewTimer(lullLength)
		defer t.Stop()
		select {
		case <-t.C():
			e.wakeMaintenance()
		case <-e.life.Done():
		}
	})
	return true
}
