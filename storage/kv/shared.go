package kv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// Shared is a storage.Engine over a store that several servers use.
//
// A View reads one state of the store. It knows the catalog from memory; its first
// read also says whether that is the one of the state, and otherwise the View runs
// again with the right one.
//
// An Update runs twice. The first run, the draft, has no right to commit: it reads
// the latest state, and what it writes is thrown away. Then the updates that wait
// are committed together: one round trip takes the lock that puts the commits of
// all servers in order, and reads again what the drafts have read, as far as it has
// changed. The updates run on that, and a second round trip commits.
type Shared struct {
	core
	store  SharedStore
	known  atomic.Pointer[catalog] // nil when closed
	naming sync.Mutex              // held while known changes
	writer chan struct{}           // holds one token: the right to write on this server
	queue  share.Queue
	memory scratch // guarded by writer

	provisional atomic.Uint32 // the last number of what is not committed
	stamp       atomic.Uint64 // the greatest that is known
	strange     atomic.Uint64 // the last stamp of a collection that others may have changed

	life context.Context // ends with Close
	end  context.CancelFunc
	once sync.Once
}

var (
	_ storage.Engine = (*Shared)(nil)
	_ storage.Sharer = (*Shared)(nil)
	_ host           = (*Shared)(nil)
)

// firstProvisional is the first number that is never stored: transactions that
// have not committed yet use such numbers for what they create.
const firstProvisional = 1 << 30

// catalog is the collections as of a version. Their statistics may be older than
// those of the store.
type catalog struct {
	root    *root
	version int64
}

// Errors of shared stores.
var (
	// ErrAgain says that a commit has not happened, and that another try may succeed.
	ErrAgain = errors.New("the commit was not possible")
)

// OpenShared reads the catalog of a store. The engine closes the store; if it
// fails, the caller does.
func OpenShared(ctx context.Context, store SharedStore, opts Options) (*Shared, error) {
	if opts.Indexer == nil {
		return nil, errors.New("kv: no indexer")
	}
	e := &Shared{store: store, writer: make(chan struct{}, 1)}
	e.core.opts, e.core.host = opts, e
	e.provisional.Store(firstProvisional)
	e.life, e.end = context.WithCancel(context.Background())
	e.known.Store(&catalog{root: newRoot(), version: -1})
	if err := e.reload(ctx); err != nil {
		e.end()
		return nil, err
	}
	e.writer <- struct{}{}
	store.Follow(e.follow)
	return e, nil
}

// follow takes the statistics that have changed, also by this server. It reports
// whether another one has changed some.
func (e *Shared) follow(h Head, rows []StatsRow) (news bool, err error) {
	if cat, err := e.latestCatalog(); err != nil {
		return false, err
	} else if cat.version < h.Catalog {
		if err := e.reload(e.life); err != nil {
			return false, err
		}
		news = true
	}
	e.learn(h)
	e.naming.Lock()
	defer e.naming.Unlock()
	now := e.known.Load()
	if now == nil {
		return false, storage.ErrClosed
	}
	changed := map[uint32]StatsRow{}
	for _, row := range rows {
		changed[row.Num] = row
	}
	next := now.root.fork()
	var renewed []*coll
	next.colls.Scan(func(ce catalogEntry) bool {
		if row, ok := changed[ce.coll.num]; ok && ce.coll.stamp < uint64(row.Version) {
			var c *coll
			if c, err = ce.coll.exactly(row); err == nil {
				c.bare = true
				renewed = append(renewed, c)
			}
		}
		return err == nil
	})
	if err != nil {
		return news, err
	}
	for _, c := range renewed {
		next.set(c)
	}
	if len(renewed) > 0 {
		e.known.Store(&catalog{root: next, version: now.version})
	}
	return news || len(renewed) > 0, nil
}

// latestCatalog is the catalog as far as it is known.
func (e *Shared) latestCatalog() (*catalog, error) {
	c := e.known.Load()
	if c == nil {
		return nil, storage.ErrClosed
	}
	return c, nil
}

