package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
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

// tableTime is how long a commit waits for a lock before it finds out whether that is of a
// table, and lockTime before it looks for a connection that has the lock of the head and does
// nothing.
const (
	tableTime = 2 * time.Second
	lockTime  = 9 * time.Second
)

// impatient looks after a connection that waits for a lock, until done is called.
func (s *store) impatient(session uint32) (done func()) {
	waiting, end := context.WithCancel(s.life)
	soon, endSoon := context.WithTimeout(waiting, tableTime)
	stop := context.AfterFunc(soon, func() {
		if !errors.Is(soon.Err(), context.DeadlineExceeded) {
			return
		}
		if s.waitsForTable(session) {
			s.yield()
		}
		select {
		case <-clock.System().After(lockTime - tableTime):
			s.dislodge(session)
		case <-waiting.Done():
		}
	})
	return func() {
		stop()
		endSoon()
		end()
	}
}

// waitsForTable reports whether a connection waits for the lock of a table or index.
func (s *store) waitsForTable(session uint32) (waits bool) {
	ctx, end := context.WithTimeout(s.life, lifetime)
	defer end()
	c, err := s.dial(ctx)
	if err != nil {
		return false
	}
	defer c.close()
	c.simple(`select 1 from pg_locks where not granted and locktype = 'relation' and pid = ` + strconv.Itoa(int(session)))
	err = c.run(ctx, func(int, [][]byte) error { waits = true; return nil })
	return waits && err == nil
}

// dislodge ends the connections that another one waits for, if their servers have
// stopped in the middle of what they had to say. A database that does not tell them, or
// forbids it, notices itself when these are gone.
func (s *store) dislodge(waiting uint32) {
	ctx, end := context.WithTimeout(s.life, lifetime)
	defer end()
	c, err := s.dial(ctx)
	if err != nil {
		return
	}
	defer c.close()
	c.simple(`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.pid = any(pg_blocking_pids(` + strconv.Itoa(int(waiting)) + `))
		and a.usename = current_user and a.wait_event = 'ClientRead' and greatest(a.state_change, a.query_start) < now() - interval '8 seconds'`)
	if err := c.run(ctx, nil); err == nil {
		s.opts.Logger("storage: a commit has waited for %v for the lock of another server", lockTime)
	}
}
