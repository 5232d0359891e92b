//go:build unix

package bunt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/storage"
)

// lockDir takes the data directory for this process. The lock goes with the
// descriptor, however the process ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, writePID(f)
	}
	owner := readPID(f)
	_ = f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w%s", dir, storage.ErrLocked, owner)
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}
