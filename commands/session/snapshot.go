package session

import (
	"slices"
	"sync"
	"time"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Reads with read concern snapshot outside transactions. The reply of the first read has the
// cluster time of its snapshot, and later reads ask for the same time. The snapshot is kept
// for a while: the engine says how long, and how many it can keep.

// Snapshots are the open states at cluster times that replies have named.
type Snapshots struct {
	Mu   sync.Mutex      // guards List
	List []*HeldSnapshot // the open snapshots, sorted by time
}

// HeldSnapshot is the state at a cluster time that a reply has named.
type HeldSnapshot struct {
	TS   uint64        // its cluster time
	Made time.Time     // the time of the first read
	Tx   storage.Txn   // reads the state
	Turn chan struct{} // a semaphore for one reader at a time
	Old  bool          // no more reads are allowed; guarded by the turn
}

// SnapshotTooOld is the error (239) for a cluster time whose state is no longer kept.
func SnapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", clustertime.Value(ts))
}

// Expire forgets the states that are too old or too many, the oldest first, except those
// that are being read. The caller holds Mu.
func (l *Snapshots) Expire(now time.Time, limits storage.SnapshotLimits) {
	left := len(l.List)
	l.List = slices.DeleteFunc(l.List, func(s *HeldSnapshot) bool {
		if left <= limits.Max && now.Sub(s.Made) <= limits.MaxAge {
			return false
		}
		select {
		case s.Turn <- struct{}{}:
		default:
			return false
		}
		s.Tx.Abort()
		s.Old = true
		<-s.Turn
		left--
		return true
	})
}

// Close forgets all states.
func (l *Snapshots) Close() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, s := range l.List {
		s.Tx.Abort()
	}
	l.List = nil
}
