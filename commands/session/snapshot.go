package session

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
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

	readers map[*Session]*HeldSnapshot // the snapshot that a session has read last, and has not left; guarded by Mu
	reading atomic.Int64               // number of readers
}

// HeldSnapshot is the state at a cluster time that a reply has named.
type HeldSnapshot struct {
	TS   uint64        // its cluster time
	Made time.Time     // the time of the first read
	Tx   storage.Txn   // reads the state
	Turn chan struct{} // a semaphore for one reader at a time
	Old  bool          // no more reads are allowed; guarded by the turn

	readers int       // sessions that may read on
	left    time.Time // when the last of them left; zero: none has
}

// SnapshotTooOld is the error (239) for a cluster time whose state is no longer kept.
func SnapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", clustertime.Value(ts))
}

// Expire forgets the states that are too old, that their sessions have left, or that are too
// many, except those that are being read. Of too many, those without a session go first, then
// the oldest. The caller holds Mu.
func (l *Snapshots) Expire(now time.Time, limits storage.SnapshotLimits) {
	l.drop(func(s *HeldSnapshot) bool {
		return now.Sub(s.Made) > limits.MaxAge || limits.Linger > 0 && s.isLeft() && now.Sub(s.left) >= limits.Linger
	})
	l.drop(func(s *HeldSnapshot) bool { return len(l.List) > limits.Max && s.isLeft() })
	l.drop(func(*HeldSnapshot) bool { return len(l.List) > limits.Max })
}

// GiveWay forgets one snapshot, for a transaction or another snapshot that needs its place. It
// returns false if all are being read. The caller holds Mu.
func (l *Snapshots) GiveWay(now time.Time, limits storage.SnapshotLimits) bool {
	before := len(l.List)
	limits.Max = before - 1
	l.Expire(now, limits)
	return len(l.List) < before
}

// drop forgets the states of a kind, the oldest first, unless they are being read.
func (l *Snapshots) drop(kind func(*HeldSnapshot) bool) {
	for _, s := range slices.Clone(l.List) {
		if !kind(s) {
			continue
		}
		select {
		case s.Turn <- struct{}{}:
		default:
			continue
		}
		s.Tx.Abort()
		s.Old = true
		<-s.Turn
		l.List = slices.DeleteFunc(l.List, func(o *HeldSnapshot) bool { return o == s })
	}
}

// isLeft reports whether all sessions that have read the state have left it.
func (s *HeldSnapshot) isLeft() bool { return s.readers == 0 && !s.left.IsZero() }

// Read notes that a session reads a state, and has left the one that it read before.
func (l *Snapshots) Read(ss *Session, s *HeldSnapshot, now time.Time) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.readers[ss] == s {
		return
	}
	l.leave(ss, now)
	if l.readers == nil {
		l.readers = map[*Session]*HeldSnapshot{}
	}
	l.readers[ss] = s
	s.readers++
	l.reading.Add(1)
}

// Leave notes that a session does something else than to read a state. Drivers do not say
// that a session with snapshot reads has ended: they use its id for the next one.
func (l *Snapshots) Leave(ss *Session, real clock.Clock) {
	if l.reading.Load() == 0 {
		return
	}
	now := real.Now()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.leave(ss, now)
}

func (l *Snapshots) leave(ss *Session, now time.Time) {
	s := l.readers[ss]
	if s == nil {
		return
	}
	delete(l.readers, ss)
	l.reading.Add(-1)
	if s.readers--; s.readers == 0 {
		s.left = now
	}
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
