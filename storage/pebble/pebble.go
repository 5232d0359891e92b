// Package pebble is the storage engine for data that do not fit in memory: an
// ordered key-value store on disk, github.com/cockroachdb/pebble, below
// package kv.
//
// # Durability
//
// A commit is written to the file system before it is acknowledged, so that it
// survives the end of the process, and is synced within the journal interval:
// what Pebble takes for a sync of its log only writes it (see walFile), and
// Sync and a background goroutine sync it.
//
// # Failures
//
// Pebble ends the process when its log or its manifest cannot be written. Here
// the engine fails instead: reads go on, and writes get [ErrBroken] until it is
// opened again. Before the disk is full, writes that need more space than they
// free are refused with the system's error. If there is no space for a table, all
// are, until there is.
package pebble

import (
	"errors"
	"os"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Memory is the path of an engine that keeps nothing on disk.
const Memory = ":memory:"

// DefaultJournalInterval is how long a write may wait to be synced.
const DefaultJournalInterval = 100 * time.Millisecond

// DefaultCacheBytes is the size of the cache for blocks of the tables.
const DefaultCacheBytes = 256 << 20

// ErrBroken is returned for writes after a failure that leaves the state of
// the files unknown. Reads still work. Writes work again after a restart.
var ErrBroken = errors.New("a write to the log failed; writes are refused until the server is restarted")

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
	// CacheBytes is the memory for blocks of the tables, for recent writes and for
	// records that are read again and again; DefaultCacheBytes if 0.
	CacheBytes int64
	// FileMode is the mode of the files, which hold all data: 0600 if 0, so that
	// only the owner can read them.
	FileMode os.FileMode
	// Fault, if not nil, is called before each operation on the disk: "create",
	// "write", "sync", "rename" or "remove". If it returns an error, the operation
	// fails with it. It is for tests.
	Fault func(step, path string) error
	// Logger receives messages about background work.
	Logger   func(format string, args ...any)
	readOnly bool                                   // nothing is written; for Check
	gapKeys  int                                    // the option of kv.Options; defaultGapKeys if 0
	walked   func(keys int)                         // called when an iterator is closed; may be nil
	usage    func() (total, free uint64, err error) // use of the disk; nil: the file system's
}

// setDefaults replaces the zero values of options by their defaults.
func (o *Options) setDefaults() {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.JournalInterval <= 0 {
		o.JournalInterval = DefaultJournalInterval
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.FileMode == 0 {
		o.FileMode = datadir.OwnFile
	}
	if o.gapKeys == 0 {
		o.gapKeys = defaultGapKeys
	}
	if o.Logger == nil {
		o.Logger = func(string, ...any) {}
	}
}

// defaultGapKeys is the number of deleted keys that a scan may walk over each time.
const defaultGapKeys = 64

// valueCacheBytes is the part of the cache for single records.
func (o *Options) valueCacheBytes() int64 { return o.CacheBytes / 8 }

// Engine is a storage.Engine over Pebble.
type Engine struct {
	*kv.Engine
	store *store
}

var (
	_ storage.Engine        = (*Engine)(nil)
	_ storage.Sharer        = (*Engine)(nil)
	_ storage.IndexPreparer = (*Engine)(nil)
	_ storage.Backuper      = (*Engine)(nil)
)

// Lost says what the end of the log had lost before the engine was opened, if that is known;
// "" if nothing is known to be lost.
func (e *Engine) Lost() string { return e.store.lost }

// Open opens the engine.
func Open(opts Options) (*Engine, error) {
	if opts.Indexer == nil {
		return nil, errors.New("pebble: no indexer")
	}
	if opts.Path == "" {
		return nil, errors.New("pebble: no path")
	}
	opts.setDefaults()
	s, err := openStore(opts)
	if err != nil {
		return nil, err
	}
	e, err := kv.Open(s, kv.Options{Name: "pebble", Persistent: s.persistent(), Indexer: opts.Indexer, ValueCacheBytes: opts.valueCacheBytes(), ReadOnly: opts.readOnly, GapKeys: opts.gapKeys, RetrySingly: noSpace})
	if errors.Is(err, storage.ErrDamaged) {
		err = &DamageError{Dir: opts.Path, Err: err}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Engine{Engine: e, store: s}, nil
}
