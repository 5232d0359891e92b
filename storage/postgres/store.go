package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// store is a kv.SharedStore over PostgreSQL.
type store struct {
	opts     Options
	config   *pgconn.Config
	hosts    hosts
	pool     *pool // connections for reads and snapshots
	turns    *pool // connections for commits
	points   pointReads
	held     held  // the connections of the snapshots
	waits    waits // the connections that wait for the lock of the head
	sizes    sizes
	metrics  metrics
	failures failures

	id  string // id of this server, as long as it runs
	seq int64  // number of its last commit; guarded by the turn

	newest atomic.Int64 // the greatest version that this server has seen

	noNames atomic.Bool // the database does not let a transaction read the state of another one

	claimants sync.Map // the numbers of the transactions that may have claims

	members *members
	time    *dbClock
	closed  atomic.Bool
	ending  sync.Mutex // held while the store is closed, or work is begun
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
}

var _ kvshared.Store = (*store)(nil)

func openStore(ctx context.Context, opts Options) (*store, error) {
	config, err := opts.config()
	if err != nil {
		return nil, err
	}
	s := &store{opts: opts, config: config, id: uuid.NewString()}
	s.pool = newPool(opts.PoolSize, opts.Snapshots, s.connect)
	s.turns = newPool(1, 0, s.connectWriter)
	s.points.max = max(s.opts.PoolSize/4, 1)
	config.ValidateConnect = s.validate
	s.pool.metrics, s.turns.metrics = &s.metrics, &s.metrics
	s.members, s.time = newMembers(s), newClock(opts.Clock)
	s.life, s.end = context.WithCancel(context.Background())
	if err = s.begin(ctx); err == nil {
		err = s.startClock(ctx)
	}
	if err == nil {
		err = s.members.join(ctx)
	}
	if err != nil {
		err = s.explain(ctx, err)
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin makes the tables, when the database can be reached.
func (s *store) begin(ctx context.Context) error {
	var pause storage.Backoff
	for try := 0; ; try++ {
		err := s.explain(ctx, s.createSchema(ctx))
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		if try%40 == 0 {
			s.opts.Logger("storage: waiting for the database: %s", unreachable(err))
		}
		select {
		case <-clock.System().After(pause.Next()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// planner makes plans the right ones whatever the statistics of the tables are.
const planner = `set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set enable_bitmapscan = off; set jit = off; set plan_cache_mode = force_generic_plan`

// keepAlive makes the database notice that a server is gone without a word.
const keepAlive = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`

// checkClient makes the database notice in the middle of a statement that nobody waits for it any
// more.
const checkClient = `set client_connection_check_interval = '100ms'`

// lockTimeout and writerLockTimeout are how long a statement waits for a lock. A reader waits
// only if somebody wants a table for himself; a writer also for the head, as long as it takes to
// find out that whoever has it is gone (lockTime).
const (
	lockTimeout       = `set lock_timeout = '2s'`
	writerLockTimeout = `set lock_timeout = '12s'`
)

// compression makes the database compress large rows in a tenth of the time that its default
// takes, since PostgreSQL 14 if it was built with lz4.
const compression = `set default_toast_compression = 'lz4'`

// connect opens a connection for the pool.
func (s *store) connect(ctx context.Context) (*conn, error) {
	c, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.settings(ctx); err != nil {
		c.close()
		return nil, err
	}
	if err := c.prepare(ctx, statements); err != nil {
		err = c.refused(ctx, err)
		c.close()
		return nil, err
	}
	c.trips, c.metrics, c.serves = s.opts.Trips, &s.metrics, true
	return c, nil
}

// connectWriter opens a connection for commits.
func (s *store) connectWriter(ctx context.Context) (*conn, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{
		fmt.Sprintf("set idle_in_transaction_session_timeout = %d", s.opts.Silence.Milliseconds()),
		"set default_transaction_isolation = 'read committed'",
		writerLockTimeout,
		compression,
	} {
		c.query(sql)
		_ = c.run(ctx, nil) // a database may refuse a setting
		if c.broken != nil {
			break
		}
	}
	if err := c.learnWhole(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// learnWhole finds out whether the statements of a trip are one transaction, also if it
// does not begin one: then a setting for the rest of the transaction is there in the next
// statement. That is so in PostgreSQL; others may commit after each statement.
func (c *conn) learnWhole(ctx context.Context) error {
	c.simple(`select set_config('duskdb.whole', 'whole', true)`)
	c.simple(`select current_setting('duskdb.whole', true)`)
	whole := false
	err := c.run(ctx, func(n int, v [][]byte) error {
		whole = n == 1 && string(v[0]) == "whole"
		return nil
	})
	if c.broken != nil {
		return c.broken
	}
	c.whole = whole && err == nil
	return nil
}

// settings sets what a database may not have.
func (c *conn) settings(ctx context.Context) error {
	for _, sql := range []string{planner, keepAlive, checkClient, lockTimeout} {
		c.query(sql)
		_ = c.run(ctx, nil) // a database may refuse a setting
		if c.broken != nil {
			return c.broken
		}
	}
	return nil
}

// explain makes an error of the database one of the contract.
func (s *store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if s.closed.Load() {
		return storage.ErrClosed
	}
	if cerr := ctx.Err(); cerr != nil {
		return context.Cause(ctx)
	}
	var pe *pgconn.PgError
	var broken *errBroken
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &pe):
		switch class := pe.Code[:min(2, len(pe.Code))]; {
		case pe.Code == lockNotAvailable:
			if waitedForTable(err) {
				s.yield()
			}
			return fmt.Errorf("%w: somebody outside keeps a lock: %w", storage.ErrUnavailable, err)
		case pe.Code == "40001", pe.Code == "40P01":
			return fmt.Errorf("%w: %w", kvshared.ErrAgain, err)
		case class == "53" && pe.Code != diskFull, class == "57", // want of resources, somebody's intervention
			pe.Code == "25006", // a standby
			pe.Code == "25P02": // one of these has ended the transaction
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		return s.failed(err, pe)
	case errors.As(err, &broken), errors.As(err, &connect):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// again makes an error of a turn one that says whether to try again.
func again(err error) error {
	if err == nil || errors.Is(err, kvshared.ErrAgain) || !errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", kvshared.ErrAgain, err)
}

// Snapshot returns the state that its first read chooses.
func (s *store) Snapshot(catalog int64, brief bool) kvshared.Snapshot {
	return &view{s: s, from: s.pool, catalog: catalog, brief: brief}
}

// Catalog reads the descriptions of collections.
func (s *store) Catalog(ctx context.Context, since int64) (h kvshared.Head, rows []kvshared.CatalogRow, err error) {
	l, err := s.pool.get(ctx)
	if err != nil {
		return h, nil, s.explain(ctx, err)
	}
	defer s.pool.put(l)
	floor := s.newest.Load()
	l.queue(beginReader)
	l.queue(selectHead)
	l.queue(selectCatalog, int8Value(since))
	l.queue(commit)
	err = l.run(ctx, func(n int, v [][]byte) error {
		if n == 1 {
			h = headOf(v)
			return nil
		}
		rows = append(rows, catalogRow(v))
		return nil
	})
	if err == nil {
		err = s.progressed(l.conn, floor, h)
	}
	return h, rows, s.explain(ctx, err)
}

// catalogRow is a row of selectCatalog.
func catalogRow(v [][]byte) kvshared.CatalogRow {
	num := uint32(int64Of(v[0]))
	return kvshared.CatalogRow{
		Num: num, Version: int64Of(v[1]), Doc: clone(v[2]),
		Stats: kvshared.StatsRow{Num: num, Version: int64Of(v[3]), Row: clone(v[4])},
	}
}

// Changes reports commits of other servers.
func (s *store) Changes() <-chan struct{} { return s.members.changes }

// Follow makes the store report commits of other servers.
func (s *store) Follow(fn func(kvshared.Head, []kvshared.StatsRow) (bool, error)) {
	s.members.follow.Store(&fn)
	s.work.Go(s.members.run)
	select {
	case <-s.members.started:
	case <-clock.System().After(lifetime / 2):
	}
}

// Current reports whether this server has seen all commits that had to be seen.
func (s *store) Current() bool { return s.members.current() }

// Name is that of this server.
func (s *store) Name() string { return s.id }

// Living returns the names of the servers that are heard of.
func (s *store) Living(ctx context.Context) (names []string, err error) {
	l, err := s.pool.get(ctx)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	defer s.pool.put(l)
	l.queue(selectLiving)
	err = l.run(ctx, func(_ int, v [][]byte) error { names = append(names, string(v[0])); return nil })
	return names, s.explain(ctx, err)
}

// Alone reports whether there are no other servers.
func (s *store) Alone() bool { return s.members.current() && s.members.others.Load() == 0 }

// Lease reports whether a job belongs to this server.
func (s *store) Lease(job string) bool { return s.members.lease(job) }

// Sync has nothing to do: a commit returns when it is on the database's disk.
func (s *store) Sync(context.Context) error { return nil }

// smallTable is the size up to which compacting writes a table anew, which keeps
// everybody from it meanwhile.
const smallTable = 64 << 20

// Compact lets the database reclaim space: a large table keeps its size on disk, and
// the space within it is used again.
func (s *store) Compact(ctx context.Context) error {
	l, err := s.pool.get(ctx)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer s.pool.put(l)
	size := int64(0)
	l.queue(selectSize)
	if err := l.run(ctx, func(_ int, v [][]byte) error { size = int64Of(v[0]); return nil }); err != nil {
		return s.explain(ctx, err)
	}
	commands := []string{"vacuum kv"}
	if size < smallTable {
		commands = []string{"set lock_timeout = '100ms'", "vacuum full kv", lockTimeout, "vacuum kv"}
	}
	for _, command := range commands {
		l.query(command)
		err := l.run(ctx, nil)
		if err != nil && !isLockTimeout(err) { // an open transaction reads the table
			return s.explain(ctx, err)
		}
	}
	return nil
}

// Stats fills in the size of the tables. Each commit is a sync.
func (s *store) Stats(st *storage.EngineStats) error {
	st.Syncs, st.FileBytes, st.CommitTimes = st.Commits, s.metrics.size.Load(), s.metrics.commits.Counts()
	if s.Reachable() != nil && !s.closed.Load() {
		return nil // with the size of before: monitoring goes on
	}
	err := s.inspect(s.life, func(c *conn) { c.queue(selectSize) },
		func(_ int, v [][]byte) error { st.FileBytes = int64Of(v[0]); return nil })
	s.metrics.size.Store(st.FileBytes)
	return err
}

const statsTime = 5 * time.Second

// Close leaves the list of servers and closes the connections.
func (s *store) Close() error {
	s.ending.Lock()
	again := s.closed.Swap(true)
	s.ending.Unlock()
	if again {
		return nil
	}
	s.end()
	s.work.Wait()
	s.members.leave()
	s.pool.close()
	s.turns.close()
	return nil
}

// sizes are the average sizes of the rows of collections, for the pages of scans.
type sizes struct {
	m sync.Map     // sizeKey -> int
	n atomic.Int64 // number of the entries
}

// maxSizes is the number of sizes that are known. If there are more, all are forgotten: many
// may be of collections that were dropped.
const maxSizes = 10_000

// of returns the average size of what a page has; 0 if it is not known.
func (z *sizes) of(num uint32, joined bool) int {
	if v, ok := z.m.Load(sizeKey{num, joined}); ok {
		return v.(int)
	}
	return 0
}

func (z *sizes) note(num uint32, joined bool, average int) {
	old := z.of(num, joined)
	if old >= average/2 && old <= 2*average {
		return
	}
	if old == 0 && z.n.Add(1) > maxSizes {
		z.m.Clear()
		z.n.Store(1)
	}
	z.m.Store(sizeKey{num, joined}, average)
}

type sizeKey struct {
	num    uint32
	joined bool
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}
