package transaction

import (
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// readSnapshot opens the snapshot for a command with read concern snapshot. The caller calls
// done afterwards.
func readSnapshot(c *kernel.Call) (done func(), err error) {
	at := c.Generic.ReadConcern.Lookup("atClusterTime")
	switch {
	case c.Generic.Level != "snapshot":
		return func() {}, nil
	case !session.SnapshotCommands[c.Cmd.Name]:
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s does not support read concern snapshot", c.Cmd.Name)
	case c.Cmd.Name == "getMore": // goes on with the state of its cursor
		return func() {}, nil
	}
	s, err := open(&c.Svc.Snapshots, c.Svc, clustertime.Of(at))
	if err != nil {
		return nil, err
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
	if ts > svc.Stamps.Current() {
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "readConcern atClusterTime value must not be greater than the current clusterTime. Requested clusterTime: %s; current clusterTime: %s", clustertime.Value(ts), clustertime.Value(svc.Stamps.Current()))
	}
	for i := len(l.List) - 1; i >= 0; i-- {
		if l.List[i].TS == ts {
			return l.List[i], nil
		}
	}
	if s, err := take(l, svc); err != nil || s.TS == ts {
		return s, err
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
	room := svc.Engine.Snapshots()
	room.Most-- // for the new one
	if l.Expire(svc.Real.Now(), room); len(l.List) > room.Most {
		return nil, session.SnapshotTooOld(before) // all that the engine can keep are being read
	}
	tx, err := svc.Engine.Begin(svc.Background)
	if err != nil {
		return nil, kernel.Translate(storage.Namespace{}, err)
	}
	// A new timestamp: all later writes have later ones.
	s := &session.HeldSnapshot{TS: svc.Stamps.Next(svc.Clock.NowMillis()), Made: svc.Real.Now(), Tx: tx, Turn: make(chan struct{}, 1)}
	l.List = append(l.List, s)
	return s, nil
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
