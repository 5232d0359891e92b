package stage

import (
	"errors"
	"syscall"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// DiskError returns the error for the client when a temporary file fails. Like mongod's
// sorter, it has one code for a full disk and one for all other failures.
func DiskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return mongoerr.Newf(mongoerr.OutOfDiskSpace, "no space left on the device of the temporary files: %v", err).WithCause(err)
	}
	return mongoerr.Newf(mongoerr.FileStreamFailed, "error writing to temporary file: %w", err)
}