// reload reads what has changed in the catalog.
func (e *Shared) reload(ctx context.Context) error {
	before, err := e.latestCatalog()
	if err != nil {
		return err
	}
	head, rows, err := e.store.Catalog(ctx, before.version)
	if err != nil {
		return err
	}
	e.learn(head)
	e.naming.Lock()
	defer e.naming.Unlock()
	now := e.known.Load()
	if now == nil {
		return storage.ErrClosed
	}
	if now.version >= head.Catalog {
		return nil
	}
	next, err := e.changed(now.root, rows)
	if err == nil {
		e.known.Store(&catalog{root: next, version: head.Catalog})
	}
	return err
}

// learn takes what a head says.
func (e *Shared) learn(h Head) {
	for {
		old := e.stamp.Load()
		if old >= h.Stamp || e.stamp.CompareAndSwap(old, h.Stamp) {
			return
		}
	}
}

// changed applies rows to a catalog. Descriptions that are as they were stay the
// same.
func (e *Shared) changed(before *root, rows []CatalogRow) (*root, error) {
	byNum := map[uint32]*coll{}
	before.colls.Scan(func(ce catalogEntry) bool {
		byNum[ce.coll.num] = ce.coll
		return true
	})
	next := newRoot()
	for _, row := range rows {
		c := byNum[row.Num]
		if c == nil || c.entry < row.Version {
			var err error
			if c, err = e.describe(c, row); err != nil {
				return nil, err
			}
		}
		if err := next.admit(c); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// describe makes a collection of a row. was is what it was before, or nil.
func (e *Shared) describe(was *coll, row CatalogRow) (*coll, error) {
	if row.Doc == nil {
		return nil, fmt.Errorf("the description of collection %d is missing", row.Num)
	}
	c, err := parseCatalog(row.Num, row.Doc)
	if err != nil {
		return nil, err
	}
	if err := c.readStats(row.Stats.Row); err != nil {
		return nil, err
	}
	c.bare, c.stamp, c.entry = true, uint64(row.Stats.Version), row.Version
	if was != nil && string(was.catalogDoc()) == string(row.Doc) {
		c.info = was.info // only arrays were found in more fields
		for i, x := range was.indexes {
			c.indexes[i].maker = x.maker
		}
		return c, nil
	}
	return c, e.compile(c)
}

// View runs fn on the latest committed state.
func (e *Shared) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.settled(ctx, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version)
		t := e.on(ctx, cat, remote{snap}, &distant{phase: viewing, snap: snap, alone: e.store.Alone, sure: e.sure(cat)})
		defer t.End()
		err := fn(t)
		return snap, err, t.fresh()
	})
}

// mostRuns bounds how often something runs because the catalog has changed.
const mostRuns = 50

// settled runs something until it has had the right catalog. run returns the
// error of what it has run, and that of making sure of the catalog.
func (e *Shared) settled(ctx context.Context, run func(*catalog) (SharedSnapshot, error, error)) error {
	var pause storage.Backoff
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		cat, err := e.latestCatalog()
		if err != nil {
			return err
		}
		snap, err, unsure := run(cat)
		if h, ok := snap.Head(); ok {
			e.learn(h)
			if h.Catalog <= cat.version {
				return err
			}
			unsure = ErrStale
		}
		if unsure == nil && snap.Lost() {
			unsure = err
		}
		if n == mostRuns || unsure == nil {
			return errors.Join(err, unsure)
		}
		switch {
		case errors.Is(unsure, ErrStale):
			if err := e.reload(ctx); err != nil {
				return err
			}
		case snap.Lost() && n < 3:
			if err := e.wait(ctx, &pause); err != nil {
				return err
			}
		default:
			return unsure
		}
	}
}

