package pebble

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/internal/inspect"
)

// Check reads a data directory that no server uses, or a backup: every table
// with its checksums, every document and every index. It writes nothing, so that
// it can check what is on media that cannot be written. Damage is a problem in
// the report; Check returns an error only if it cannot open the directory at all.
func Check(dir string, indexer storage.Indexer) (*storage.Report, error) {
	if err := mustExist(dir); err != nil {
		return nil, err
	}
	e, err := Open(Options{Path: dir, Indexer: indexer, readOnly: true})
	if err != nil {
		return nil, err
	}
	r := &storage.Report{Engine: "pebble", Kept: asides(dir)}
	if e.store.lost != "" {
		r.Problems = append(r.Problems, e.store.lost)
	}
	err = inspect.Engine(context.Background(), e, r)
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	r.Bytes, err = size(dir)
	return r, err
}

// mustExist refuses a directory without data of this engine, which Open would
// make.
func mustExist(dir string) error {
	if err := checkMarker(dir); err != nil {
		return err
	}
	for _, name := range []string{markerName, filesName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Restore copies the files in from, a directory made by Backup or the data of
// an engine that is not running, to the directory to, which must be empty or
// missing, and checks the copy. If it is damaged, it is removed.
func Restore(from, to string, indexer storage.Indexer) (*storage.Report, error) {
	if err := mustExist(from); err != nil {
		return nil, err
	}
	if err := datadir.Vacant(to); err != nil {
		return nil, err
	}
	lock, err := datadir.LockForReading(from)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		defer lock.Close()
	}
	if err := copyFiles(filepath.Join(from, filesName), filepath.Join(to, filesName)); err != nil {
		return nil, err
	}
	// The marker comes last: without it a directory has no data of this engine.
	if err := copyFile(filepath.Join(from, markerName), filepath.Join(to, markerName)); err != nil {
		return nil, err
	}
	if err := syncDir(to); err != nil {
		return nil, err
	}
	r, err := Check(to, indexer)
	if err == nil && !r.Sound() {
		err = errors.Join(errors.New("the backup is damaged"), os.Remove(filepath.Join(to, markerName)), os.RemoveAll(filepath.Join(to, filesName)))
	}
	return r, err
}

// copyFiles copies a directory with all that is below it.
func copyFiles(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), datadir.Mode(datadir.OwnFile))
		}
		return copyFile(path, filepath.Join(to, rel))
	})
	if err != nil {
		return err
	}
	return syncDir(to)
}

// copyFile copies and syncs a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, datadir.OwnFile)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
