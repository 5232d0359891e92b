package kv

import (
	"context"
	"errors"
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
	common  core
	store   SharedStore
	known   atomic.Pointer[catalog] // nil when closed
	naming  sync.Mutex              // held while known changes
	writer  chan struct{}           // holds one token: the right to write on this server
	queue   share.Queue
	memory  scratch              // guarded by writer
	fortune fortune              // guarded by writer
	head    atomic.Pointer[Head] // the latest that is known
	recent  recent
	history history  // guarded by writer
	builds  sync.Map // the numbers of the indexes that this server builds
	counts  counts

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

	_ storage.BriefViewer      = (*Shared)(nil)
	_ storage.SnapshotNumberer = (*Shared)(nil)
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

// ErrAgain says that a commit has not happened, and that another try may succeed.
var ErrAgain = errors.New("the commit was not possible")

// OpenShared reads the catalog of a store. The engine closes the store; if it
// fails, the caller does.
func OpenShared(ctx context.Context, store SharedStore, opts Options) (*Shared, error) {
	if opts.Indexer == nil {
		return nil, errors.New("kv: no indexer")
	}
	e := &Shared{store: store, writer: make(chan struct{}, 1)}
	e.common.opts, e.common.host = opts, backendd{e}
	e.provisional.Store(firstProvisional)
	e.head.Store(&Head{})
	e.life, e.end = context.WithCancel(context.Background())
	e.known.Store(&catalog{root: newRoot(), version: -1})
	if err := e.reload(ctx); err != nil {
		e.end()
		return nil, err
	}
	e.writer <- struct{}{}
	store.Follow(e.follow)
	if err := e.clearOrphans(ctx); err != nil && !errors.Is(err, storage.ErrConflict) { // otherwise a later one removes them
		e.end()
		return nil, err
	}
	return e, nil
}

// View runs fn on the latest committed state.
func (e *Shared) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.view(ctx, false, fn)
}

// ViewBriefly implements storage.BriefViewer: a state is chosen for the first read
// alone. If there is a second one, and anything was committed in between, fn starts over.
func (e *Shared) ViewBriefly(ctx context.Context, fn func(storage.Tx) error) error {
	return e.view(ctx, true, fn)
}

func (e *Shared) view(ctx context.Context, brief bool, fn func(storage.Tx) error) error {
	return e.settled(ctx, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version, brief)
		brief = false
		t := e.on(ctx, viewed{remote{snap}, &e.recent}, &dtx{phase: viewing, from: snap, cat: cat})
		defer t.End()
		err := fn(&t.tx)
		return snap, err, t.CheckCatalog()
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
		if n > 1 {
			e.counts.reruns.Add(1)
		}
		cat, err := e.latestCatalog()
		if err != nil {
			return err
		}
		snap, err, unsure := run(cat)
		if snap.Moved() {
			continue
		}
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

// on completes a transaction that reads a state.
func (e *Shared) on(ctx context.Context, snap Snapshot, t *dtx) *dtx {
	t.engine = e
	t.tx.on(ctx, &e.common, newState(t.cat.root, snap, nil), t)
	return t
}

// draft is what a run without the right to commit needs, in one piece of memory.
type draft struct {
	tx      dtx
	state   state
	scratch scratch
	memory  memory
}

// draft runs fn without the right to commit. done says that this was all: it has
// written nothing.
func (e *Shared) draft(ctx context.Context, replays *snapshot, hope bool, fn func(*tx) error) (m *memory, done bool, err error) {
	m, done, err = e.draftWith(ctx, &e.recent, replays, hope, fn)
	if done && m.recent { // no commit makes sure of what it has read
		return e.draftWith(ctx, nil, replays, hope, fn)
	}
	return m, done, err
}

func (e *Shared) draftWith(ctx context.Context, known *recent, replays *snapshot, hope bool, fn func(*tx) error) (m *memory, done bool, err error) {
	brief := replays == nil
	err = e.settled(ctx, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version, brief)
		brief = false
		d := &draft{}
		m = &d.memory
		from := drafted{remote{snap}, m, known, e.store.Alone()}
		d.tx = dtx{engine: e, phase: drafting, from: snap, cat: cat, memory: m, hope: hope, rough: replays != nil && !replays.exact}
		d.state.init(cat.root, from)
		t := &d.tx
		t.tx.on(ctx, &e.common, &d.state, t)
		t.write(&d.scratch)
		defer t.End()
		t.replays = replays
		m.replaying(replays)
		if err := from.foresee(ctx, replays); err != nil {
			return snap, err, nil
		}
		err := fn(&t.tx)
		if done = t.Touched() == 0 && !t.guess; done {
			return snap, err, t.CheckCatalog()
		}
		return snap, nil, nil
	})
	return m, done, err
}

// latest returns the latest state.
func (e *Shared) latest() (*state, error) {
	var s *state
	err := e.settled(e.life, func(cat *catalog) (SharedSnapshot, error, error) {
		snap := e.store.Snapshot(cat.version, false)
		_, err := snap.Read(e.life, &Request{})
		if err != nil {
			snap.Close()
			return snap, err, err
		}
		s = newState(cat.root, remote{snap}, func(ctx context.Context, c *coll) (*coll, error) { return loadFrom(ctx, snap, c) })
		return snap, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Stamp changes with every committed change of a collection that is known here.
func (e *Shared) Stamp(ns storage.Namespace) (uint64, error) {
	watched := e.common.opts.Watched != nil && e.common.opts.Watched(ns)
	current := e.store.Current()
	known := current && (watched || e.store.Alone())
	cat, err := e.latestCatalog() // later: what had to be seen is in it
	if err != nil {
		return 0, err
	}
	c := cat.root.get(ns)
	if c == nil && current {
		return 0, nil // the catalog is always known
	}
	if !known || c == nil {
		return 1<<63 | e.strange.Add(1), nil // what others have changed is not known
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
	return storage.SnapshotLimits{Most: e.common.opts.Snapshots, Age: time.Minute}
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
		Name:          e.common.opts.Name,
		Persistent:    e.common.opts.Persistent,
		Commits:       e.common.commits.Load(),
		CommitTimes:   e.common.times.Counts(),
		OpenSnapshots: e.common.snapshots.Load(),
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

// backend is the engine as its transactions see it.
type backendd struct{ e *Shared }

var _ Backend = backendd{}

// Latest returns the latest state.
func (b backendd) Latest() (*state, error) { return b.e.latest() }

// Number gives the next number in a commit, and otherwise one that is not stored.
func (b backendd) Number(t *tx) uint32 {
	d := of(t)
	if d.phase != committing {
		return b.e.provisional.Add(1)
	}
	d.head.Numbers++
	return d.head.Numbers
}

// NextStamp gives the next stamp.
func (b backendd) NextStamp(t *tx, min uint64) (uint64, error) {
	d := of(t)
	if d.phase == drafting {
		d.guess = true
		d.mark = max(d.mark+1, b.e.stamp.Load()+1, min)
		return d.mark, nil
	}
	d.head.Stamp = max(d.head.Stamp+1, min)
	return d.head.Stamp, nil
}

// Commit commits the writes of an Update.
func (b backendd) Commit(t *tx) error { return b.e.commit(of(t)) }

// Settle waits until the other servers have seen what they must see.
func (b backendd) Settle(t *tx) error {
	if seen := of(t).seen; seen != nil {
		seen()
	}
	return nil
}

// Update runs fn in an Update, which commits a snapshot transaction.
func (b backendd) Update(ctx context.Context, replays *snapshot, fn func(*tx) error) error {
	return b.e.update(ctx, replays, fn)
}
