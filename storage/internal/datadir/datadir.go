// Package datadir locks the data directories of the embedded engines, and names
// the files in them.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/duskdb/duskdb/storage"
)

// LockName is the file that is locked.
const LockName = "duskdb.lock"

// OwnFile is the mode of files that hold data: only their owner may read them.
const OwnFile os.FileMode = 0o600

// Mode returns the mode of a directory for files of the given mode: a user who
// may read the files may also enter the directory.
func Mode(files os.FileMode) os.FileMode { return files | files&0o444>>2 }

// The files that say which engine's data a directory has.
const (
	Bunt   = "duskdb.bunt"
	Pebble = "duskdb.pebble"
)

// Vacant returns an error if a directory has anything but the mark of the copy that is made into it.
func Vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != storage.UnfinishedName {
			return fmt.Errorf("%s: %w and is not empty", dir, storage.ErrPathExists)
		}
	}
	return nil
}
