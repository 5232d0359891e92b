package session

import (
	"sync"
	"time"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Reads with read concern snapshot outside transactions: the first read is
// told at which cluster time it saw the data, and later ones ask for that
// time again. The state at each time handed out is kept for a while; states
// share what did not change between them.

const (
	SnapshotKeep = 5 * time.Minute // minSnapshotHistoryWindowInSeconds
	maxSnapshots = 256
)

// Snapshots are the states that clients may still ask for.
type Snapshots struct {
	Mu   sync.Mutex
	List []*HeldSnapshot // by time
}

type HeldSnapshot struct {
	TS   uint64
	Made time.Time
	Tx   storage.Txn
	Turn chan struct{} // holds one: one reader at a time
	Old  bool          // nobody may read it any more; the turn guards it
}

var SnapshotCommands = map[string]bool{"find": true, "aggregate": true, "distinct": true, "getMore": true}

func SnapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", clustertime.Value(ts))
}

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

func (l *Snapshots) Close() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, s := range l.List {
		s.Tx.Abort()
	}
	l.List = nil
}
