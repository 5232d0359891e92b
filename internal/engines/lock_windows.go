package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lockFile makes a file, unless it exists, and locks it for this process. The
// system releases the lock with the handle, however the process ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, nil
	}
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = errCopying
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Dir(path), err), f.Close())
}

// removeLocked removes a locked file, which this system allows only once it is
// closed.
func removeLocked(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// syncDir does nothing: this system has no way to sync a directory.
func syncDir(string) error { return nil }
