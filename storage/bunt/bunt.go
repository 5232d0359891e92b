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
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/kv"
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
	// maxReopened replaces the constant in tests, if it is not 0.
	maxReopened int64
	// spans returns the size of the disk in tests.
	spans func(dir string) (total, free int64, err error)
	// Logger receives messages about background work.
	Logger func(format string, args ...any)
}

// Engine is a storage.Engine in memory with a log on disk.
type Engine struct {
	*kv.Engine
	store *store

	opts Options
	disk *disk
	dir  *os.File // the locked lock file
	log  *journal // guarded by store.mu
	sync *syncer

	commits      atomic.Int64 // written to the log
	recoveredCut int64        // bytes of an incomplete commit that were removed on open
	noted        noted
	reserve      reserve
	repair       *Repair // the result of a repair on open, or nil

	maintenance sync.Mutex      // held by a compaction
	logFailed   atomic.Bool     // the log has failed
	rewriteFrom time.Time       // when maintenance may try again to rewrite the log
	compactFrom atomic.Int64    // size of the log at which to try again to compact
	lull        lull            // what a compaction waits for
	wake        chan struct{}   // wakes the maintenance goroutine
	life        context.Context // ends with Close
	end         context.CancelFunc
	background  sync.WaitGroup
}

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
		opts: opts,
		disk: &disk{fault: opts.Fault, mode: opts.FileMode, spans: opts.spans},
		wake: make(chan struct{}, 1),
	}
	e.life, e.end = context.WithCancel(context.Background())
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
		e.narrowAll(path)
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

// narrowAll removes permissions of the files of a log that new files do not have.
func (e *Engine) narrowAll(base string) {
	numbers, _ := numbersOf(base) // opening the files reports an error
	for _, n := range append([]uint32{0}, numbers...) {
		if err := e.disk.narrow(segmentPath(base, n)); err != nil {
			e.opts.Logger("storage: %v", err)
		}
	}
}

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

// writeLog commits a group. The caller holds the lock of the store.
func (e *Engine) writeLog(ops []op) error {
	err := e.sync.failure()
	if err == nil {
		err = e.log.commit(ops)
	}
	if err != nil {
		e.noteFailure(err)
		return err
	}
	e.sync.committed(e.log.seq)
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

// Close stops the background work, syncs and releases everything. Waiting writers get
// storage.ErrClosed; records that were read stay valid.
func (e *Engine) Close() error {
	e.end()
	e.background.Wait()
	return e.Engine.Close()
}

// closeLog writes what has not been synced and releases the files. It runs once, when no
// writer is left.
func (e *Engine) closeLog() error {
	e.maintenance.Lock()
	defer e.maintenance.Unlock()
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
