package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// # Locks of others
//
// An administrator who wants a table for himself (VACUUM FULL, CLUSTER, REINDEX, ALTER TABLE)
// waits for the transactions that have read it, and everybody else waits behind him: the whole
// cluster, until the last open transaction or snapshot of any server ends. The database sees no
// deadlock, because half of it is in the servers. So no statement waits long for a lock, and each
// server looks with its heartbeats whether somebody waits for a table, and ends its snapshots:
// their clients get an error that drivers repeat, and everybody goes on. The snapshots of a server
// that has stopped are ended by the others.

// lockNotAvailable is the code of a statement that has waited for a lock for too long.
const lockNotAvailable = "55P03"

// isLockTimeout reports whether a statement has waited for a lock for too long.
func isLockTimeout(err error) bool { return hasCode(err, lockNotAvailable) }

// waitedForTable reports whether a statement has waited for the lock of a table for too long: the
// error of a row's lock says which row it is.
func waitedForTable(err error) bool {
	var pe *pgconn.PgError
	return isLockTimeout(err) && errors.As(err, &pe) && pe.Where == ""
}

// held are connections that are in use.
type held struct {
	mu    sync.Mutex
	conns map[*conn]struct{}
}

func (h *held) add(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns == nil {
		h.conns = map[*conn]struct{}{}
	}
	h.conns[c] = struct{}{}
}

func (h *held) remove(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
}

// hangUp closes the connections, without a word to the database and whatever they are doing:
// their transactions end.
func (h *held) hangUp() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = len(h.conns)
	for c := range h.conns {
		c.hangUp()
	}
	clear(h.conns)
	return n
}

// yield ends the snapshots of this server for somebody who waits for them.
func (s *store) yield() {
	if n := s.held.hangUp(); n > 0 {
		s.opts.Logger("storage: %d open transactions were ended, because somebody waits for a lock on the tables", n)
	}
}

// How long somebody may wait for a table before a server ends its own snapshots, and those of
// servers that have stopped.
const (
	patientTime  = beat
	dislodgeTime = 8 * time.Second
)

// waitsForTable is who waits for a table or an index.
const waitsForTable = ` from pg_locks w join pg_class t on t.oid = w.relation
	where w.locktype = 'relation' and not w.granted and w.mode = 'AccessExclusiveLock' and t.relnamespace = current_schema()::regnamespace
	and w.database = (select oid from pg_database where datname = current_database())`

// firstWaiting is one of them.
const firstWaiting = `select w.pid` + waitsForTable + ` order by w.pid limit 1`

// lookout is who waits for tables, as the heartbeats see it.
type lookout struct {
	able   bool          // whether the database tells it
	looked time.Duration // when it was asked last
	asked  bool          // whether it was with the last heartbeat
	waits  string        // the process that waits; "": none does
	seen   string        // the one that was seen before
	since  time.Duration // since when that has waited, about
}

// learn finds out whether the database tells who waits for tables.
func (o *lookout) learn(ctx context.Context, c *conn) {
	if c.broken == nil {
		c.simple(firstWaiting)
		o.able = c.run(ctx, nil) == nil
	}
}

// ask asks with a heartbeat who waits for tables, once in a while: heartbeats also come when
// others have committed.
func (o *lookout) ask(c *conn, now time.Duration) {
	if o.asked = o.able && now >= o.looked+beat; o.asked {
		o.looked, o.waits = now, ""
		c.simple(firstWaiting)
	}
}

// makeWay ends snapshots if somebody waits for a table.
func (m *members) makeWay(ctx context.Context, c *conn) (err error) {
	o, now := &m.lookout, m.now()
	if !o.asked {
		return nil
	}
	if o.waits != o.seen {
		o.seen, o.since = o.waits, now
	}
	if o.waits == "" || now < o.since+patientTime {
		return nil
	}
	m.s.yield()
	if now < o.since+dislodgeTime {
		return nil
	}
	c.simple(`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.pid in (select unnest(pg_blocking_pids(w.pid))` + waitsForTable + `)` + dislodge)
	n, err := c.count(ctx)
	if n > 0 {
		m.s.opts.Logger("storage: somebody has waited for %v for the transactions of a server that has stopped", dislodgeTime)
	}
	return err
}

// lookOut acts for those who wait for the snapshots of this server, or for servers that have
// stopped.
func (m *members) lookOut(ctx context.Context, c *conn) error {
	if err := m.makeWay(ctx, c); err != nil {
		return err
	}
	return m.s.dislodgeHead(ctx, c)
}

// count makes a trip and returns the number of rows. It fails only if the connection is lost.
func (c *conn) count(ctx context.Context) (n int, err error) {
	_ = c.run(ctx, func(int, [][]byte) error { n++; return nil })
	return n, c.lostOnly()
}
