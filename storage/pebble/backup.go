package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
)

// Backup writes the latest state to a new directory. It fails if the path
// exists, and removes an incomplete backup if it fails later.
func (e *Engine) Backup(ctx context.Context, dir string) (storage.Backup, error) {
	info := storage.Backup{}
	var err error
	if info.Collections, info.Records, err = e.Totals(); err != nil {
		return info, err
	}
	if err := os.Mkdir(dir, datadir.Mode(e.store.opts.FileMode)); err != nil {
		if errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s: %w", dir, storage.ErrPathExists)
		}
		return storage.Backup{}, err
	}
	err = e.store.backup(ctx, dir)
	if err == nil {
		info.Bytes, err = size(dir)
	}
	if err != nil {
		return storage.Backup{}, errors.Join(err, os.RemoveAll(dir))
	}
	return info, nil
}

// backup makes a checkpoint, whose tables are links where that is possible. The
// marker comes last: without it a directory is no backup.
func (s *store) backup(ctx context.Context, dir string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.uses.begin() {
		return storage.ErrClosed
	}
	defer s.uses.end()
	defer s.recovered(&err)
	files := filepath.Join(dir, filesName)
	if s.persistent() {
		err = s.db.Checkpoint(files, pebble.WithFlushedWAL())
	} else {
		err = s.backupMemory(files)
	}
	if err != nil {
		return tell(err)
	}
	if err := noteBackup(files, s.opts.FileMode); err != nil {
		return err
	}
	if err := writeMarker(dir, s.opts.FileMode); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// noteBackup notes the logs of a backup, which it needs as a whole.
func noteBackup(dir string, mode os.FileMode) error {
	j, err := verify(dir)
	if err != nil {
		return err
	}
	var failed error
	n := &logNote{dir: dir, mode: mode, at: func(string, string) error { return nil }, fail: func(err error) { failed = err }, now: j.notes()}
	n.write(true)
	return errors.Join(failed, n.close())
}

// backupMemory makes a checkpoint in memory and copies it to the disk.
func (s *store) backupMemory(dir string) error {
	checkpoint := fmt.Sprintf("checkpoint-%d", s.backups.Add(1))
	err := s.db.Checkpoint(checkpoint, pebble.WithFlushedWAL())
	if err == nil {
		disk := &files{FS: vfs.Default, mode: s.opts.FileMode, wait: func() {}}
		_, err = vfs.Clone(s.fs.FS, disk, checkpoint, dir, vfs.CloneSync)
	}
	return errors.Join(err, s.fs.RemoveAll(checkpoint))
}

// size is the sum of the sizes of the files below a directory.
func size(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