// sure returns a function that reports whether a catalog is certainly the latest.
func (e *Shared) sure(cat *catalog) func() bool {
	return func() bool {
		if !e.store.Current() {
			return false
		}
		now := e.known.Load()
		return now != nil && now.version == cat.version
	}
}

func (e *Shared) wait(ctx context.Context, pause *storage.Backoff) error {
	select {
	case <-clock.System().After(pause.Next()):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.life.Done():
		return storage.ErrClosed
	}
}

// on makes a transaction.
func (e *Shared) on(ctx context.Context, cat *catalog, snap Snapshot, f *distant) *tx {
	s := &state{root: cat.root, snap: snap}
	s.refs.Store(1)
	return &tx{e: &e.core, ctx: ctx, base: s, root: cat.root, reader: reader{snap: snap}, distant: f}
}

// draft runs fn without the right to commit. done says that this was all: it has
// written nothing.
func (e *Shared) draft(ctx context.Context, replays *snapshot, hope bool, fn func(*tx) error) (m *memory, done bool, err error) {
	err = e.settled(ctx, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version)
		m = newMemory()
		f := &distant{phase: drafting, snap: snap, memory: m, hope: hope, alone: e.store.Alone, sure: e.sure(cat)}
		t := e.on(ctx, cat, drafted{remote{snap}, m}, f).write(new(scratch))
		defer t.End()
		t.replays = replays
		err := fn(t)
		if done = t.touched == 0 && !f.guess; done {
			return snap, err, t.fresh()
		}
		return snap, nil, nil
	})
	return m, done, err
}

// Update runs fn as a writer and commits unless it fails.
func (e *Shared) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.update(ctx, nil, func(t *tx) error { return fn(t) })
}

func (e *Shared) update(ctx context.Context, replays *snapshot, fn func(*tx) error) error {
	m, done, err := e.draft(ctx, replays, false, fn)
	if err != nil || done {
		return err
	}
	return e.persist(ctx, func() error { return e.updateOnce(ctx, replays, fn, m) })
}

// mostAway is how long writes wait for a database that cannot be reached.
const mostAway = 10 * time.Second

// persist repeats commits that were not possible.
func (e *Shared) persist(ctx context.Context, once func() error) error {
	var pause storage.Backoff
	begun := clock.System().Now()
	for {
		err := once()
		if !errors.Is(err, ErrAgain) {
			return err
		}
		if clock.System().Now().Sub(begun) > mostAway {
			if errors.Is(err, storage.ErrUnavailable) {
				return err
			}
			return errors.Join(storage.ErrConflict, err)
		}
		if err := e.wait(ctx, &pause); err != nil {
			return err
		}
	}
}

func (e *Shared) updateOnce(ctx context.Context, replays *snapshot, fn func(*tx) error, m *memory) error {
	t, err := e.updateFirst(ctx, replays, fn, m)
	if err != nil {
		return err
	}
	return t.Settle()
}

// updateFirst is the part of an Update that needs the right to write.
func (e *Shared) updateFirst(ctx context.Context, replays *snapshot, fn func(*tx) error, m *memory) (*tx, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer e.unlockWriter()
	t, err := e.beginCommit(ctx, []*memory{m})
	if err != nil {
		return nil, err
	}
	defer t.End()
	t.replays = replays
	if err := t.sound(fn(t)); err != nil {
		return nil, err
	}
	return t, t.Commit()
}

// sound replaces the error of a function whose reads have failed.
func (t *tx) sound(err error) error {
	if err != nil && t.distant.turn.Lost() {
		return errors.Join(ErrAgain, err)
	}
	return err
}

func (e *Shared) lockWriter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.known.Load() == nil {
		return storage.ErrClosed
	}
	select {
	case <-e.writer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Shared) unlockWriter() { e.writer <- struct{}{} }

