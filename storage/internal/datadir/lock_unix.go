//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/storage"
)

// Lock locks the data directory for this process. The system releases the
// lock with the descriptor, however the process ends.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, dir); err != nil {
		return nil, err
	}
	return f, writePID(f)
}

// flock locks a lock file, and closes it if it cannot.
func flock(f *os.File, dir string) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return nil
	}
	owner := Owner(f)
	_ = f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w%s", dir, storage.ErrLocked, owner)
	}
	return fmt.Errorf("lock %s: %w", dir, err)
}

// LockForReading is Lock for a caller that only reads. On read-only media
// the lock file may be missing; then no other process can use the directory,
// and the result is nil.
func LockForReading(dir string) (*os.File, error) {
	f, err := Lock(dir)
	if !errors.Is(err, unix.EROFS) && !errors.Is(err, os.ErrPermission) {
		return f, err
	}
	f, err = os.Open(filepath.Join(dir, LockName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, dir); err != nil {
		return nil, err
	}
	return f, nil
}
