package bunt

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// disk wraps the file system operations that the engine does itself, not
// through BuntDB. Tests make them fail.
type disk struct {
	fault func(step, path string) error
	mode  os.FileMode                                     // the mode of new files, see fileMode
	spans func(dir string) (total, free int64, err error) // nil: of the system
}

// ownFile is the mode of files that hold data: only their owner may read them.
const ownFile os.FileMode = 0o600

// directoryMode returns the mode of a directory for files of the given mode: a
// user who may read the files may also enter the directory.
func directoryMode(files os.FileMode) os.FileMode { return files | files&0o444>>2 }

// fileMode returns the mode of new files. Without a disk, as for files that an
// operator's command writes, it is ownFile.
func (d *disk) fileMode() os.FileMode {
	if d == nil || d.mode == 0 {
		return ownFile
	}
	return d.mode
}

// create creates the file for BuntDB unless it exists, because BuntDB would
// make it readable for everybody.
func (d *disk) create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, d.fileMode())
	if err != nil {
		return err
	}
	return f.Close()
}

// narrow removes permissions from an existing file that new files do not have.
// It returns an error if it did so, or if it failed.
func (d *disk) narrow(path string) error {
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := st.Mode().Perm()
	want := now & d.fileMode()
	if now == want || runtime.GOOS == "windows" { // which has no such modes
		return nil
	}
	if err := os.Chmod(path, want); err != nil {
		return fmt.Errorf("%s can be read by others than its owner (mode %04o): %w", path, now, err)
	}
	return fmt.Errorf("%s could be read by others than its owner (mode %04o); its mode is now %04o", path, now, want)
}

// space is the size of the file system of a directory, and what is free.
func (d *disk) space(dir string) (total, free int64, err error) {
	if d.spans != nil {
		return d.spans(dir)
	}
	return fileSystem(dir)
}

// writeZeros fills a file.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 64<<10)
	for size > 0 {
		n, err := f.Write(zeros[:min(size, int64(len(zeros)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return f.Sync()
}

func (d *disk) at(step, path string) error {
	if d == nil || d.fault == nil {
		return nil
	}
	return d.fault(step, path)
}

// open opens a file that BuntDB writes, to sync it.
func (d *disk) open(path string) (*os.File, error) {
	if err := d.at("open", path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

func (d *disk) sync(f *os.File) error {
	if err := d.at("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func (d *disk) rename(from, to string) error {
	if err := d.at("rename", from); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// syncPath syncs files and directories.
func (d *disk) syncPath(paths ...string) error {
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		if err := errors.Join(d.sync(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
