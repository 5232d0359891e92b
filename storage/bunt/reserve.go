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
)

// Deletes are written to the log, too, and a compaction is a second log: on a
// disk that is full neither could free anything. So the engine keeps a file that
// holds some space. When the disk is full, it is given up for what removes more
// than it adds, and for compactions; whatever else would grow the log is refused
// until the file could be made again.

const reserveName = "duskdb.reserve"

// The reserve is a part of the log and of the file system, within bounds; it
// grows with the log, in powers of two. A log that is small has none.
const (
	reserveOfLog  = 4
	reserveOfDisk = 32
	leastReserve  = 256 << 10
	mostReserve   = 64 << 20
)

// reservePause is the least time between attempts to make the file again.
const reservePause = time.Second

type reserve struct {
	dir  string
	most int64 // that it may grow to; 0: there is none
	disk *disk
	// spent is set while the file is wanted and not there.
	spent atomic.Bool

	mu      sync.Mutex
	held    int64 // bytes of the file, 0: it is not there
	tryFrom time.Time
}

// open finds the file of an earlier process.
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

// wanted is how large the file is to be beside a log of some size.
func (r *reserve) wanted(logSize int64) (n int64) {
	for n = leastReserve; 2*n <= min(r.most, logSize/reserveOfLog); n *= 2 {
	}
	if r.most == 0 || n > logSize/reserveOfLog {
		return 0
	}
	return n
}

func (r *reserve) path() string { return filepath.Join(r.dir, reserveName) }

// ensure makes the file for a log of some size, or makes it larger, and reports
// whether it is as it should be.
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

// release gives the space of the file up, and reports whether there was any.
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

// hurry lets the file be made again at once: there is room.
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

// writeCommit writes the operations of a transaction to the log, within what the
// reserve leaves.
func (e *Engine) writeCommit(t *tx, ops []op) error {
	if e.reserve.spent.Load() && !t.frees(ops) && !e.reserve.ensure(e.sync.fileSize()) {
		return errReserved
	}
	err := e.writeLog(ops)
	if !noSpace(err) || !t.frees(ops) || !e.reserve.release() {
		return err
	}
	e.opts.Logger("storage: the disk is full: deletes use the space reserved in %s", e.reserve.path())
	err = e.writeLog(ops)
	e.wakeJanitor()
	return err
}

// What a transaction may add for it to count as one that frees space: the change
// log notes each delete, and of a document that is moved it has two copies.
const (
	addedShare = 3
	addedEach  = 2 << 10
)

// frees reports whether a transaction is there to remove documents or
// collections. A collection that gains documents in it does not count, so that
// one that is capped does not grow on the reserve.
func (t *tx) frees(ops []op) bool {
	var deletes, removed, added int64
	for _, ch := range t.changes {
		n, bytes := ch.removed()
		deletes, removed = deletes+n, removed+bytes
	}
	if deletes == 0 {
		return false
	}
	for i := range ops {
		added += int64(len(ops[i].value))
	}
	return added <= addedShare*removed+addedEach*deletes
}

// removed counts the deletes of a collection that gains nothing, and their
// bytes.
func (ch *change) removed() (n, bytes int64) {
	switch {
	case ch.base == nil:
		return 0, 0
	case ch.cur == nil:
		return 1, ch.base.size
	}
	for _, id := range ch.dirty {
		_, there := ch.cur.records.Get(id)
		if there && id > ch.base.lastID {
			return 0, 0
		}
		if stored, was := ch.base.records.Get(id); was && !there {
			n, bytes = n+1, bytes+int64(len(stored))
		}
	}
	return n, bytes
}

// compactWithReserve compacts, on a full disk with the space of the reserve. It
// is not begun where that would not do: it would keep deletes from the space.
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

// roomToCompact is how many bytes a compacted log has, about, and how many there
// are for it.
func (e *Engine) roomToCompact() (need, free int64) {
	_, free, err := e.disk.space(e.opts.Path)
	if err != nil {
		return 0, 0 // it is tried
	}
	e.reserve.mu.Lock()
	defer e.reserve.mu.Unlock()
	return e.copyBytes(), free + e.reserve.held
}

// opOverhead is about what an operation takes in the log beside its value.
const opOverhead = 16

// copyBytes is about the size of a compacted log.
func (e *Engine) copyBytes() (n int64) {
	if r := e.root.Load(); r != nil {
		r.colls.Scan(func(ce catalogEntry) bool {
			n += ce.coll.size + int64(ce.coll.records.Len())*opOverhead + ce.coll.entrySize
			return true
		})
	}
	return n
}

// finishLog closes the log in order. On a full disk that is not possible without
// the reserve; the log is as good without it.
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

// worthCompacting reports whether a log of some size should be compacted: for
// what is garbage in it, once it is large, or already when the disk is full.
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
