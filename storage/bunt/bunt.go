package bunt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// Name is the name of the engine.
const Name = "bunt"

// LogName is the file that makes a directory one of this engine, StateName
// another that remains when the log is lost.
const (
	LogName   = logName
	StateName = stateName
)

// Memory is the path of an engine that keeps nothing on disk.
const Memory = ":memory:"

// File names within the data directory.
const (
	logName  = datadir.Bunt
	tempName = "duskdb.bunt.new" // a compaction that is not finished
	lockName = datadir.LockName
)

// DefaultJournalInterval is how long a write may wait to be synced.
const DefaultJournalInterval = 100 * time.Millisecond

// Options open an engine.
type Options struct {
	// Path is the data directory, made if missing, or Memory.
	Path string
	// Clock wakes the background syncer. The system clock if nil.
	Clock clock.Clock
	// Indexer gives meaning to index specifications. Required.
	Indexer storage.Indexer
	// JournalInterval is the longest time between a commit and its sync;
	// DefaultJournalInterval if 0.
	JournalInterval time.Duration
	// CompactMinBytes is the least size at which the engine compacts the log in
	// the background, once more than half of it is garbage. While much is written,
	// the log may grow to twice this size. 64 MB if 0; if negative, the log is
	// never compacted in the background.
	CompactMinBytes int64
	// Repair salvages the readable part of a damaged log instead of refusing it.
	// The damaged file is kept.
	Repair bool
	// OrphanIndexes are the indexes of a collection that Repair creates for
	// documents whose collection is not known, if all of them have an _id.
	OrphanIndexes []storage.IndexSpec
	// FileMode is the mode of the files, which hold all data: 0600 if 0, so that
	// only the owner can read them. The mode of an existing log that others can
	// read is narrowed to it.
	FileMode os.FileMode
	// Progress is called while a log is read, with the number of bytes read so
	// far: at the beginning, at intervals, and at the end. It may be nil.
	Progress func(read, size int64)
	// Indexing is called while the indexes are built after that, with the number
	// of steps done: at the beginning and at intervals. Several goroutines call
	// it, in any order. It may be nil.
	Indexing func(done, total int64)
	// Fault, if not nil, is called before each operation on the disk: "read" of
	// a part of the log on open, "write" of a commit, "open", "sync", "rename",
	// "state" of the state file and "reserve". If it returns an error, the
	// operation fails with it. It is for tests.
	Fault func(step, path string) error
	// spans returns the size of the disk in tests.
	spans func(dir string) (total, free int64, err error)
	// Logger receives messages about background work.
	Logger func(format string, args ...any)
}

// Engine is a storage.Engine over BuntDB.
type Engine struct {
	storage.Alone
	storage.ChangeNotes
	opts     Options
	disk     *disk
	dir      *os.File // the locked lock file
	root     atomic.Pointer[root]
	writer   chan struct{} // holds one token: the right to write
	shared   share.Queue
	log      *journal // guarded by writer
	sync     *syncer
	scratch  scratch // guarded by writer
	stamps   uint64  // the last stamp that a commit has given; guarded by writer
	claims   claims.Table
	prepared preparations

	versions     atomic.Uint64 // of descriptions of collections
	commits      atomic.Int64
	commitTimes  storage.Durations
	snapshots    atomic.Int64
	recoveredCut int64
	noted        noted
	reserve      reserve
	repair       *Repair // the result of a repair on open, or nil

	maintenance sync.Mutex      // held by a compaction
	logFailed   atomic.Bool     // the log has failed
	rewriteFrom time.Time       // when maintenance may try again to rewrite the log
	compactFrom atomic.Int64    // size of the log at which to try again to compact
	lull        lull            // that a compaction waits for
	wake        chan struct{}   // wakes the maintenance goroutine
	life        context.Context // ends with Close
	end         context.CancelFunc
	closing     sync.Once
	closeErr    error
	background  sync.WaitGroup
}

