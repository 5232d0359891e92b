package kvshared

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// Engine is a storage.Engine over a store that several servers use. See the page of the
// package for how its parts work together.
type Engine struct {
	common  kv.Common
	store   Store
	known   knowledge
	writer  writer
	lookups lookupCache
	changes changes
	builds  sync.Map // the numbers of the indexes that this server builds
	counts  counts

	provisional atomic.Uint32 // the last number of what is not committed

	life context.Context // ends with Close
	end  context.CancelFunc
	once sync.Once
}

// writer is what belongs to the commits of this server, one after the other.
type writer struct {
	token chan struct{} // holds one token: the right to write on this server
	queue share.Queue   // the updates that wait for it; has locks of its own

	// Guarded by the token:
	scratch kv.Scratch // memory that one transaction after the other uses
	backoff backoff    // whether to try without the lock
	history history    // the last commits of this server
}

var (
	_ storage.Engine = (*Engine)(nil)
	_ storage.Sharer = (*Engine)(nil)

	_ storage.BriefViewer      = (*Engine)(nil)
	_ storage.SnapshotNumberer = (*Engine)(nil)
	_ storage.ReadingTeller    = (*Engine)(nil)
)

// firstProvisional is the first number that is never stored: transactions that
// have not committed yet use such numbers for what they create.
const firstProvisional = 1 << 30

// isStored reports whether the number of a collection or an index is not provisional.
func isStored(num uint32) bool { return num < firstProvisional }

// ErrAgain is the error of a commit that was not applied and may be retried.
var ErrAgain = errors.New("the commit was not possible")

// Open reads the catalog of a store. The engine closes the store; if it
// fails, the caller does.
func Open(ctx context.Context, store Store, opts kv.Options) (*Engine, error) {
	if opts.Indexer == nil {
		return nil, errors.New("kv: no indexer")
	}
	e := &Engine{store: store}
	e.writer.token = make(chan struct{}, 1)
	e.common.Options, e.common.Backend = opts, backend{e}
	e.provisional.Store(firstProvisional)
	e.known.head.Store(&Head{})
	e.life, e.end = context.WithCancel(context.Background())
	e.known.catalog.Store(&catalog{root: kv.NewRoot(), version: -1})
	if err := e.reload(ctx); err != nil {
		e.end()
		return nil, err
	}
	e.writer.token <- struct{}{}
	store.Follow(e.follow)
	if err := e.clearOrphans(ctx); err != nil && !errors.Is(err, storage.ErrConflict) { // otherwise a later one removes them
		e.end()
		return nil, err
	}
	return e, nil
}

// View runs fn on the latest committed state.
func (e *Engine) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.view(ctx, false, fn)
}

// ViewBriefly implements storage.BriefViewer: a state is chosen for the first read
// alone. If there is a second one, and anything was committed in between, fn starts over.
func (e *Engine) ViewBriefly(ctx context.Context, fn func(storage.Tx) error) error {
	return e.view(ctx, true, fn)
}

func (e *Engine) view(ctx context.Context, brief bool, fn func(storage.Tx) error) error {
	return e.withCatalog(ctx, func(cat *catalog) (Snapshot, error, error) {
		snap := e.store.Snapshot(cat.version, brief)
		brief = false
		t := e.on(ctx, cachingState{remoteState{snap}, &e.lookups}, &tx{phase: viewing, state: snap, catalog: cat})
		defer t.End()
		err := fn(&t.Tx)
		return snap, err, t.CheckCatalog()
	})
}

// maxRuns bounds how often something runs because the catalog has changed.
const maxRuns = 50

