package postgres

import (
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// diskFull is the code of an error that says so.
const diskFull = "53100"

// failure is an error of the database that is no business of clients: its text names files and
// tables, and may quote keys. The log has it.
type failure struct {
	cause error
	kind  error // an error of the contract or the system; may be nil
	text  string
}

func (f *failure) Error() string { return f.cause.Error() }

// Unwrap returns the kind and the cause.
func (f *failure) Unwrap() []error {
	if f.kind == nil {
		return []error{f.cause}
	}
	return []error{f.kind, f.cause}
}

// ForClients is what clients get to read.
func (f *failure) ForClients() string { return f.text }

// failed makes an error that the database has caused one that clients may see, and logs it, unless
// the server is about to start: then the error is shown itself.
func (s *store) failed(err error, cause *pgconn.PgError) error {
	f := &failure{cause: err}
	switch code := "(SQLSTATE " + cause.Code + ")"; cause.Code {
	case diskFull:
		f.kind, f.text = syscall.ENOSPC, "the disk of the database is full"
	case "XX001", "XX002": // of the tables, of an index
		f.kind, f.text = storage.ErrDamaged, "the database says that the data are damaged "+code
	default:
		f.text = "the database has refused a statement " + code
	}
	if s.members.sent.Load() > 0 && s.failures.isNew(cause.Code, clock.System().Now()) {
		s.opts.Logger("storage: %s: %v", f.text, err)
	}
	return f
}

// failures are when the errors of the database were logged, by their codes.
type failures struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	failureEvery = time.Minute
	maxFailures  = 64
)

// isNew reports whether an error was not logged of late, and notes that it is now.
func (f *failures) isNew(code string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last, ok := f.last[code]; ok && now.Sub(last) < failureEvery {
		return false
	}
	if f.last == nil || len(f.last) >= maxFailures {
		f.last = map[string]time.Time{}
	}
	f.last[code] = now
	return true
}
