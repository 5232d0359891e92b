package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// worded is an error whose own text is for the log.
type worded struct {
	text string
	kind error
}

func (w worded) Error() string    { return w.text }
func (w worded) Unwrap() error    { return w.kind }
func (worded) ForClients() string { return "words for clients" }

// Each error of the storage is translated to one of MongoDB's, also if it is wrapped;
// MongoDB's own errors stay unchanged.
func TestTranslate(t *testing.T) {
	t.Parallel()
	ns := storage.Namespace{DB: "test", Coll: "c"}
	known := mongoerr.New(mongoerr.DuplicateKey, "a duplicate")
	for _, tt := range []struct {
		err  error
		code mongoerr.Code
		text string // "": any
	}{
		{storage.ErrConflict, mongoerr.WriteConflict, "Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction."},
		{storage.ErrNotFound, mongoerr.NamespaceNotFound, "ns does not exist: test.c"},
		{storage.ErrExists, mongoerr.NamespaceExists, "Collection test.c already exists."},
		{storage.ErrUUIDExists, 40655, ""},
		{storage.ErrNoIndex, mongoerr.IndexNotFound, "index not found"},
		{storage.ErrClosed, mongoerr.InterruptedAtShutdown, "interrupted at shutdown"},
		{storage.ErrUnavailable, mongoerr.HostUnreachable, ""}, // drivers retry it
		{syscall.ENOSPC, mongoerr.OutOfDiskSpace, ""},
		{syscall.EDQUOT, mongoerr.OutOfDiskSpace, ""},
		{context.Canceled, mongoerr.Interrupted, ""},
		{context.DeadlineExceeded, mongoerr.MaxTimeMSExpired, ""},
		{errors.New("odd"), mongoerr.InternalError, ""},
		{worded{"a file", nil}, mongoerr.InternalError, "storage: words for clients"},
		{worded{"a file", syscall.ENOSPC}, mongoerr.OutOfDiskSpace, "No space left on the device of the data: words for clients"},
		{worded{"a file", storage.ErrDamaged}, mongoerr.DataCorruptionDetected, "storage: words for clients"},
		{known, mongoerr.DuplicateKey, "a duplicate"},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("while writing: %w", tt.err)} {
			got := kernel.Translate(ns, err)
			if code := mongoerr.CodeOf(got); code != tt.code {
				t.Errorf("%v: %v, want code %d", err, got, tt.code)
			}
			if said := mongoerr.From(got).Message; tt.text != "" && said != tt.text && !errors.Is(tt.err, known) {
				t.Errorf("%v: %q, want %q", err, said, tt.text)
			}
			if !kernel.IsContextError(tt.err) && !errors.Is(got, tt.err) {
				t.Errorf("%v: the cause of %v is lost", err, got)
			}
		}
	}
	if err := kernel.Translate(ns, nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// A full disk is not an error of a collection, and only errors of the whole engine make
// a transaction retryable.
func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err                       error
		full, again, ofTheContext bool
	}{
		{syscall.ENOSPC, true, false, false},
		{syscall.EFBIG, true, false, false},
		{storage.ErrConflict, false, true, false},
		{storage.ErrClosed, false, true, false},
		{storage.ErrNotFound, false, false, false},
		{context.Canceled, false, false, true},
		{context.DeadlineExceeded, false, false, true},
	} {
		err := fmt.Errorf("wrapped: %w", tt.err)
		if kernel.DiskFull(err) != tt.full || kernel.Retry(err) != tt.again || kernel.IsContextError(err) != tt.ofTheContext {
			t.Errorf("%v: %t, %t, %t", err, kernel.DiskFull(err), kernel.Retry(err), kernel.IsContextError(err))
		}
		if got := kernel.FailedWrite(err); tt.full != mongoerr.Is(got, mongoerr.OutOfDiskSpace) || !tt.full && !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
