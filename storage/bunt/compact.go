package bunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
	"github.com/duskdb/duskdb/value"
)

// Compaction writes the present state to a new base of the log, while writers go on in a file
// behind it. BuntDB's own Shrink is not used: it renames without syncing, blocks all
// readers and writers while it copies what came meanwhile, and does not know groups.

// compactStep is how many records, and about how many bytes, go into one group
// of the new log. After each group other goroutines may run, and after
// syncBytes the file is synced: one sync at the end would keep the disk busy
// for too long.
const (
	compactStep  = 1000
	compactBytes = 128 << 10
	syncBytes    = 32 << 20
)

// compactNow reclaims the space of overwritten and deleted records.
func (e *Engine) compactNow(ctx context.Context) error {
	e.maintenance.Lock()
	defer e.maintenance.Unlock()
	if e.life.Err() != nil {
		return storage.ErrClosed
	}
	if !e.persistent() {
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	temp := filepath.Join(e.opts.Path, tempName)
	return e.compactWithReserve(func() error {
		err := e.compact(ctx, temp)
		if err != nil {
			_ = os.Remove(temp)
		}
		return err
	})
}

// cut is where a compaction divides the log.
type cut struct {
	state  *mem.Snapshot
	after  uint64 // the last group of the state
	number uint32 // the number of the file with the groups behind it
}

// compact writes a new base. If it fails, the log stays as it was, or is that and a further
// file.
func (e *Engine) compact(ctx context.Context, temp string) error {
	// 1. Writers go on in a new file. A log that has failed takes no commits.
	failed := e.logFailed.Load()
	c := e.present()
	if !failed {
		var err error
		if c, err = e.rotate(ctx); err != nil {
			return err
		}
	}

	// 2. The state before that is written to a new base, which says where it ends.
	written, err := e.writeCopy(ctx, temp, header{next: c.number, after: c.after, followed: !failed}, c.state)
	if err != nil {
		return err
	}
	written.commits = c.after

	// 3. It takes the place of the old one.
	base := filepath.Join(e.opts.Path, logName)
	if err := e.disk.rename(temp, base); err != nil && isThere(temp) { // a failed rename may still have renamed it
		return err
	}
	if err := e.disk.syncPath(e.opts.Path); err != nil {
		return err
	}

	// 4. What it stands for goes.
	if failed {
		err = e.resumeFailed(c, written)
	} else {
		e.rebase(written)
	}
	if err == nil {
		err = removeBelow(base, c.number)
	}
	e.noteState(written)
	return err
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// present is the latest state, as that before a new file.
func (e *Engine) present() cut {
	e.store.mu.Lock()
	defer e.store.mu.Unlock()
	return cut{state: e.store.snapshot(), after: e.log.seq, number: e.log.next}
}

// rotate makes writers go on in a new file. All before it is on disk then: the end of a file
// behind which there is another cannot be torn.
func (e *Engine) rotate(ctx context.Context) (c cut, err error) {
	if err := e.sync.wait(ctx); err != nil { // most of it, while writers need not wait
		return c, err
	}
	e.store.mu.Lock()
	defer e.store.mu.Unlock()
	if err := e.sync.wait(ctx); err != nil {
		return c, err
	}
	old := e.log
	if old.broken != nil { // since the caller looked
		return c, old.broken
	}
	c = cut{state: e.store.snapshot(), after: old.seq, number: old.next}
	next, file, err := e.follow(c)
	if err != nil {
		return c, err
	}
	next.base, next.older = old.base, e.sync.fileSize()
	e.goOn(next, file)
	_ = old.close() // all of it is on disk
	return c, nil
}

// follow creates the file behind a cut, and opens it for the syncer.
func (e *Engine) follow(c cut) (*journal, *os.File, error) {
	path := segmentPath(filepath.Join(e.opts.Path, logName), c.number)
	j, err := createJournal(path, e.disk, header{number: c.number, after: c.after}, c.after)
	if err != nil {
		return nil, nil, errors.Join(err, removeIfThere(path))
	}
	file, err := e.disk.open(path)
	if err != nil {
		return nil, nil, errors.Join(err, j.close(), removeIfThere(path))
	}
	return j, file, nil
}

// goOn makes a file the one that is written. The caller holds the lock of the store.
func (e *Engine) goOn(next *journal, file *os.File) {
	next.synced = e.sync.synced.Load
	e.log = next
	e.sync.last.Store(next.seq)
	e.sync.replace(file, next.older)
}

// rebase notes that the log begins with another file.
func (e *Engine) rebase(base logState) {
	e.store.mu.Lock()
	defer e.store.mu.Unlock()
	e.log.base, e.log.older = base.nonce, base.bytes
	e.sync.reduce(base.bytes)
}

// resumeFailed goes on behind a base that has replaced a log which failed.
func (e *Engine) resumeFailed(c cut, base logState) error {
	e.store.mu.Lock()
	defer e.store.mu.Unlock()
	next, file, err := e.follow(c)
	if err != nil {
		return err
	}
	next.base, next.older = base.nonce, base.bytes
	old := e.log
	e.goOn(next, file)
	e.logFailed.Store(false)
	_ = old.close()
	return nil
}

// removeBelow removes the files of a log with lower numbers.
func removeBelow(base string, number uint32) error {
	numbers, err := numbersOf(base)
	for _, n := range numbers {
		if n < number {
			err = errors.Join(err, removeIfThere(segmentPath(base, n)))
		}
	}
	return err
}

// copier copies a state to a new log.
type copier struct {
	e        *Engine
	ctx      context.Context
	next     *journal
	temp     string // where the new log is
	copied   int
	unsynced int
	commits  int64 // what the engine had committed before the last group
}

// copy writes a state in groups. A partial log is never used, so the groups need not be
// states of the collections. The description of a collection stands in most of its groups, so
// that a damaged group loses only its own records.
func (c *copier) copy(state *mem.Snapshot) error {
	var entry op // the description of the collection
	var ops []op
	size, unnamed := 0, 0
	write := func(r kv.Row, v []byte) error {
		o := op{kind: byte(r.Kind), num: r.Num, id: r.ID, value: value.BytesView(v)}
		if o.kind == opCatalog {
			entry, unnamed = o, 0
		}
		if o.num == entry.num && unnamed >= catalogShare*len(entry.value) {
			ops, unnamed = append(ops, entry), 0
		}
		ops = append(ops, o)
		size += len(v)
		unnamed += len(v)
		if len(ops) < compactStep && size < compactBytes {
			return nil
		}
		err := c.write(ops, size)
		ops, size = ops[:0], 0
		return err
	}
	for _, num := range byName(state) {
		if err := state.DumpCollection(num, write); err != nil {
			return err
		}
	}
	if len(ops) > 0 {
		return c.write(ops, size)
	}
	return nil
}

// byName lists the collections of a state in the order of their names: if a log has lost its
// end, that is rather the change log than data.
func byName(state *mem.Snapshot) []uint32 {
	nums, names := state.Numbers(), map[uint32]string{}
	for _, num := range nums {
		if info := described(state, num); info != nil {
			names[num] = info.Namespace.String()
		}
	}
	slices.SortStableFunc(nums, func(a, b uint32) int { return strings.Compare(names[a], names[b]) })
	return nums
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
	if err := e.compactNow(e.life); err != nil {
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
	err := e.compactNow(e.life)
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
func (e *Engine) liveBytes() int64 {
	records, bytes := e.RecordBytes()
	return bytes + records*recordOverhead
}
