package bunt

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
)

// openLog reads the log into memory, opens it for writing, and makes the indexes.
func (e *Engine) openLog(path string) error {
	// 1. Read the log, or what can be read of a damaged one.
	l, found, err := e.readLog(path)
	if from, ok := damagedFrom(err); ok && e.opts.Repair {
		if e.repair, err = salvage(path, from, e.noted.state, err); err == nil {
			l, found, err = e.readLog(path)
		}
	}
	if err != nil {
		return err
	}
	e.recoveredCut = found.cut

	// 2. Open it for writing, before the indexes are made if making them changes the data.
	e.store = newStore(e, l.Store())
	opened := make(chan error, 1)
	go func() { opened <- e.resume(path, found) }()
	rebuild := &kv.Rebuild{Progress: e.opts.Indexing}
	if e.repair != nil {
		rebuild.Repair = &kv.Repair{OrphanIndexes: e.opts.OrphanIndexes}
		err = <-opened
		opened <- err
		if err != nil {
			return err
		}
	}

	// 3. Make the indexes.
	e.Engine, err = kv.Open(e.store, kv.Options{Name: Name, Persistent: e.persistent(), Indexer: e.opts.Indexer, Rebuild: rebuild, RetrySingly: noSpace})
	if err = errors.Join(err, <-opened); err != nil {
		return err
	}
	if e.repair != nil {
		e.repair.account(e, l, rebuild.Repair)
	}

	// 4. Note that the log exists.
	if e.persistent() && (!found.header || e.repair != nil) {
		return e.noteNewLog()
	}
	return nil
}

// resume opens the log for writing behind what was found in it.
func (e *Engine) resume(path string, found scanned) (err error) {
	if e.log, err = resumeJournal(path, e.disk, found, cmp.Or(e.opts.maxReopened, maxReopened)); err != nil {
		return err
	}
	for _, left := range found.left {
		if err := removeIfThere(left); err != nil {
			return err
		}
	}
	e.sync, err = newSyncer(e.log)
	return err
}

// noteNewLog writes the state file of a log that has just been created and
// synced.
func (e *Engine) noteNewLog() error {
	s, err := e.log.state()
	if err == nil {
		e.noteState(s)
	}
	return err
}

// readLog removes an incomplete commit at the end of the log and reads the
// rest.
func (e *Engine) readLog(path string) (loaded, scanned, error) {
	l := loaded{mem.NewLoader()}
	if path == Memory {
		return l, scanned{}, nil
	}
	var err error
	if e.noted.state, err = readState(e.opts.Path); err != nil {
		return l, scanned{}, err
	}
	found, err := recoverLog(path, e.noted.state, e.progress(path), l.apply)
	if err == nil && found.cut > 0 {
		e.opts.Logger("storage: removed %d bytes of incomplete commits from the end of %s", found.cut, path)
	}
	return l, found, err
}

// progress reports the reading of the log.
func (e *Engine) progress(path string) *progress {
	return &progress{report: e.opts.Progress, check: func() error { return e.disk.at("read", path) }}
}

// writeCopy writes a state to a new base of a log, and closes it properly.
func (e *Engine) writeCopy(ctx context.Context, temp string, hd header, state *mem.Snapshot) (written logState, err error) {
	next, err := createJournal(temp, e.disk, hd, 0)
	if err != nil {
		return written, err
	}
	c := copier{e: e, ctx: ctx, next: next, temp: temp}
	err = c.copy(state)
	if err == nil {
		err = e.disk.syncPath(temp)
	}
	if err == nil {
		next.synced = func() uint64 { return next.seq }
		err = next.finish()
	}
	if err = errors.Join(err, next.close()); err != nil {
		return written, err
	}
	if err := e.disk.syncPath(temp); err != nil {
		return written, err
	}
	return next.state()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
