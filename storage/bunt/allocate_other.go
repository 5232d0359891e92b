//go:build !linux

package bunt

import (
	"errors"
	"os"
)

// allocate makes a file that has its space on the disk, or makes it larger.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(writeZeros(f, size), f.Close())
}
