package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// tripKind says what a round trip is for. The statement with the greatest kind in a
// trip decides.
type tripKind uint8

const (
	tripRead tripKind = iota
	tripCatalog
	tripSeen // a look whether the others have seen a commit
	tripLease
	tripClaim
	tripLock
	tripCommit
	tripBeat
	tripKinds
)

var tripNames = [tripKinds]string{"read", "catalog", "seen", "lease", "claim", "lock", "commit", "heartbeat"}

func init() {
	for kind, list := range map[tripKind][]*statement{
		tripCatalog: {selectCatalog},
		tripSeen:    {countUnseen},
		tripLease:   {renewLeases, leaveJobs},
		tripClaim:   {takeClaims, dropClaims, selectClaimants},
		tripLock:    {lockHead},
		tripCommit:  {writeHead, moveHead, moveFree},
		tripBeat:    {renewServer, noteSeen},
	} {
		for _, s := range list {
			s.kind = kind
		}
	}
}

// metrics count what the store asks of the database.
type metrics struct {
	trips [tripKinds]struct{ count, nanos atomic.Int64 }

	commits storage.Durations // durations from asking for the lock to the answer

	claims, refused atomic.Int64
	seen            struct{ count, nanos atomic.Int64 }
	waits, beyond   atomic.Int64 // waits for the pool, and connections beyond it
	size            atomic.Int64 // size of the tables, when it was asked for last
}

// measured counts a trip that a connection has made. A commit takes from the trip
// that asks for the lock to the answer of the one that commits.
func (c *conn) measured(began time.Time, err error) {
	kind := c.kind
	c.kind = tripRead
	if c.metrics == nil {
		return
	}
	now := clock.System().Now()
	c.metrics.trips[kind].count.Add(1)
	c.metrics.trips[kind].nanos.Add(int64(now.Sub(began)))
	switch kind {
	case tripLock:
		c.locked = began
	case tripCommit:
		if c.locked.IsZero() {
			c.locked = began // without asking for the lock before
		}
		if err == nil {
			c.metrics.commits.Observe(now.Sub(c.locked))
		}
		c.locked = time.Time{}
	}
}

// silence is for how long no heartbeat may have succeeded: one may fail.
const silence = 3*beat + beat/2

// Why the database cannot be used.
var (
	errDatabaseAway     = errors.New("the database cannot be reached")
	errDatabaseReadOnly = errors.New("the database is read-only")
)

// away is since when the database cannot be used, and why; nil if it can.
func (m *members) away() (since time.Time, why error) {
	at := m.sent.Load()
	if at > 0 && m.now() < time.Duration(at)+silence {
		return time.Time{}, nil
	}
	if err, _ := m.failure.Load().(failed); errors.Is(err.cause, errDatabaseReadOnly) || hasCode(err.cause, "25006") {
		return m.begun.Add(time.Duration(at)), errDatabaseReadOnly
	}
	return m.begun.Add(time.Duration(at)), errDatabaseAway
}

// failed is the error of the last heartbeat.
type failed struct{ cause error }

// Reachable returns why the database cannot be used; nil if it can. It goes by the
// heartbeats, which write.
func (s *store) Reachable() error {
	_, err := s.members.away()
	return err
}

// Reachable implements storage.Clustered.
func (e *Engine) Reachable() error { return e.store.Reachable() }

var _ storage.Clustered = (*Engine)(nil)

// ClusterStats implements storage.Clustered.
func (e *Engine) ClusterStats(ctx context.Context) (storage.ClusterStats, error) {
	s := e.store
	st := s.metrics.stats()
	st.Server, st.Offset = s.id, s.time.offset()
	st.AwaySince, st.Away = s.members.away()
	st.Heartbeat = max(s.members.now()-time.Duration(s.members.sent.Load()), 0)
	s.claimants.Range(func(any, any) bool { st.Claimants++; return true })
	st.Pool = s.pool.stats()
	turns := s.turns.stats()
	st.Pool.Size += turns.Size
	st.Pool.InUse += turns.InUse
	st.Pool.Idle += turns.Idle
	st.Pool.Waits, st.Pool.Beyond = s.metrics.waits.Load(), s.metrics.beyond.Load()
	e.Counts(&st)
	if st.Away != nil {
		return st, nil
	}
	return st, s.members.lists(ctx, &st)
}

func (m *metrics) stats() (st storage.ClusterStats) {
	for kind := range m.trips {
		t := &m.trips[kind]
		st.Trips = append(st.Trips, storage.TripStats{Kind: tripNames[kind], Count: t.count.Load(), Time: time.Duration(t.nanos.Load())})
	}
	st.Commits = m.commits.Counts()
	st.Claims, st.Refused = m.claims.Load(), m.refused.Load()
	st.Seen = storage.TripStats{Kind: "seen", Count: m.seen.count.Load(), Time: time.Duration(m.seen.nanos.Load())}
	return st
}

// inspect makes a trip for monitoring. If the connection turns out to be lost, another
// one makes it: the database may have been away meanwhile.
func (s *store) inspect(ctx context.Context, queue func(c *conn), row func(n int, v [][]byte) error) error {
	ctx, end := context.WithTimeout(ctx, statsTime)
	defer end()
	for try := 1; ; try++ {
		l, err := s.pool.get(ctx)
		if err != nil {
			return s.explain(ctx, err)
		}
		queue(l.conn)
		err = l.run(ctx, row)
		lost := l.broken != nil
		s.pool.put(l)
		if !lost || try == 2 || ctx.Err() != nil {
			return s.explain(ctx, err)
		}
		s.pool.drop()
	}
}

// lists reads the servers and the leases.
func (m *members) lists(ctx context.Context, st *storage.ClusterStats) error {
	return m.s.inspect(ctx, func(c *conn) {
		st.Servers, st.Leases = nil, nil
		c.queue(selectServers)
		c.queue(selectLeases)
	}, func(n int, v [][]byte) error {
		since := time.UnixMicro(int64Of(v[2]))
		if n == 0 {
			st.Servers = append(st.Servers, storage.ClusterServer{ID: string(v[0]), Address: string(v[1]), Since: since})
		} else {
			st.Leases = append(st.Leases, storage.ClusterLease{Job: string(v[0]), Owner: string(v[1]), Since: since})
		}
		return nil
	})
}

func (p *pool) stats() (st storage.PoolStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st.Size, st.InUse, st.Idle, st.Held = int64(p.size), int64(p.used), int64(len(p.idle)), int64(p.holders)
	return st
}
