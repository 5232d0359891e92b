package bunt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/mem"
)

var _ storage.Backuper = (*Engine)(nil)

// Backup writes the state at its beginning to a new directory, as a log like
// the engine's own. It fails if the path exists, and removes an incomplete
// backup if it fails later.
func (e *Engine) Backup(ctx context.Context, dir string) (storage.Backup, error) {
	if e.life.Err() != nil {
		return storage.Backup{}, storage.ErrClosed
	}
	state := e.store.snapshot()
	if err := os.Mkdir(dir, directoryMode(e.opts.FileMode)); err != nil {
		if errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s: %w", dir, storage.ErrPathExists)
		}
		return storage.Backup{}, err
	}
	info, err := e.backup(ctx, state, dir)
	if err != nil {
		return storage.Backup{}, errors.Join(err, os.RemoveAll(dir))
	}
	return info, nil
}

// backup writes a state to a temporary file in the new directory and
// renames it when it is complete and synced.
func (e *Engine) backup(ctx context.Context, state *mem.Snapshot, dir string) (info storage.Backup, err error) {
	temp, path := filepath.Join(dir, tempName), filepath.Join(dir, logName)
	written, err := e.writeCopy(ctx, temp, header{next: 1}, state)
	if err == nil {
		err = e.disk.writeState(dir, written)
	}
	if err != nil {
		return info, err
	}
	// Under its name a log is complete: a backup that was interrupted is
	// not one.
	if err := os.Rename(temp, path); err != nil {
		return info, err
	}
	info.Bytes = written.bytes
	info.Collections, info.Records = state.Counts()
	return info, e.disk.syncPath(dir, filepath.Dir(dir))
}

// Restore copies the log in from, a directory made by Backup or the data of
// an engine that is not running, to the directory to, which must be empty or
// missing. The log is checked first.
func Restore(from, to string, indexer storage.Indexer) (*Report, error) {
	r, err := Check(from, indexer)
	if err != nil {
		return nil, err
	}
	if !r.Sound() {
		return r, errors.New("the backup is damaged")
	}
	if err := datadir.Vacant(to); err != nil {
		return r, err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return r, err
	}
	temp, base := filepath.Join(to, tempName), filepath.Join(from, logName)
	numbers, err := numbersOf(base)
	for _, n := range numbers {
		if err == nil {
			err = copyFile(segmentPath(base, n), segmentPath(filepath.Join(to, logName), n))
		}
	}
	if err == nil {
		err = copyFile(base, temp)
	}
	if err == nil && r.state.bytes > 0 {
		err = (*disk)(nil).writeState(to, r.state)
	}
	if err != nil {
		return r, errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, filepath.Join(to, logName)); err != nil {
		return r, err
	}
	return r, (*disk)(nil).syncPath(to)
}

// copyFile copies and syncs a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
