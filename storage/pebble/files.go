package pebble

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// files is the file system that Pebble sees. It gives files their mode, makes
// them fail in tests, notes errors, and leaves syncing the log to the engine.
type files struct {
	vfs.FS
	dir   string              // directory of the logs
	mode  os.FileMode         // 0 in memory
	begun func(number uint64) // called before the first write to a log
	fault func(step, path string) error
	wait  func()      // before a table is made, if one could not be made a moment ago
	tight func() bool // reports whether the disk has no space for merges of tables; nil: it has

	mu  sync.Mutex
	wal *walFile // the present log; nil before the first, and once it is synced and closed
}

func (fs *files) at(step, path string) error {
	if fs.fault == nil {
		return nil
	}
	return fs.fault(step, path)
}

// isLog reports whether a file is one of Pebble's logs.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// Create creates a file that only those may read whom the mode allows to.
func (fs *files) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		fs.wait()
	}
	if err := fs.at("create", name); err != nil {
		return nil, err
	}
	f, err := fs.FS.Create(name, category)
	f, err = fs.created(f, name, err)
	if plain, ok := f.(*file); ok && category == mergeCategory && err == nil {
		return &mergedTable{file: plain}, nil
	}
	return f, err
}

// mergeCategory is Pebble's name for what merges of tables write.
const mergeCategory vfs.DiskWriteCategory = "pebble-compaction"

// lookEach is how many bytes a merge writes between two looks at the disk.
const lookEach = 256 << 10

// mergedTable is a table that a merge of others makes. A merge can wait, so it may not
// take the space that the log and the tables of deletes need: it fails before that, its
// files are removed, and Pebble tries again later.
type mergedTable struct {
	*file
	written int // since the last look
}

func (f *mergedTable) Write(b []byte) (int, error) {
	if f.written += len(b); f.written >= lookEach {
		f.written = 0
		if f.fs.tight != nil && f.fs.tight() {
			return 0, errCrowded
		}
	}
	return f.file.Write(b)
}

func (fs *files) created(f vfs.File, name string, err error) (vfs.File, error) {
	if err == nil && fs.mode != 0 {
		err = os.Chmod(name, fs.mode)
		if err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	if isLog(name) && filepath.Dir(name) == filepath.Clean(fs.dir) { // not one in a backup
		return fs.watch(f, name), nil
	}
	return &file{File: f, fs: fs, name: name}, nil
}

// ReuseForWrite continues a file under another name.
func (fs *files) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.at("create", to); err != nil {
		return nil, err
	}
	f, err := fs.FS.ReuseForWrite(from, to, category)
	return fs.created(f, to, err)
}

// OpenReadWrite opens a file for writing.
func (fs *files) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := fs.at("create", name); err != nil {
		return nil, err
	}
	f, err := fs.FS.OpenReadWrite(name, category, opts...)
	return fs.created(f, name, err)
}

// Rename renames a file.
func (fs *files) Rename(from, to string) error {
	if err := fs.at("rename", from); err != nil {
		return err
	}
	return fs.FS.Rename(from, to)
}

// Remove removes a file.
func (fs *files) Remove(name string) error {
	if err := fs.at("remove", name); err != nil {
		return err
	}
	return fs.FS.Remove(name)
}

// Lock does nothing: the engine has locked the data directory.
func (fs *files) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// MkdirAll makes directories that only those may enter whom the mode allows to.
func (fs *files) MkdirAll(dir string, perm os.FileMode) error {
	if fs.mode != 0 {
		perm = fs.mode | fs.mode&0o444>>2
	}
	return fs.FS.MkdirAll(dir, perm)
}

// Unwrap returns the file system below.
func (fs *files) Unwrap() vfs.FS { return fs.FS }

// file is a file other than a log.
type file struct {
	vfs.File
	fs   *files
	name string
}

func (f *file) Write(b []byte) (int, error) {
	if err := f.fs.at("write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *file) Sync() error {
	if err := f.fs.at("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) SyncData() error {
	if err := f.fs.at("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

// walFile is a log. Pebble commits with a sync, so that it hands every commit to
// the file system at once; the sync itself is put off: the engine does it when
// it is asked to, and before the log is closed.
type walFile struct {
	file
	begun    bool // something was written
	unsynced atomic.Bool
	closed   sync.Mutex // held while syncing or closing
	done     bool
}

// watch makes a file the present log.
func (fs *files) watch(f vfs.File, name string) *walFile {
	w := &walFile{file: file{File: f, fs: fs, name: name}}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.wal = w
	return w
}

// syncLog syncs the present log. Earlier ones were synced when they were closed.
func (fs *files) syncLog() error {
	fs.mu.Lock()
	w := fs.wal
	fs.mu.Unlock()
	if w == nil {
		return nil
	}
	w.closed.Lock()
	defer w.closed.Unlock()
	if w.done {
		return nil
	}
	return w.flush()
}

// flush syncs what was written. The caller holds closed.
func (w *walFile) flush() error {
	if !w.unsynced.Swap(false) {
		return nil
	}
	if err := w.file.SyncData(); err != nil {
		w.unsynced.Store(true)
		return err
	}
	return nil
}

func (w *walFile) Write(b []byte) (int, error) {
	if !w.begun && w.fs.begun != nil {
		if number, ok := logNumber(w.name); ok {
			w.fs.begun(number)
		}
	}
	w.begun = true
	w.unsynced.Store(true)
	return w.file.Write(b)
}

// Sync does nothing.
func (w *walFile) Sync() error { return nil }

// SyncData does nothing.
func (w *walFile) SyncData() error { return nil }

// SyncTo does nothing.
func (w *walFile) SyncTo(int64) (fullSync bool, err error) { return false, nil }

// Close syncs and closes the log.
func (w *walFile) Close() error {
	w.closed.Lock()
	defer w.closed.Unlock()
	w.done = true
	return errors.Join(w.flush(), w.File.Close())
}
