package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/duskdb/duskdb/storage"
)

// Lock locks the data directory for this process. The system releases the
// lock with the handle, however the process ends.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, writePID(f)
	}
	owner := Owner(f)
	_ = f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, fmt.Errorf("%s: %w%s", dir, storage.ErrLocked, owner)
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}

// LockForReading is Lock for a caller that only reads. On read-only media
// no other process can use the directory, and the result is nil.
func LockForReading(dir string) (*os.File, error) {
	f, err := Lock(dir)
	if errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, os.ErrPermission) {
		return nil, nil
	}
	return f, err
}
