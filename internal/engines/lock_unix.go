//go:build unix

package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockFile makes a file, unless it exists, and locks it for this process. The
// system releases the lock with the descriptor, however the process ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errCopying
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Dir(path), err), f.Close())
}

// removeLocked removes a locked file before it releases the lock.
func removeLocked(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// syncDir makes the names in a directory last.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
