package bunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Compaction copies the present state into a second log while writers
// continue, then copies their commits, and replaces the old log with the new
// one. BuntDB's own Shrink is not used: it renames without syncing, blocks all
// readers and writers while it copies the tail, and does not know groups.

// compactStep is how many records, and about how many bytes, go into one group
// of the new log. After each group other goroutines may run, and after
// syncBytes the file is synced: one sync at the end would keep the disk busy
// for too long.
const (
	compactStep  = 1000
	compactBytes = 128 << 10
	syncBytes    = 32 << 20
)

// The new log is brought up to date, and synced, before writers have to wait
// for the rest: catchUpRounds times at most, or until no more than fewOps were
// committed meanwhile.
const (
	catchUpRounds = 8
	fewOps        = 4000
)

// Compact reclaims the space of overwritten and deleted records.
func (e *Engine) Compact(ctx context.Context) error {
	e.maintenance.Lock()
	defer e.maintenance.Unlock()
	if e.root.Load() == nil {
		return storage.ErrClosed
	}
	if !e.persistent() {
		return ctx.Err()
	}
	temp := filepath.Join(e.opts.Path, tempName)
	return e.compactWithReserve(func() error {
		err := e.compact(ctx, temp)
		if err != nil {
			_ = os.Remove(temp)
		}
		return err
	})
}

// compact copies the latest state to temp while it collects new commits in
// tail, then swaps the logs. If it fails, the old log stays in use.
func (e *Engine) compact(ctx context.Context, temp string) error {
	var tail [][]op
	if err := e.lockWriter(ctx); err != nil {
		return err
	}
	pinned := e.root.Load()
	e.log.tail, e.log.throttle = &tail, throttle{room: max(e.opts.CompactMinBytes/2, e.sync.fileSize()/4, leastRoom)}
	e.unlockWriter()
	next, err := e.copyLog(ctx, temp, pinned, &tail)
	if err == nil {
		return e.swapLog(next, temp, &tail)
	}
	<-e.writer
	e.log.tail = nil
	e.unlockWriter()
	return err
}

// copyLog writes a state and most of what was committed since to a new log.
func (e *Engine) copyLog(ctx context.Context, temp string, pinned *root, tail *[][]op) (*journal, error) {
	next, err := newJournal(temp, e.disk)
	if err != nil {
		return nil, err
	}
	c := copier{e: e, ctx: ctx, next: next, temp: temp}
	err = c.copyRoot(pinned)
	for i := 0; err == nil && i < catchUpRounds; i++ {
		var groups [][]op
		if groups, err = e.takeTail(ctx, tail); err == nil {
			err = next.replay(groups)
		}
		if err == nil {
			err = e.disk.syncPath(temp)
		}
		if countOps(groups) <= fewOps {
			break
		}
	}
	if err != nil {
		_ = next.close()
		return nil, err
	}
	return next, nil
}

// copier copies a state to a new log.
type copier struct {
	e        *Engine
	ctx      context.Context
	next     *journal
	temp     string // where the new log is
	copied   int
	unsynced int
	commits  int64 // of the engine, before the last group
}

func (c *copier) copyRoot(r *root) error {
	var err error
	r.each(storage.Namespace{}, func(from *coll) bool {
		err = c.copyColl(from)
		return err == nil
	})
	return err
}

// copyColl writes a collection in groups. A partial log is never used, so the
// groups need not be states of the collection. Its catalog entry stands in
// most of them, so that a damaged group loses only its own records.
func (c *copier) copyColl(from *coll) error {
	entry := op{kind: opCatalog, num: from.num, value: catalogDoc(from.info)}
	ops, unnamed := []op{entry}, 0
	if from.savedID != 0 {
		ops = append(ops, op{kind: opLastID, num: from.num, value: makeInt64(int64(from.savedID))})
	}
	var err error
	size := 0
	from.records.Scan(func(id storage.RecordID, stored string) bool {
		ops = append(ops, op{kind: opRecord, num: from.num, id: id, value: stored})
		size += len(stored)
		if len(ops) >= compactStep || size >= compactBytes {
			err = c.write(ops, size)
			unnamed += size
			ops, size = ops[:0], 0
			if unnamed >= catalogShare*len(entry.value) {
				ops, unnamed = append(ops, entry), 0
			}
		}
		return err == nil
	})
	if err == nil && len(ops) > 0 {
		err = c.write(ops, size)
	}
	return err
}

// write writes one group. In a large log, if others have committed meanwhile,
// it then pauses for as long as the group took. A small log would grow during
// the pause by more than the compaction saves.
func (c *copier) write(ops []op, size int) error {
	real := clock.System()
	began := real.Now()
	if err := errors.Join(c.next.commit(ops), c.ctx.Err()); err != nil {
		return err
	}
	c.copied += size
	if c.unsynced += size; c.unsynced >= syncBytes {
		c.unsynced = 0
		if err := c.e.disk.syncPath(c.temp); err != nil {
			return err
		}
	}
	commits := c.e.commits.Load()
	if commits == c.commits || c.copied < restFrom {
		return nil
	}
	c.commits = commits
	rest := real.NewTimer(min(real.Now().Sub(began), restMost))
	defer rest.Stop()
	select {
	case <-rest.C():
	case <-c.ctx.Done():
	}
	return nil
}