// beginCommit takes the lock and begins the run that counts.
func (e *Shared) beginCommit(ctx context.Context, drafts []*memory) (*tx, error) {
	c := recollect(drafts, func(num uint32) bool { return num < firstProvisional })
	turn, reply, err := e.store.Lock(ctx, &c.request)
	if err != nil {
		return nil, err
	}
	head, _ := turn.Head()
	cat, err := e.latestCatalog()
	if err == nil && cat.version < head.Catalog {
		if err = e.reload(ctx); err == nil {
			cat, err = e.latestCatalog()
		}
	}
	if err != nil {
		turn.Close()
		return nil, err
	}
	f := &distant{phase: committing, snap: turn, alone: e.store.Alone, turn: turn, head: head, stats: map[uint32]StatsRow{}}
	for _, row := range reply.Stats {
		f.stats[row.Num] = row
	}
	f.known = c.recall(turn, reply)
	return e.on(ctx, cat, f.known, f).write(&e.memory), nil
}

// commit commits the writes of an Update.
func (e *Shared) commit(t *tx) error {
	f := t.distant
	before, _ := f.turn.Head()
	if !t.effective() && f.head.Stamp == before.Stamp {
		return nil
	}
	defer t.scratch.release()
	f.head.Version++
	for _, ch := range t.changes {
		if ch.moreArrays() {
			ch.catalog = true
		}
		if ch.catalog || ch.cur == nil {
			f.head.Catalog = f.head.Version
		}
	}
	t.gather(&t.scratch.set)
	if err := f.turn.Commit(e.life, &t.scratch.set, f.head); err != nil {
		return err
	}
	e.commits.Add(1)
	e.publish(t)
	t.seen = func() { f.turn.Seen(e.life, f.head.Version) }
	if f.head.Catalog < f.head.Version && !e.watched(t) {
		t.seen = nil
	}
	return nil
}

// watched reports whether a commit has changed a collection that others must see.
func (e *Shared) watched(t *tx) bool {
	for _, ch := range t.changes {
		if ch.cur != nil && e.opts.Watched != nil && e.opts.Watched(ch.cur.info.Namespace) {
			return true
		}
	}
	return false
}

// moreArrays reports whether an index was found to have arrays in further fields,
// which readers must know.
func (ch *change) moreArrays() bool {
	if ch.cur == nil || ch.base == nil || ch.catalog {
		return false
	}
	for i, x := range ch.cur.indexes {
		if x.multikey != ch.base.indexes[i].multikey {
			return true
		}
	}
	return false
}

// publish makes what was committed known on this server.
func (e *Shared) publish(t *tx) {
	f := t.distant
	e.learn(f.head)
	for _, ch := range t.changes {
		if c := ch.cur; c != nil {
			c.stamp, c.bare, c.change = uint64(f.head.Version), true, nil
			if ch.catalog {
				c.entry = f.head.Version
			}
		}
	}
	e.naming.Lock()
	defer e.naming.Unlock()
	now := e.known.Load()
	if now == nil || now.version > f.head.Catalog {
		return
	}
	next := now.root.fork() // others may have been heard of since the transaction began
	for _, ch := range t.changes {
		if ch.base == nil {
			continue
		}
		if c := next.get(ch.base.info.Namespace); c != nil && c.num == ch.base.num {
			next.remove(ch.base.info.Namespace)
		}
	}
	for _, ch := range t.changes {
		if ch.cur != nil {
			next.set(ch.cur)
		}
	}
	e.known.Store(&catalog{root: next, version: f.head.Catalog})
}

// settle waits until the other servers have seen what they must see.
func (e *Shared) settle(t *tx) error {
	if t.seen != nil {
		t.seen()
	}
	return nil
}