var (
	_ storage.Engine       = (*Engine)(nil)
	_ storage.Sharer       = (*Engine)(nil)
	_ storage.ChangeLister = (*Engine)(nil)
)

// Open opens the engine. It removes an incomplete commit that a crash left at
// the end of the log.
func Open(opts Options) (*Engine, error) {
	if opts.Indexer == nil {
		return nil, errors.New("bunt: no indexer")
	}
	if opts.Path == "" {
		return nil, errors.New("bunt: no path")
	}
	opts.setDefaults()
	e := &Engine{
		opts:   opts,
		disk:   &disk{fault: opts.Fault, mode: opts.FileMode, spans: opts.spans},
		writer: make(chan struct{}, 1),
		wake:   make(chan struct{}, 1),
	}
	e.life, e.end = context.WithCancel(context.Background())
	e.writer <- struct{}{}
	if err := e.open(); err != nil {
		e.abandon()
		return nil, err
	}
	e.background.Go(e.syncInBackground)
	e.background.Go(e.runMaintenance)
	e.wakeMaintenance() // there may be much garbage in the log
	return e, nil
}

// setDefaults replaces the zero values of options by their defaults.
func (o *Options) setDefaults() {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.JournalInterval <= 0 {
		o.JournalInterval = DefaultJournalInterval
	}
	if o.CompactMinBytes == 0 {
		o.CompactMinBytes = 64 << 20
	}
	if o.FileMode == 0 {
		o.FileMode = ownFile
	}
	if o.Logger == nil {
		o.Logger = func(string, ...any) {}
	}
}

// persistent reports whether there is anything on disk.
func (e *Engine) persistent() bool { return e.opts.Path != Memory }

// open locks the data directory, reads or repairs the log, and prepares the
// syncer.
func (e *Engine) open() error {
	path := Memory
	if e.persistent() {
		if err := os.MkdirAll(e.opts.Path, directoryMode(e.opts.FileMode)); err != nil {
			return err
		}
		var err error
		if e.dir, err = datadir.Lock(e.opts.Path); err != nil {
			return err
		}
		if err := removeIfThere(filepath.Join(e.opts.Path, tempName)); err != nil {
			return err
		}
		path = filepath.Join(e.opts.Path, logName)
		if err := e.disk.narrow(path); err != nil {
			e.opts.Logger("storage: %v", err)
		}
		e.reserve.open(e.opts.Path, e.disk)
	}
	if err := e.openLog(path); err != nil {
		return err
	}
	if e.repair != nil {
		e.opts.Logger("storage: %v", e.repair)
		for _, line := range e.repair.Details() {
			e.opts.Logger("storage: lost: %s", line)
		}
	}
	return nil
}

// Repaired returns the result of Options.Repair, or nil if the log needed no
// repair.
func (e *Engine) Repaired() *Repair { return e.repair }

// abandon releases the resources of a failed Open.
func (e *Engine) abandon() {
	e.end()
	if e.sync != nil {
		e.sync.close()
	}
	if e.log != nil {
		_ = e.log.close()
	}
	if e.dir != nil {
		_ = e.dir.Close()
	}
}

// View runs fn on the latest committed state.
func (e *Engine) View(ctx context.Context, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &tx{e: e, ctx: ctx, root: e.root.Load()}
	if t.root == nil {
		return storage.ErrClosed
	}
	defer func() { t.done = true }()
	return fn(t)
}

// Update runs fn as the only writer and commits unless it fails.
func (e *Engine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.update(ctx, func(t *tx) error { return fn(t) })
}

func (e *Engine) update(ctx context.Context, fn func(*tx) error) error {
	if err := e.lockWriter(ctx); err != nil {
		return err
	}
	defer e.unlockWriter()
	t := e.newTx(ctx, &e.scratch)
	defer func() { t.done = true }()
	if err := fn(t); err != nil {
		return err
	}
	return e.commit(t)
}

// lockWriter waits for the write lock, and for an open engine.
func (e *Engine) lockWriter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-e.writer:
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.root.Load() == nil {
		e.unlockWriter()
		return storage.ErrClosed
	}
	return nil
}