// A compaction pauses after each group once it has copied restFrom bytes, for
// at most restMost.
const (
	restFrom = 32 << 20
	restMost = 5 * time.Millisecond
)

// takeTail returns the commits since its last call.
func (e *Engine) takeTail(ctx context.Context, tail *[][]op) ([][]op, error) {
	if err := e.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer e.unlockWriter()
	groups := *tail
	*tail = nil
	return groups, nil
}

func countOps(groups [][]op) (n int) {
	for _, ops := range groups {
		n += len(ops)
	}
	return n
}

func (j *journal) replay(groups [][]op) error {
	for _, ops := range groups {
		if err := j.commit(ops); err != nil {
			return err
		}
	}
	return nil
}

// swapLog brings the new log up to date while writers wait, and replaces the
// old one with it.
func (e *Engine) swapLog(next *journal, temp string, tail *[][]op) error {
	old, written, err := e.replaceLog(next, temp, tail)
	if err == nil {
		e.noteState(written)
	}
	if old != nil {
		_ = old.close() // BuntDB syncs the file, which may take long
	}
	return err
}

// replaceLog is swapLog while writers wait; it returns the old log and the
// part of the new one that is on disk.
func (e *Engine) replaceLog(next *journal, temp string, tail *[][]op) (old *journal, written logState, err error) {
	<-e.writer
	defer e.unlockWriter()
	e.log.tail = nil
	file, err := e.finishCopy(next, temp, *tail)
	if err != nil {
		_ = next.close()
		return nil, written, err
	}
	if info, err := file.Stat(); err == nil {
		written = logState{nonce: next.nonce, commits: next.seq, bytes: info.Size()}
	}
	// A crash must not bring the old log back after a write to the new one has
	// been acknowledged as durable.
	derr := e.disk.syncPath(e.opts.Path)
	if derr != nil {
		derr = fmt.Errorf("%w: sync %s: %w", ErrBroken, e.opts.Path, derr)
	}
	old = e.log
	next.path, next.shift = old.path, old.position()-next.seq
	next.synced = e.sync.synced.Load
	e.log = next
	e.sync.replace(file, derr)
	e.logFailed.Store(derr != nil)
	return old, written, derr
}

// finishCopy writes the end of the new log, syncs and renames it. It returns
// the descriptor to sync it with.
func (e *Engine) finishCopy(next *journal, temp string, tail [][]op) (*os.File, error) {
	if e.root.Load() == nil {
		return nil, storage.ErrClosed
	}
	if err := next.replay(tail); err != nil {
		return nil, err
	}
	file, err := e.disk.open(temp)
	if err != nil {
		return nil, err
	}
	// Sync, write a group that says so, and sync again.
	next.synced = func() uint64 { return next.seq }
	err = e.disk.sync(file)
	if err == nil {
		err = next.finish()
	}
	if err == nil {
		err = e.disk.sync(file)
	}
	path := filepath.Join(e.opts.Path, logName)
	if err == nil {
		err = e.disk.rename(temp, path)
	}
	if err != nil && !isFile(path, file) { // a failed rename may still have renamed it
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// isFile reports whether a path leads to an open file.
func isFile(path string, f *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}

// runMaintenance rewrites a failed log and compacts in the background.
func (e *Engine) runMaintenance() {
	for {
		select {
		case <-e.life.Done():
			return
		case <-e.wake:
		}
		if err := e.tidy(); err != nil && e.life.Err() == nil {
			e.opts.Logger("storage: %v", err)
		}
	}
}

func (e *Engine) wakeMaintenance() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// rewritePause is the least time between attempts to rewrite a failed log.
const rewritePause = time.Second

// rewriteLog writes the log anew from memory after a failure. Memory holds
// exactly the commits that were acknowledged.
func (e *Engine) rewriteLog() error {
	now := clock.System().Now()
	if !e.logFailed.Load() || now.Before(e.rewriteFrom) {
		return nil
	}
	e.rewriteFrom = now.Add(rewritePause)
	if err := e.Compact(e.life); err != nil {
		return fmt.Errorf("cannot rewrite the log: %w", err)
	}
	e.opts.Logger("storage: the log was rewritten after a failure")
	return nil
}

// noteFailure wakes maintenance to rewrite the log, if err is ErrBroken.
func (e *Engine) noteFailure(err error) {
	if errors.Is(err, ErrBroken) {
		e.logFailed.Store(true)
		e.wakeMaintenance()
	}
}

// tidy does the maintenance that is due: it rewrites a failed log, restores
// the reserve, and compacts the log if that is worth it.
func (e *Engine) tidy() error {
	if err := e.rewriteLog(); err != nil {
		return err
	}
	size := e.sync.fileSize()
	e.reserve.ensure(size)
	if !e.worthCompacting(size) || e.awaitsLull(size) {
		return nil
	}
	err := e.Compact(e.life)
	e.compactFrom.Store(0)
	if err != nil { // not again before there is more garbage
		e.compactFrom.Store(size + size/4)
	}
	return err
}

// recordOverhead is the approximate number of bytes of a record in the log
// beside its document.
const recordOverhead = 60

// liveBytes estimates the size of a compacted log.
func (e *Engine) liveBytes() (n int64) {
	r := e.root.Load()
	if r == nil {
		return 0
	}
	r.all(func(c *coll) { n += c.size + int64(c.records.Len())*recordOverhead })
	return n
}
