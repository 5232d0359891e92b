package postgres

import (
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// # Locks of others
//
// An administrator who wants a table for himself (VACUUM FULL, CLUSTER, REINDEX, ALTER TABLE)
// waits for the transactions that have read it, and everybody else waits behind him: the whole
// cluster, until the last open transaction or snapshot of any server ends. The database sees no
// deadlock, because half of it is in the servers. So no statement waits long for a lock, and a
// reader that has waited ends the snapshots of its server: their clients get an error that
// drivers repeat, and everybody goes on. Each server does so by itself.

// lockNotAvailable is the code of a statement that has waited for a lock for too long.
const lockNotAvailable = "55P03"

// isLockTimeout reports whether a statement has waited for a lock for too long.
func isLockTimeout(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == lockNotAvailable
}

// held are the connections of the snapshots that are open.
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
		_ = c.net.Close()
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
