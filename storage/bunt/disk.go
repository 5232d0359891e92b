package bunt

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// disk is what the engine asks of the file system beside what BuntDB does.
// Tests make its steps fail.
type disk struct {
	fault func(step, path string) error
	mode  os.FileMode                                     // of new files, see fileMode
	spans func(dir string) (total, free int64, err error) // nil: of the system
}

// ownFile is the mode of files that hold data: nobody but their owner may read
// them.
const ownFile os.FileMode = 0o600

// directoryMode is the mode of a directory for files of a mode: who may read
// them may go into it.
func directoryMode(files os.FileMode) os.FileMode { return files | files&0o444>>2 }

// fileMode is what new files are made with. Without a disk, as for what is
// written on behalf of an operator, they are the owner's.
func (d *disk) fileMode() os.FileMode {
	if d == nil || d.mode == 0 {
		return ownFile
	}
	return d.mode
}

// create makes a file for BuntDB, which would let everybody read it, unless
// there is one.
func (d *disk) create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, d.fileMode())
	if err != nil {
		return err
	}
	return f.Close()
}

// narrow takes away from who may not read new files the right to read an old
// one. The error says that there was need to, or that it failed.
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
