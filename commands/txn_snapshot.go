package commands

import (
	"sync"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Reads with read concern snapshot outside transactions: the first read is
// told at which cluster time it saw the data, and later ones ask for that
// time again. The state at each time handed out is kept for a while; states
// share what did not change between them.

const (
	snapshotKeep = 5 * time.Minute // minSnapshotHistoryWindowInSeconds
	maxSnapshots = 256
)

// snapshots are the states that clients may still ask for.
type snapshots struct {
	mu   sync.Mutex
	list []*heldSnapshot // by time
}

type heldSnapshot struct {
	ts   uint64
	made time.Time
	tx   storage.Txn
	turn chan struct{} // holds one: one reader at a time
	old  bool          // nobody may read it any more; the turn guards it
}

var snapshotCommands = map[string]bool{"find": true, "aggregate": true, "distinct": true, "getMore": true}

// readSnapshot opens the state for a command with read concern snapshot.
// done gives it back.
func (c *Call) readSnapshot() (done func(), err error) {
	at := c.generic.readConcern.Lookup("atClusterTime")
	switch {
	case c.generic.level != "snapshot":
		return func() {}, nil
	case !snapshotCommands[c.cmd.name]:
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s does not support read concern snapshot", c.cmd.name)
	case c.cmd.name == "getMore": // goes on with the state of its cursor
		return func() {}, nil
	}
	s, err := c.svc.snapshots.open(c.svc, stampOf(at))
	if err != nil {
		return nil, err
	}
	return c.useSnapshot(s)
}

// useSnapshot lets the command read from a state.
func (c *Call) useSnapshot(s *heldSnapshot) (done func(), err error) {
	select {
	case s.turn <- struct{}{}:
	case <-c.ctx.Done():
		return nil, c.interrupted()
	}
	if s.old {
		<-s.turn
		return nil, snapshotTooOld(s.ts)
	}
	c.snapshot, c.held = s.tx, s
	return func() {
		c.snapshot = nil
		<-s.turn
	}, nil
}

// open finds the state at a time, or takes that of now for 0.
func (l *snapshots) open(svc *Service, ts uint64) (*heldSnapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(svc.real.Now())
	if ts == 0 {
		return l.take(svc)
	}
	if ts > svc.stamps.current() {
		return nil, mongoerr.Newf(mongoerr.InvalidOptions, "readConcern atClusterTime value must not be greater than the current clusterTime. Requested clusterTime: %s; current clusterTime: %s", stampValue(ts), stampValue(svc.stamps.current()))
	}
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i].ts == ts {
			return l.list[i], nil
		}
	}
	if s, err := l.take(svc); err != nil || s.ts == ts {
		return s, err
	}
	return nil, snapshotTooOld(ts)
}

func snapshotTooOld(ts uint64) error {
	return mongoerr.Newf(mongoerr.SnapshotTooOld, "Read timestamp %s is older than the oldest available timestamp.", stampValue(ts))
}

// take opens the present state.
func (l *snapshots) take(svc *Service) (*heldSnapshot, error) {
	before := svc.stamps.current()
	if n := len(l.list); n > 0 && l.list[n-1].ts == before {
		return l.list[n-1], nil // nothing has been written since
	}
	tx, err := svc.engine.Begin(svc.background)
	if err != nil {
		return nil, translate(storage.Namespace{}, err)
	}
	// A time of its own: whatever is written later is later.
	s := &heldSnapshot{ts: svc.stamps.next(svc.clock.NowMillis()), made: svc.real.Now(), tx: tx, turn: make(chan struct{}, 1)}
	l.list = append(l.list, s)
	return s, nil
}

func (l *snapshots) expire(now time.Time) {
	for len(l.list) > 0 && (len(l.list) > maxSnapshots || now.Sub(l.list[0].made) > snapshotKeep) {
		s := l.list[0]
		select {
		case s.turn <- struct{}{}:
		default:
			return
		}
		s.tx.Abort()
		s.old = true
		<-s.turn
		l.list = l.list[1:]
	}
}

func (l *snapshots) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.list {
		s.tx.Abort()
	}
	l.list = nil
}

// appendCursorFields writes what the reply of a cursor of a special kind says
// besides its batch.
func (c *Call) appendCursorFields(cur *cursor) {
	if cur.stream != nil {
		cur.stream.appendToken(c.reply, cur.peeked != nil)
	}
	if cur.held != nil {
		c.reply.Append("atClusterTime", stampValue(cur.held.ts))
	}
}
