package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// WriteBlock says whether the writes of users are blocked, and why: what
// setUserWriteBlockMode sets. Its zero value blocks nothing.
type WriteBlock struct {
	blocked atomic.Bool // for the look at each write

	mu     sync.Mutex
	reason string // as given, "" if none was
	counts [len(WriteBlockReasons)]int64
}

// WriteBlockReasons are the reasons that can be given. Their places are their numbers in
// serverStatus.
var WriteBlockReasons = [...]string{"Unspecified", "ClusterToClusterMigrationInProgress", "DiskUseThresholdExceeded"}

// Set blocks writes or allows them again. While they are blocked it refuses any reason but
// that of the block: programs must not lift the blocks of each other. It returns whether it
// changed anything.
func (w *WriteBlock) Set(on bool, reason string) (changed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	blocked := w.blocked.Load()
	switch {
	case blocked && on && reason != w.reason:
		return false, mongoerr.Newf(mongoerr.IllegalOperation, "Cannot acquire user writes critical section with different options than the already existing one. reason: %s, current: %s",
			NamedReason(reason), NamedReason(w.reason))
	case blocked && reason != w.reason:
		return false, mongoerr.Newf(mongoerr.IllegalOperation, "Cannot release user writes critical section with different reason than the already existing one. reason: %s, current: %s",
			NamedReason(reason), NamedReason(w.reason))
	case !blocked && on:
		w.reason = reason
		w.counts[reasonNumber(reason)]++
	case !on:
		w.reason = ""
	}
	w.blocked.Store(on)
	return on != blocked, nil
}

// Check is the error of a write while writes are blocked.
func (w *WriteBlock) Check() error {
	if !w.blocked.Load() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return mongoerr.Newf(mongoerr.UserWritesBlocked, "User writes blocked, reason: %s", NamedReason(w.reason))
}

// Blocked reports whether writes are blocked.
func (w *WriteBlock) Blocked() bool { return w.blocked.Load() }

// State returns whether writes are blocked, the number of the reason, and how often they
// have been blocked for each.
func (w *WriteBlock) State() (blocked bool, reason int, counts []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blocked.Load(), reasonNumber(w.reason), append(counts, w.counts[:]...)
}

// NamedReason is the reason that replies name.
func NamedReason(reason string) string { return WriteBlockReasons[reasonNumber(reason)] }

// reasonNumber is the place of a reason in the list; that of the first for none.
func reasonNumber(reason string) int {
	for i, r := range WriteBlockReasons {
		if r == reason {
			return i
		}
	}
	return 0
}