// withCatalog runs something until it has had the right catalog. run returns the
// error of what it has run, and that of making sure of the catalog.
func (e *Engine) withCatalog(ctx context.Context, run func(*catalog) (Snapshot, error, error)) error {
	var pause storage.Backoff
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > 1 {
			e.counts.reruns.Add(1)
		}
		cat, err := e.known.latest()
		if err != nil {
			return err
		}
		snap, err, unsure := run(cat)
		if snap.Moved() {
			continue
		}
		if h, ok := snap.Head(); ok {
			e.known.learn(h)
			if h.Catalog <= cat.version {
				return err
			}
			unsure = ErrStale
		}
		if unsure == nil && snap.Lost() {
			unsure = err
		}
		if n == maxRuns || unsure == nil {
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

func (e *Engine) wait(ctx context.Context, pause *storage.Backoff) error {
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
func (e *Engine) on(ctx context.Context, snap kv.Snapshot, t *tx) *tx {
	t.engine = e
	t.Init(ctx, &e.common, kv.NewState(t.catalog.root, snap, nil), t)
	return t
}

// latest returns the latest state.
func (e *Engine) latest() (*kv.State, error) {
	var s *kv.State
	err := e.withCatalog(e.life, func(cat *catalog) (Snapshot, error, error) {
		snap := e.store.Snapshot(cat.version, false)
		_, err := snap.Read(e.life, &Request{})
		if err != nil {
			snap.Close()
			return snap, err, err
		}
		s = kv.NewState(cat.root, remoteState{snap}, func(ctx context.Context, c *kv.Coll) (*kv.Coll, error) { return loadFrom(ctx, snap, c) })
		return snap, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Stamp changes with every committed change of a collection that is known here.
func (e *Engine) Stamp(ns storage.Namespace) (uint64, error) {
	watched := e.common.Options.Watched != nil && e.common.Options.Watched(ns)
	current := e.store.Current()
	known := current && (watched || e.store.Alone())
	cat, err := e.known.latest() // later: what had to be seen is in it
	if err != nil {
		return 0, err
	}
	c := cat.root.Get(ns)
	if c == nil && current {
		return 0, nil // the catalog is always known
	}
	if !known || c == nil {
		return 1<<63 | e.known.foreignStamps.Add(1), nil // what others have changed is not known
	}
	return c.Stamp + 1, nil
}

// CommitStamp is the greatest stamp that is known.
func (e *Engine) CommitStamp() uint64 { return e.known.stamp.Load() }

// Changes reports commits of other servers.
func (e *Engine) Changes() <-chan struct{} { return e.store.Changes() }

// Lease reports whether a background job belongs to this server.
func (e *Engine) Lease(job string) bool { return e.store.Lease(job) }

// Snapshots are few: each has a connection of its own, and keeps the database from
// removing old rows.
func (e *Engine) Snapshots() storage.SnapshotLimits {
	return storage.SnapshotLimits{Max: e.common.Options.Snapshots, MaxAge: time.Minute, Linger: time.Second / 2}
}

// Sync returns when all updates committed before the call are on disk.
func (e *Engine) Sync(ctx context.Context) error {
	if _, err := e.known.latest(); err != nil {
		return err
	}
	return e.store.Sync(ctx)
}

// Compact reclaims the space of overwritten and deleted records.
func (e *Engine) Compact(ctx context.Context) error {
	if _, err := e.known.latest(); err != nil {
		return err
	}
	return e.store.Compact(ctx)
}

// Stats describes the engine.
func (e *Engine) Stats() (storage.EngineStats, error) {
	st := storage.EngineStats{
		Name:          e.common.Options.Name,
		Persistent:    e.common.Options.Persistent,
		Commits:       e.common.Commits.Load(),
		CommitTimes:   e.common.CommitTimes.Counts(),
		OpenSnapshots: e.common.OpenTxns.Load(),
	}
	return st, e.store.Stats(&st)
}

// Close releases everything.
func (e *Engine) Close() (err error) {
	e.once.Do(func() {
		<-e.writer.token
		defer e.unlockWriter()
		e.known.close()
		e.end()
		err = e.store.Close()
	})
	return err
}

// backend is the engine as its transactions see it.
type backend struct{ e *Engine }

var _ kv.Backend = backend{}

// Latest returns the latest state.
func (b backend) Latest() (*kv.State, error) { return b.e.latest() }

// Number gives the next number in a commit, and otherwise one that is not stored.
func (b backend) Number(t *kv.Tx) uint32 {
	d := clusterTx(t)
	if d.phase != committing {
		return b.e.provisional.Add(1)
	}
	d.head.Numbers++
	return d.head.Numbers
}

// NextStamp gives the next stamp.
func (b backend) NextStamp(t *kv.Tx, min uint64) (uint64, error) {
	d := clusterTx(t)
	if d.phase == dryRunning {
		d.unverified = true
		d.lastStamp = max(d.lastStamp+1, b.e.known.stamp.Load()+1, min)
		return d.lastStamp, nil
	}
	d.head.Stamp = max(d.head.Stamp+1, min)
	return d.head.Stamp, nil
}

// Commit commits the writes of an Update.
func (b backend) Commit(t *kv.Tx) error { return b.e.commit(clusterTx(t)) }

// Finish waits until the other servers have seen what they must see.
func (b backend) Finish(t *kv.Tx) error {
	if seen := clusterTx(t).awaitSeen; seen != nil {
		seen()
	}
	return nil
}

// Update runs fn in an Update, which commits a snapshot transaction.
func (b backend) Update(ctx context.Context, replays *kv.Txn, fn func(*kv.Tx) error) error {
	return b.e.update(ctx, replays, fn)
}
