package bunt

import (
	"errors"
	"os"
)

// disk is what the engine asks of the file system beside what BuntDB does.
// Tests make its steps fail.
type disk struct {
	fault func(step, path string) error
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
