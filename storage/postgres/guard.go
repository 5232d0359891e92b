package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// A server must not read or write a database that is not, or is no more, the one that
// has all commits: a standby, or a former primary that has come back.

// errBehind says that a database does not have what this server has seen.
var errBehind = errors.New("the database lacks commits that were acknowledged: it is a former primary, or was restored")

// validate checks each connection when it is made. If the URI names several hosts, the
// next one is tried after an error.
func (s *store) validate(ctx context.Context, c *pgconn.PgConn) error {
	if err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, c); err != nil {
		if c.IsClosed() || ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %w", errDatabaseReadOnly, err)
	}
	floor := s.newest.Load()
	if floor == 0 {
		return nil
	}
	_, _ = c.Exec(ctx, lockTimeout).ReadAll() // a database may refuse a setting
	r := c.ExecParams(ctx, "select ver from "+quoted(s.opts.Schema)+".head", nil, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	if len(r.Rows) != 1 {
		return errBehind
	}
	version, err := strconv.ParseInt(string(r.Rows[0][0]), 10, 64)
	if err == nil && version < floor {
		err = errBehind
	}
	return err
}

// progressed checks the head that a trip has read. floor is the greatest version that was
// known before the trip began.
func (s *store) progressed(c *conn, floor int64, h kvshared.Head) error {
	if h.Version < floor {
		c.fail(errBehind)
		return c.broken
	}
	s.saw(h.Version)
	return nil
}

// saw notes a version that the database has.
func (s *store) saw(version int64) {
	for {
		old := s.newest.Load()
		if old >= version || s.newest.CompareAndSwap(old, version) {
			return
		}
	}
}

// drop closes the connections that are not in use, which are likely to be lost.
func (s *store) drop() {
	s.pool.drop()
	s.turns.drop()
}

// errSilent says that the database does not answer.
var errSilent = fmt.Errorf("nothing was heard of it for %v", lifetime)

// giveUp ends all connections of a database that is silent: a network that loses everything without
// a word does not end them, and whatever waits for an answer would wait until it heals.
func (s *store) giveUp() {
	s.drop()
	if n := s.pool.leased.hangUp() + s.turns.leased.hangUp(); n > 0 {
		s.opts.Logger("storage: %d connections were given up: %v", n, errSilent)
	}
}

// lockTime is how long a commit waits for the lock of the head before the next heartbeat looks
// for a connection that has it and does nothing.
const lockTime = 8 * time.Second

// waits are the connections that wait for the lock of the head, and since when.
type waits struct {
	mu    sync.Mutex
	since map[uint32]time.Duration
}

// longest returns the connection that has waited for longest, and since when.
func (w *waits) longest() (session uint32, since time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s, at := range w.since {
		if session == 0 || at < since {
			session, since = s, at
		}
	}
	return session, since
}

// impatient makes the heartbeats look after a connection that waits for the lock, until done is
// called.
func (s *store) impatient(session uint32) (done func()) {
	w := &s.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since == nil {
		w.since = map[uint32]time.Duration{}
	}
	w.since[session] = s.members.now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.since, session)
	}
}

// dislodge is the end of a statement that ends connections of servers that have stopped in the
// middle of what they had to say: they have been silent for longer than a server may be.
const dislodge = ` and a.usename = current_user and a.wait_event = 'ClientRead' and greatest(a.state_change, a.query_start) < now() - interval '8 seconds'`

// dislodgeHead ends the connections that another one has waited for, if their servers have
// stopped. A database that does not tell them, or forbids it, notices itself when these are gone.
func (s *store) dislodgeHead(ctx context.Context, c *conn) error {
	session, since := s.waits.longest()
	if session == 0 || s.members.now()-since < lockTime {
		return nil
	}
	c.simple(`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.pid = any(pg_blocking_pids(` + strconv.Itoa(int(session)) + `))` + dislodge)
	n, err := c.count(ctx)
	if n > 0 {
		s.opts.Logger("storage: a commit has waited for %v for the lock of another server", lockTime)
	}
	return err
}
