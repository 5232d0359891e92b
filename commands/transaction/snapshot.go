package transaction

import (
	"cmp"
	"errors"
	"slices"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// readSnapshot opens the snapshot for a command with read concern snapshot. The caller calls
// done afterwards.
func readSnapshot(c *kernel.Call) (done func(), err error) {
	at := c.Generic.ReadConcern.Lookup("atClusterTime")
	switch {
	case c.Generic.Level != "snapshot":
		return func() {}, nil
	case !c.Cmd.Has(kernel.SnapshotRead):
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s does not support read concern snapshot", c.Cmd.Name)
	case c.Cmd.Has(kernel.Continues): // the cursor has the snapshot
		return func() {}, nil
	}
	s, err := open(&c.Svc.Snapshots, c.Svc, clustertime.Of(at))
	if err != nil {
		return nil, err
	}
	if c.Session != nil {
		c.Svc.Snapshots.Read(c.Session, s, c.Svc.Real.Now())
	}
	return UseSnapshot(c, s)
}

// UseSnapshot lets the command read from a state.
func UseSnapshot(c *kernel.Call, s *session.HeldSnapshot) (done func(), err error) {
	select {
	case s.Turn <- struct{}{}:
	case <-c.Ctx.Done():
		return nil, c.Interrupted()
	}
	if s.Old {
		<-s.Turn
		return nil, session.SnapshotTooOld(s.TS)
	}
	s.Tx.Within(c.Ctx)
	c.Snapshot, c.Held = s.Tx, s
	return func() {
		c.Snapshot = nil
		<-s.Turn
	}, nil
}

// open returns the snapshot at a time, or a new one for 0.
func open(l *session.Snapshots, svc *kernel.Service, ts uint64) (*session.HeldSnapshot, error) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Expire(svc.Real.Now(), svc.Engine.Snapshots())
	if ts == 0 {
		return take(l, svc)
	}
	if s := find(l, ts); s != nil {
		return s, nil
	}
	if s, err := openElsewhere(l, svc, ts); s != nil || err != nil {
		return s, err
	}
	if ts > svc.Stamps.Current() {
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "readConcern atClusterTime value must not be greater than the current clusterTime. Requested clusterTime: %s; current clusterTime: %s", clustertime.Value(ts), clustertime.Value(svc.Stamps.Current()))
	}
	return nil, session.SnapshotTooOld(ts)
}

// take opens a snapshot of the present state.
func take(l *session.Snapshots, svc *kernel.Service) (*session.HeldSnapshot, error) {
	before := svc.Stamps.Current()
	// Another server may have written since, at a time that is not later.
	if n := len(l.List); n > 0 && l.List[n-1].TS == before && !svc.Shared {
		return l.List[n-1], nil // nothing has been written since
	}
	if !makeRoom(l, svc) {
		return nil, session.SnapshotTooOld(before)
	}
	// A new timestamp: all later writes have later ones.
	next := func() uint64 { return svc.Stamps.Next(svc.Clock.NowMillis()) }
	tx, ts, err := begin(svc, next)
	if errors.Is(err, storage.ErrManySnapshots) && l.GiveWay(svc.Real.Now(), svc.Engine.Snapshots()) {
		tx, ts, err = begin(svc, next)
	}
	if err != nil {
		return nil, kernel.Translate(storage.Namespace{}, err)
	}
	return keep(l, svc, tx, ts), nil
}

// begin opens a snapshot of the present state, and gives it a timestamp.
func begin(svc *kernel.Service, next func() uint64) (tx storage.Txn, ts uint64, err error) {
	if e, ok := svc.Engine.(storage.SnapshotNumberer); ok {
		return e.BeginNumbered(svc.Background, next)
	}
	if tx, err = svc.Engine.Begin(svc.Background); err == nil {
		ts = next()
	}
	return tx, ts, err
}

// openElsewhere opens the snapshot at a time that another server has opened; nil if
// no server holds one.
func openElsewhere(l *session.Snapshots, svc *kernel.Service, ts uint64) (*session.HeldSnapshot, error) {
	e, ok := svc.Engine.(storage.SnapshotNumberer)
	if !ok || !makeRoom(l, svc) {
		return nil, nil
	}
	tx, err := e.BeginAt(svc.Background, ts)
	switch {
	case errors.Is(err, storage.ErrNoSnapshot):
		return nil, nil
	case err != nil:
		return nil, kernel.Translate(storage.Namespace{}, err)
	}
	svc.Stamps.Advance(ts)
	return keep(l, svc, tx, ts), nil
}

// makeRoom forgets snapshots so that there may be one more. It returns false if all that the
// engine can keep are being read.
func makeRoom(l *session.Snapshots, svc *kernel.Service) bool {
	room := svc.Engine.Snapshots()
	room.Max-- // for the new one
	l.Expire(svc.Real.Now(), room)
	return len(l.List) <= room.Max
}

// keep adds a snapshot to the list.
func keep(l *session.Snapshots, svc *kernel.Service, tx storage.Txn, ts uint64) *session.HeldSnapshot {
	s := &session.HeldSnapshot{TS: ts, Made: svc.Real.Now(), Tx: tx, Turn: make(chan struct{}, 1)}
	at, _ := slices.BinarySearchFunc(l.List, ts, func(s *session.HeldSnapshot, ts uint64) int { return cmp.Compare(s.TS, ts) })
	l.List = slices.Insert(l.List, at, s)
	return s
}

// find returns the snapshot at a time that is kept here, or nil.
func find(l *session.Snapshots, ts uint64) *session.HeldSnapshot {
	for _, s := range slices.Backward(l.List) {
		if s.TS == ts {
			return s
		}
	}
	return nil
}

// AppendCursorFields writes the additional fields that the replies of some kinds of
// cursors have.
func AppendCursorFields(c *kernel.Call, cur *kernel.Cursor) {
	if cur.Stream != nil {
		cur.Stream.AppendToken(c.Reply, cur.Peeked != nil)
	}
	if cur.Held != nil {
		c.Reply.Append("atClusterTime", clustertime.Value(cur.Held.TS))
	}
}
