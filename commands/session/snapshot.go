package session

import (
	"sync"
	"time"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Reads with read concern snapshot outside transactions. The reply of the first read has the
// cluster time of its snapshot, and later reads ask for the same time. The snapshot is kept
// for a while; snapshots share the data that did not change between them.

const (
	SnapshotKeep = 5 * time.Minute // minSnapshotHistoryWindowInSeconds
	maxSnapshots = 256
)

// Snapshots are the states that clients may still ask for.
type Snapshots struct {
	Mu   sync.Mutex      // guards List
	List []*HeldSnapshot // by time
}

// HeldSnapshot is the state at a cluster time that a client was told.
type HeldSnapshot struct {
	TS   uint64        // its cluster time
	Made time.Time     // when it was handed out first
	Tx   storage.Txn   // reads the state
	Turn chan struct{} // holds one: one reader at a time
	Old  bool          // no more reads are allowed; guarded by the turn
}

// SnapshotCommands are the commands that may read at a cluster time outside transactions.
var SnapshotCommands = map[string]bool{"find": true, "aggregate": true, "distinct": true, "getMore": true}

// SnapshotTooOld is the error (239) for a cluster time whose state is no longer kept.
func SnapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", clustertime.Value(ts))
}

// Expire forgets the oldest states that are too old or too many, up to one that is being
// read. The caller holds Mu.
func (l *Snapshots) Expire(now time.Time) {
	for len(l.List) > 0 && (len(l.List) > maxSnapshots || now.Sub(l.List[0].Made) > SnapshotKeep) {
		s := l.List[0]
		select {
		case s.Turn <- struct{}{}:
		default:
			return
		}
		s.Tx.Abort()
		s.Old = true
		<-s.Turn
		l.List = l.List[1:]
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