func (e *Engine) unlockWriter() { e.writer <- struct{}{} }

// commit writes to the log and then publishes the new state.
func (e *Engine) commit(t *tx) error {
	if ops := t.ops(); len(ops) > 0 {
		began := clock.System().Now()
		err := e.writeCommit(t, ops)
		t.scratch.release()
		if err != nil {
			return err
		}
		took := clock.System().Now().Sub(began)
		e.log.took(took)
		e.commitTimes.Observe(took)
		e.commits.Add(1)
	}
	if len(t.changes) == 0 {
		return nil
	}
	e.stamps++
	t.seal(e.stamps)
	e.root.Store(t.root)
	for _, ch := range t.changes {
		ch.note(&e.ChangeNotes)
		*ch = change{}
	}
	return nil
}

// Stamp changes with every committed change of a collection. 1 is the stamp of
// those that have not changed since the engine was opened.
func (e *Engine) Stamp(ns storage.Namespace) (uint64, error) {
	r := e.root.Load()
	if r == nil {
		return 0, storage.ErrClosed
	}
	c := r.get(ns)
	if c == nil {
		return 0, nil
	}
	return c.stamp + 1, nil
}

// writeLog commits a group. The caller holds the write lock.
func (e *Engine) writeLog(ops []op) error {
	err := e.sync.failure()
	if err == nil {
		err = e.log.commit(ops)
	}
	if err != nil {
		e.noteFailure(err)
		return err
	}
	e.sync.committed(e.log.position())
	e.log.throttle.rest()
	if e.log.grown > e.opts.CompactMinBytes/growthParts && e.opts.CompactMinBytes > 0 {
		e.log.grown = 0
		e.wakeMaintenance()
	}
	return nil
}

// growthParts is the divisor of Options.CompactMinBytes that gives the number
// of bytes after which maintenance checks the size of the log again. A check
// at each sync would be too late: at full speed much is written between two
// syncs.
const growthParts = 8

// Sync returns when all updates committed before the call are on disk.
func (e *Engine) Sync(ctx context.Context) error {
	if e.root.Load() == nil {
		return storage.ErrClosed
	}
	err := e.sync.wait(ctx)
	if err != nil {
		e.noteFailure(err)
	}
	return err
}

// Stats describes the engine.
func (e *Engine) Stats() (storage.EngineStats, error) {
	syncs, failed := e.sync.counts()
	return storage.EngineStats{
		Resident:      true,
		Name:          Name,
		Persistent:    e.persistent(),
		FileBytes:     e.sync.fileSize(),
		Commits:       e.commits.Load(),
		Syncs:         syncs,
		SyncErrors:    failed,
		OpenSnapshots: e.snapshots.Load(),
		RecoveredCut:  e.recoveredCut,
		CommitTimes:   e.commitTimes.Counts(),
		SyncTimes:     e.sync.times.Counts(),
	}, nil
}

// Snapshots are the limits of the contract: a snapshot costs what was changed
// since.
func (e *Engine) Snapshots() storage.SnapshotLimits { return storage.DefaultSnapshots }

// Close syncs and releases everything. Waiting writers get storage.ErrClosed;
// records that were read stay valid.
func (e *Engine) Close() error {
	e.closing.Do(func() { e.closeErr = e.close() })
	return e.closeErr
}

// close stops the background work, writes what has not been synced and
// releases the files. It runs once.
func (e *Engine) close() error {
	e.end()
	e.background.Wait()
	<-e.writer
	defer e.unlockWriter()
	e.root.Store(nil)
	err := e.sync.wait(context.Background())
	if err == nil {
		err = e.finishLog()
	}
	e.sync.close()
	err = errors.Join(err, e.log.close())
	if err == nil && e.persistent() {
		err = e.noteNewLog()
	}
	if e.dir != nil {
		err = errors.Join(err, e.dir.Close())
	}
	return err
}
