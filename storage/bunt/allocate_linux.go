package bunt

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate makes a file that has its space on the disk, or makes it larger.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = writeZeros(f, size)
	}
	return errors.Join(err, f.Close())
}
