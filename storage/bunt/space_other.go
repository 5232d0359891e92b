//go:build !linux && !darwin && !freebsd

package bunt

import "errors"

// fileSystem is not supported on this system.
func fileSystem(string) (total, free int64, err error) { return 0, 0, errors.ErrUnsupported }
