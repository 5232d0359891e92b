package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/storage"
)

// Snapshots that clients may read again are kept for the time of
// minSnapshotHistoryWindowInSeconds (300), and then no longer, unless one is being read.
func TestSnapshotsExpire(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	start := harness.TestStart
	var l session.Snapshots
	hold := func(after time.Duration) *session.HeldSnapshot {
		tx, err := r.engine.Begin(context.Background())
		r.must(err)
		s := &session.HeldSnapshot{TS: uint64(after), Made: start.Add(after), Tx: tx, Turn: make(chan struct{}, 1)}
		l.List = append(l.List, s)
		return s
	}
	first, second, third := hold(0), hold(time.Second), hold(time.Minute)
	if l.Expire(start.Add(300*time.Second), storage.DefaultSnapshots); len(l.List) != 3 || first.Old {
		t.Errorf("%d snapshots within the window", len(l.List))
	}
	first.Turn <- struct{}{} // it is being read
	if l.Expire(start.Add(302*time.Second), storage.DefaultSnapshots); len(l.List) != 2 || first.Old || !second.Old {
		t.Errorf("%d snapshots beside a reader", len(l.List))
	}
	<-first.Turn
	if l.Expire(start.Add(302*time.Second), storage.DefaultSnapshots); len(l.List) != 1 || !first.Old || !second.Old || third.Old {
		t.Errorf("%d snapshots behind the window", len(l.List))
	}
	for range 256 {
		hold(time.Minute)
	}
	if l.Expire(start.Add(time.Minute), storage.DefaultSnapshots); len(l.List) != 256 || !third.Old {
		t.Errorf("%d snapshots are too many", len(l.List))
	}
	if l.Close(); len(l.List) != 0 {
		t.Errorf("%d snapshots after the end", len(l.List))
	}
	if got := shown(session.SnapshotTooOld(5<<32 | 6)); got != "SnapshotTooOld: Read timestamp Timestamp(5, 6) is older than the oldest available timestamp." {
		t.Error(got)
	}
}
