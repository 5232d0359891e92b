package bunt

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// openLog reads the log into memory, builds the indexes and prepares for
// writing. The engine reads the file once for the state. BuntDB reads it a
// second time to find its end, while the indexes are built.
func (e *Engine) openLog(path string) error {
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
	var g errgroup.Group
	if !found.old {
		g.Go(func() (err error) {
			e.log, err = resumeJournal(path, e.disk, found)
			return err
		})
	}
	r, err := l.finish()
	if err = errors.Join(err, g.Wait()); err != nil {
		return err
	}
	if found.old {
		if err := e.upgrade(path, r); err != nil {
			return err
		}
	}
	if e.sync, err = newSyncer(e.log); err != nil {
		return err
	}
	if e.persistent() && (!found.header || found.old || e.repair != nil) {
		if err := e.noteNewLog(); err != nil {
			return err
		}
	}
	if len(l.fixes) > 0 {
		if err := e.writeLog(l.fixes); err != nil {
			return err
		}
	}
	e.root.Store(r)
	return nil
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
func (e *Engine) readLog(path string) (*loader, scanned, error) {
	l := newLoader(e)
	if path == Memory {
		return l, scanned{}, nil
	}
	var err error
	if e.noted.state, err = readState(e.opts.Path); err != nil {
		return l, scanned{}, err
	}
	found, err := recoverFile(path, e.noted.state, e.progress(path), l.apply)
	if err == nil && found.cut > 0 {
		e.opts.Logger("storage: removed %d bytes of incomplete commits from the end of %s", found.cut, path)
	}
	return l, found, err
}

// progress reports the reading of the log.
func (e *Engine) progress(path string) *progress {
	return &progress{report: e.opts.Progress, check: func() error { return e.disk.at("read", path) }}
}

// upgrade converts a log of the first format.
func (e *Engine) upgrade(path string, r *root) error {
	e.opts.Logger("storage: converting %s to the current format", path)
	temp := filepath.Join(filepath.Dir(path), tempName)
	if _, err := e.writeCopy(context.Background(), temp, r); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := e.disk.rename(temp, path); err != nil {
		return err
	}
	if err := e.disk.syncPath(filepath.Dir(path)); err != nil {
		return err
	}
	found, err := recoverFile(path, logState{}, nil, nil)
	if err != nil {
		return err
	}
	e.log, err = resumeJournal(path, e.disk, found)
	return err
}

// writeCopy writes a state to a new log and closes it properly.
func (e *Engine) writeCopy(ctx context.Context, temp string, r *root) (written logState, err error) {
	next, err := newJournal(temp, e.disk)
	if err != nil {
		return written, err
	}
	c := copier{e: e, ctx: ctx, next: next, temp: temp}
	err = c.copyRoot(r)
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
