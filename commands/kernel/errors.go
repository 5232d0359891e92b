package kernel

import (
	"context"
	"errors"
	"syscall"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Translate turns a storage error into MongoDB's. ns is the collection the
// command works on.
func Translate(ns storage.Namespace, err error) error {
	if err == nil {
		return nil
	}
	var known *mongoerr.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, storage.ErrConflict):
		return mongoerr.New(mongoerr.WriteConflict, "Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.").WithCause(err)
	case errors.Is(err, storage.ErrNotFound):
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns).WithCause(err)
	case errors.Is(err, storage.ErrExists):
		return mongoerr.Newf(mongoerr.NamespaceExists, "Collection %s already exists.", ns).WithCause(err)
	case errors.Is(err, storage.ErrUUIDExists):
		return mongoerr.Newf(40655, "Invalid name %s for the UUID of another collection", ns).WithCause(err)
	case errors.Is(err, storage.ErrNoIndex):
		return mongoerr.New(mongoerr.IndexNotFound, "index not found").WithCause(err)
	case DiskFull(err):
		return mongoerr.Newf(mongoerr.OutOfDiskSpace, "No space left on the device of the data: %s", mongoerr.TextOf(err)).WithCause(err)
	case errors.Is(err, storage.ErrDamaged):
		return mongoerr.Newf(mongoerr.DataCorruptionDetected, "storage: %s", mongoerr.TextOf(err)).WithCause(err)
	case errors.Is(err, storage.ErrUnavailable):
		return mongoerr.Newf(mongoerr.HostUnreachable, "%v", storage.ErrUnavailable).WithCause(err)
	case errors.Is(err, storage.ErrClosed):
		return mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown").WithCause(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return mongoerr.From(err)
	}
	return mongoerr.Newf(mongoerr.InternalError, "storage: %s", mongoerr.TextOf(err)).WithCause(err)
}

// DiskFull reports whether a write failed for lack of space.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// FailedWrite translates the errors of a full disk, and returns all others unchanged.
func FailedWrite(err error) error {
	if DiskFull(err) {
		return Translate(storage.Namespace{}, err)
	}
	return err
}

// Retry reports whether err concerns the engine transaction as a whole, which must be
// retried or aborted.
func Retry(err error) bool {
	return errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrClosed)
}

// IsContextError reports whether err is only the end of a context.
func IsContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// errMaxTime is the error of a command whose maxTimeMS is over.
var errMaxTime = mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
