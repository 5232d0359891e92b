package stage

import (
	"errors"
	"syscall"

	"github.com/duskdb/duskdb/mongoerr"
)

// DiskError is what a client sees of a failing temporary file. Like mongod's
// sorter it tells a full disk from everything else.
func DiskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return mongoerr.Newf(mongoerr.OutOfDiskSpace, "no space left on the device of the temporary files: %v", err).WithCause(err)
	}
	return mongoerr.Newf(mongoerr.FileStreamFailed, "error writing to temporary file: %w", err)
}