// latest returns the latest state.
func (e *Shared) latest() (*state, error) {
	var s *state
	err := e.settled(e.life, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version)
		_, err := snap.Read(e.life, &Request{})
		if err != nil {
			snap.Close()
			return snap, err, err
		}
		s = &state{root: cat.root, snap: remote{snap}, distant: snap}
		s.refs.Store(1)
		return snap, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// number gives the next number in a commit, and otherwise one that is not stored.
func (e *Shared) number(t *tx) uint32 {
	if t.distant.phase != committing {
		return e.provisional.Add(1)
	}
	t.distant.head.Numbers++
	return t.distant.head.Numbers
}

// nextStamp gives the next stamp.
func (e *Shared) nextStamp(t *tx, least uint64) (uint64, error) {
	if f := t.distant; f.phase == drafting {
		f.guess = true
		f.mark = max(f.mark+1, e.stamp.Load()+1, least)
		return f.mark, nil
	}
	t.distant.head.Stamp = max(t.distant.head.Stamp+1, least)
	return t.distant.head.Stamp, nil
}

// Begin opens a snapshot transaction.
func (e *Shared) Begin(ctx context.Context) (storage.Txn, error) {
	var s *snapshot
	err := e.settled(ctx, func(cat *catalog) (SharedSnapshot, error, error) {
		snap, err := e.store.Hold(ctx, cat.version)
		if snap == nil {
			return unread{}, err, nil
		}
		if err != nil {
			snap.Close()
			return snap, err, err
		}
		t := e.on(context.WithoutCancel(ctx), cat, remote{snap}, &distant{phase: holding, snap: snap, alone: e.store.Alone, sure: e.sure(cat)})
		s = t.snapshot()
		return snap, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// unread stands for a state that could not be had.
type unread struct{ SharedSnapshot }

func (unread) Head() (Head, bool) { return Head{}, false }

func (unread) Lost() bool { return false }

// Stamp changes with every committed change of a collection that is known here.
func (e *Shared) Stamp(ns storage.Namespace) (uint64, error) {
	watched := e.opts.Watched != nil && e.opts.Watched(ns)
	known := e.store.Current() && (watched || e.store.Alone())
	cat, err := e.latestCatalog() // later: what had to be seen is in it
	if err != nil {
		return 0, err
	}
	if !known {
		return 1<<63 | e.strange.Add(1), nil // what others have changed is not known
	}
	c := cat.root.get(ns)
	if c == nil {
		return 0, nil
	}
	return c.stamp + 1, nil
}

// CommitStamp is the greatest stamp that is known.
func (e *Shared) CommitStamp() uint64 { return e.stamp.Load() }

// Changes reports commits of other servers.
func (e *Shared) Changes() <-chan struct{} { return e.store.Changes() }

// Lease reports whether a background job belongs to this server.
func (e *Shared) Lease(job string) bool { return e.store.Lease(job) }

// Snapshots are few: each has a connection of its own, and keeps the database from
// removing old rows.
func (e *Shared) Snapshots() storage.SnapshotLimits {
	return storage.SnapshotLimits{Most: e.opts.Snapshots, Age: time.Minute}
}

// Sync returns when all updates committed before the call are on disk.
func (e *Shared) Sync(ctx context.Context) error {
	if _, err := e.latestCatalog(); err != nil {
		return err
	}
	return e.store.Sync(ctx)
}

// Compact reclaims the space of overwritten and deleted records.
func (e *Shared) Compact(ctx context.Context) error {
	if _, err := e.latestCatalog(); err != nil {
		return err
	}
	return e.store.Compact(ctx)
}

// Stats describes the engine.
func (e *Shared) Stats() (storage.EngineStats, error) {
	st := storage.EngineStats{
		Name:          e.opts.Name,
		Persistent:    e.opts.Persistent,
		Commits:       e.commits.Load(),
		OpenSnapshots: e.snapshots.Load(),
	}
	return st, e.store.Stats(&st)
}

// Close releases everything.
func (e *Shared) Close() (err error) {
	e.once.Do(func() {
		<-e.writer
		defer e.unlockWriter()
		e.naming.Lock()
		e.known.Store(nil)
		e.naming.Unlock()
		e.end()
		err = e.store.Close()
	})
	return err
}
