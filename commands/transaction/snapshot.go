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
	s, err := open(c, clustertime.Of(at))
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

// open returns the snapshot at a time, or a new one for 0. The lock of the list is not held while
// the engine opens one: that may wait for a database.
func open(c *kernel.Call, ts uint64) (*session.HeldSnapshot, error) {
	svc := c.Svc
	l := &svc.Snapshots
	l.Mu.Lock()
	l.Expire(svc.Real.Now(), svc.Engine.Snapshots())
	s := find(l, ts)
	l.Mu.Unlock()
	if s != nil {
		return s, nil
	}
	if ts == 0 {
		return take(c)
	}
	if s, err := openElsewhere(c, ts); s != nil || err != nil {
		return s, err
	}
	if ts > svc.Stamps.Current() {
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "readConcern atClusterTime value must not be greater than the current clusterTime. Requested clusterTime: %s; current clusterTime: %s", clustertime.Value(ts), clustertime.Value(svc.Stamps.Current()))
	}
	return nil, session.SnapshotTooOld(ts)
}

// take opens a snapshot of the present state.
func take(c *kernel.Call) (*session.HeldSnapshot, error) {
	svc := c.Svc
	before := svc.Stamps.Current()
	s, room := latest(svc, before)
	if s != nil {
		return s, nil
	}
	if !room {
		return nil, session.SnapshotTooOld(before)
	}
	tx, ts, err := begin(c)
	if errors.Is(err, storage.ErrManySnapshots) && snapshotGivesWay(svc) {
		tx, ts, err = begin(c)
	}
	if err != nil {
		return nil, kernel.Translate(storage.Namespace{}, err)
	}
	return keep(svc, tx, ts), nil
}

// latest returns the latest snapshot if nothing has been written since, or else whether there is
// room for a new one.
func latest(svc *kernel.Service, now uint64) (s *session.HeldSnapshot, room bool) {
	l := &svc.Snapshots
	l.Mu.Lock()
	defer l.Mu.Unlock()
	// Another server may have written since, at a time that is not later.
	if n := len(l.List); n > 0 && l.List[n-1].TS == now && !svc.Shared {
		return l.List[n-1], true
	}
	return nil, makeRoom(l, svc)
}

// begin opens a snapshot of the present state, and gives it a new timestamp: all later writes
// have later ones.
func begin(c *kernel.Call) (tx storage.Txn, ts uint64, err error) {
	next := func() uint64 { return c.Svc.Stamps.Next(c.Svc.Clock.NowMillis()) }
	if e, ok := c.Svc.Engine.(storage.SnapshotNumberer); ok {
		return e.BeginNumbered(c.Ctx, next)
	}
	if tx, err = c.Svc.Engine.Begin(c.Ctx); err == nil {
		ts = next()
	}
	return tx, ts, err
}

// openElsewhere opens the snapshot at a time that another server has opened; nil if
// no server holds one.
func openElsewhere(c *kernel.Call, ts uint64) (*session.HeldSnapshot, error) {
	svc := c.Svc
	e, ok := svc.Engine.(storage.SnapshotNumberer)
	if !ok {
		return nil, nil
	}
	svc.Snapshots.Mu.Lock()
	room := makeRoom(&svc.Snapshots, svc)
	svc.Snapshots.Mu.Unlock()
	if !room {
		return nil, nil
	}
	tx, err := e.BeginAt(c.Ctx, ts)
	if errors.Is(err, storage.ErrManySnapshots) && snapshotGivesWay(svc) { // transactions have the places
		tx, err = e.BeginAt(c.Ctx, ts)
	}
	switch {
	case errors.Is(err, storage.ErrNoSnapshot):
		return nil, nil
	case err != nil:
		return nil, kernel.Translate(storage.Namespace{}, err)
	}
	svc.Stamps.Advance(ts)
	return keep(svc, tx, ts), nil
}

// makeRoom forgets snapshots so that there may be one more. It returns false if all that the
// engine can keep are being read.
func makeRoom(l *session.Snapshots, svc *kernel.Service) bool {
	room := svc.Engine.Snapshots()
	room.Max-- // for the new one
	l.Expire(svc.Real.Now(), room)
	return len(l.List) <= room.Max
}

// keep adds a snapshot to the list, unless somebody else has meanwhile.
func keep(svc *kernel.Service, tx storage.Txn, ts uint64) *session.HeldSnapshot {
	l := &svc.Snapshots
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if s := find(l, ts); s != nil {
		tx.Abort()
		return s
	}
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
