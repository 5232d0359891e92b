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
)

// Memory is the path of an engine that keeps nothing on disk.
const Memory = ":memory:"

// File names within the data directory.
const (
	logName  = "duskdb.bunt"
	tempName = "duskdb.bunt.new" // a compaction that is not finished
	lockName = "duskdb.lock"
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
	// CompactMinBytes is the size from which the log is compacted by
	// itself, once more than half of it is garbage. 64 MB if 0, never if
	// negative.
	CompactMinBytes int64
	// Repair saves what it can of a damaged log, instead of refusing it.
	// The damaged file is kept.
	Repair bool
	// OrphanIndexes are those of a collection that Repair makes of documents
	// which all have an _id, but of which the collection is not known.
	OrphanIndexes []storage.IndexSpec
	// FileMode is what the files are made with, which hold all data: 0600 if 0,
	// so that they are the owner's alone. An existing log that more people may
	// read is narrowed to it.
	FileMode os.FileMode
	// Progress is told how much of a log has been read while it is opened: at
	// the beginning, after each part of some size, and at the end. It may be nil.
	Progress func(read, size int64)
	// Fault, if not nil, is asked before each step on the disk: "write" of a
	// commit, "open", "sync", "rename", "state" of the state file and
	// "reserve". An error is the outcome of the step.
	// It is for tests.
	Fault func(step, path string) error
	// spans says in tests how large the disk is.
	spans func(dir string) (total, free int64, err error)
	// Logger is told what happens in the background.
	Logger func(format string, args ...any)
}

// Engine is a storage.Engine over BuntDB.
type Engine struct {
	opts     Options
	disk     *disk
	dir      *os.File // the locked lock file
	root     atomic.Pointer[root]
	writer   chan struct{} // holds one token: the right to write
	shared   sharedQueue
	alone    int      // groups of one update in a row; for who has the right to write
	log      *journal // guarded by writer
	sync     *syncer
	scratch  scratch // guarded by writer
	locks    locks
	prepared preparations

	commits      atomic.Int64
	snapshots    atomic.Int64
	recoveredCut int64
	noted        noted
	reserve      reserve
	repair       *Repair // what was repaired on open, nil if nothing

	maintenance sync.Mutex      // held by a compaction
	ailing      atomic.Bool     // the log has failed
	healFrom    time.Time       // when the janitor may try again to heal
	compactFrom atomic.Int64    // size of the log from which to try again to compact
	wake        chan struct{}   // tells the janitor of work
	life        context.Context // ends with Close
	end         context.CancelFunc
	closing     sync.Once
	closeErr    error
	background  sync.WaitGroup
}

var (
	_ storage.Engine = (*Engine)(nil)
	_ storage.Sharer = (*Engine)(nil)
)

// Open opens the engine, after cutting off what a crash left unfinished.
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
	e.background.Go(e.janitor)
	e.wakeJanitor() // there may be much garbage in the log
	return e, nil
}

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

func (e *Engine) open() error {
	path := Memory
	if e.persistent() {
		if err := checkForeign(e.opts.Path); err != nil {
			return err
		}
		if err := os.MkdirAll(e.opts.Path, directoryMode(e.opts.FileMode)); err != nil {
			return err
		}
		var err error
		if e.dir, err = lockDir(e.opts.Path); err != nil {
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

// Repaired tells what Options.Repair did, nil if there was nothing to do.
func (e *Engine) Repaired() *Repair { return e.repair }

// abandon releases what a failed Open had taken.
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
	return e.update(ctx, nil, func(t *tx) error { return fn(t) })
}

func (e *Engine) update(ctx context.Context, replays *snapshot, fn func(*tx) error) error {
	if err := e.lockWriter(ctx); err != nil {
		return err
	}
	defer e.unlockWriter()
	t := e.newTx(ctx, &e.scratch)
	t.replays = replays
	defer func() { t.done = true }()
	if err := fn(t); err != nil {
		return err
	}
	return e.commit(t)
}

// lockWriter waits for the right to write, and for an open engine.
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
		err := e.writeCommit(t, ops)
		t.scratch.release()
		if err != nil {
			return err
		}
		e.commits.Add(1)
	}
	if len(t.changes) == 0 {
		return nil
	}
	t.seal()
	e.root.Store(t.root)
	return nil
}

// writeLog commits a group. The caller has the right to write.
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
	e.log.brake.rest()
	if e.log.grown > e.opts.CompactMinBytes/growthParts && e.opts.CompactMinBytes > 0 {
		e.log.grown = 0
		e.wakeJanitor()
	}
	return nil
}

// growthParts of the least size of a log that is compacted may be written
// before the janitor looks at it again: at full speed, much is written between
// two syncs.
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
func (e *Engine) Stats() storage.EngineStats {
	syncs, failed := e.sync.counts()
	return storage.EngineStats{
		Name:          "bunt",
		Persistent:    e.persistent(),
		FileBytes:     e.sync.fileSize(),
		Commits:       e.commits.Load(),
		Syncs:         syncs,
		SyncErrors:    failed,
		OpenSnapshots: e.snapshots.Load(),
		RecoveredCut:  e.recoveredCut,
	}
}

// Close syncs and releases everything. Writers that are waiting get
// storage.ErrClosed; records that were read stay valid.
func (e *Engine) Close() error {
	e.closing.Do(func() { e.closeErr = e.close() })
	return e.closeErr
}

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
