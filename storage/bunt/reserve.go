package bunt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Deletes are written to the log too, and a compaction writes a second log: on
// a full disk neither could free space. So the engine keeps a file that
// reserves some space. When the disk is full, it deletes this file for commits
// that remove more than they add, and for compactions. Everything else that
// would grow the log is refused until the file can be created again.

const reserveName = "duskdb.reserve"

// The size of the reserve is a fraction of the log and of the file system,
// within bounds; it grows with the log, in powers of two. A small log has no
// reserve.
const (
	reserveOfLog  = 4
	reserveOfDisk = 32
	leastReserve  = 256 << 10
	mostReserve   = 64 << 20
)

// reservePause is the least time between attempts to create the file again.
const reservePause = time.Second

type reserve struct {
	dir  string
	most int64 // largest size of the file; 0: no reserve
	disk *disk
	// spent is set while the file should exist but does not.
	spent atomic.Bool

	mu      sync.Mutex
	held    int64 // size of the file; 0: it does not exist
	tryFrom time.Time
}

// open looks for the file of an earlier process.
func (r *reserve) open(dir string, d *disk) {
	total, _, err := d.space(dir)
	if err != nil {
		return // a file system that does not say how large it is
	}
	r.dir, r.disk = dir, d
	r.most = min(max(total/reserveOfDisk, leastReserve), mostReserve)
	if info, err := os.Stat(r.path()); err == nil {
		r.held = info.Size()
	}
}

// wanted returns the size that the file should have for a log of the given
// size.
func (r *reserve) wanted(logSize int64) (n int64) {
	for n = leastReserve; 2*n <= min(r.most, logSize/reserveOfLog); n *= 2 {
	}
	if r.most == 0 || n > logSize/reserveOfLog {
		return 0
	}
	return n
}

func (r *reserve) path() string { return filepath.Join(r.dir, reserveName) }

// ensure creates or enlarges the file for a log of the given size, and reports
// whether the file has the wanted size.
func (r *reserve) ensure(logSize int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := r.wanted(logSize)
	if r.held >= size {
		r.spent.Store(false)
		return true
	}
	now := clock.System().Now()
	if now.Before(r.tryFrom) {
		return false
	}
	err := r.disk.at("reserve", r.path())
	if err == nil {
		err = allocate(r.path(), size)
	}
	if err == nil {
		r.held = size
	} else {
		r.tryFrom = now.Add(reservePause)
	}
	if r.held == 0 {
		_ = os.Remove(r.path())
	}
	r.spent.Store(noSpace(err) && r.held == 0)
	return !r.spent.Load()
}

// release deletes the file to free its space, and reports whether there was
// one.
func (r *reserve) release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == 0 || os.Remove(r.path()) != nil {
		return false
	}
	r.held = 0
	r.tryFrom = clock.System().Now().Add(reservePause)
	r.spent.Store(true)
	return true
}

// hurry allows the file to be created again at once, because there is room.
func (r *reserve) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tryFrom = time.Time{}
}

// noSpace reports whether a step failed because the disk, or the quota of the
// user, is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// errReserved refuses a commit that would grow the log.
var errReserved = fmt.Errorf("%w: the remaining space is reserved for deletes, drops and compactions", syscall.ENOSPC)

// writeCommit writes the operations of a transaction to the log, and refuses
// them if only the reserve has space for them.
func (e *Engine) writeCommit(s *store, w *kv.WriteSet) error {
	if e.reserve.spent.Load() && !s.frees(w) && !e.reserve.ensure(e.sync.fileSize()) {
		return errReserved
	}
	err := e.writeLog(s.ops)
	if !noSpace(err) || !s.frees(w) || !e.reserve.release() {
		return err
	}
	e.opts.Logger("storage: the disk is full: deletes use the space reserved in %s", e.reserve.path())
	err = e.writeLog(s.ops)
	e.wakeMaintenance()
	return err
}

// The limits on what a transaction may add while it still counts as one that
// frees space: the change log records each delete, and has two copies of a
// document that is moved.
const (
	addedShare = 3
	addedEach  = 2 << 10
)

// compactWithReserve compacts; on a full disk it uses the space of the
// reserve. It does not start if that space is not enough, because the space is
// then better used for deletes.
func (e *Engine) compactWithReserve(fn func() error) error {
	if need, free := e.roomToCompact(); free < need {
		return fmt.Errorf("%w: a compaction needs about %d bytes, and %d are free", syscall.ENOSPC, need, free)
	}
	err := fn()
	if noSpace(err) && e.reserve.release() {
		err = fn()
	}
	if err == nil {
		e.reserve.hurry()
	}
	e.reserve.ensure(e.sync.fileSize())
	return err
}

// roomToCompact returns the approximate size of a compacted log and the free
// space for it.
func (e *Engine) roomToCompact() (need, free int64) {
	_, free, err := e.disk.space(e.opts.Path)
	if err != nil {
		return 0, 0 // unknown: the caller tries
	}
	e.reserve.mu.Lock()
	defer e.reserve.mu.Unlock()
	return e.copyBytes(), free + e.reserve.held
}

// opOverhead is the approximate number of bytes of an operation in the log
// beside its value.
const opOverhead = 16

// copyBytes estimates the size of a compacted log.
func (e *Engine) copyBytes() int64 {
	records, bytes := e.RecordBytes()
	return bytes + records*opOverhead + e.store.snapshot().CatalogBytes()
}

// finishLog closes the log properly. On a full disk it uses the reserve; if
// that fails as well, the log is still valid.
func (e *Engine) finishLog() error {
	err := e.log.finish()
	if noSpace(err) && e.reserve.release() {
		err = e.log.finish()
	}
	if noSpace(err) {
		e.opts.Logger("storage: the log was not closed properly: %v", err)
		err = nil
	}
	return err
}

// worthCompacting reports whether a log of the given size should be compacted:
// if it is large and has much garbage, or if the disk is full.
func (e *Engine) worthCompacting(size int64) bool {
	least := max(e.opts.CompactMinBytes, e.compactFrom.Load())
	if e.opts.CompactMinBytes < 0 {
		least = math.MaxInt64
	}
	if !e.reserve.spent.Load() && size < least || size < 2*e.liveBytes() {
		return false
	}
	need, free := e.roomToCompact()
	return free >= need
}
