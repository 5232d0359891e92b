package pebble

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// faulty is a disk that fails on demand.
type faulty struct {
	log, tables atomic.Pointer[error]
	step        string
}

func (f *faulty) at(step, path string) error {
	p := f.tables.Load()
	if isLog(path) {
		p = f.log.Load()
	}
	if p == nil || f.step != "" && step != f.step {
		return nil
	}
	return *p
}

func openFaulty(t *testing.T, f *faulty) (*Engine, string) {
	dir := t.TempDir()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Fault: f.at, CacheBytes: 32 << 20, Logger: t.Logf})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	seed(t, e, 0, 100)
	return e, dir
}

func count(tb testing.TB, e *Engine) (n int64) {
	tb.Helper()
	must(tb, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err == nil {
			n, err = c.Count()
		}
		return err
	}))
	return n
}

// TestLogFails: when the log cannot be written, the write fails with the
// system's error, later writes are refused, reads go on, and what was
// acknowledged is there after opening again.
func TestLogFails(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		f := &faulty{step: "write"}
		e, dir := openFaulty(t, f)
		f.log.Store(&cause)
		if err := insert(e, 100, 1); !errors.Is(err, cause) || !errors.Is(err, ErrBroken) {
			t.Errorf("%v: the write returned %v", cause, err)
		}
		f.log.Store(nil)
		if err := insert(e, 101, 1); !errors.Is(err, ErrBroken) {
			t.Errorf("%v: the next write returned %v", cause, err)
		}
		if err := e.Sync(ctx); !errors.Is(err, ErrBroken) {
			t.Errorf("%v: Sync returned %v", cause, err)
		}
		if n := count(t, e); n != 100 {
			t.Errorf("%v: %d records", cause, n)
		}
		if err := e.Close(); !errors.Is(err, cause) {
			t.Errorf("%v: Close returned %v", cause, err)
		}
		again := openAt(t, dir)
		if n := count(t, again); n != 100 && n != 101 {
			t.Errorf("%v: %d records after opening again", cause, n)
		}
		seed(t, again, 200, 1)
		must(t, again.Close())
	}
}

// TestSyncFails: after a failed sync nothing more is acknowledged.
func TestSyncFails(t *testing.T) {
	f := &faulty{step: "sync"}
	e, _ := openFaulty(t, f)
	cause := error(syscall.EIO)
	f.log.Store(&cause)
	seed(t, e, 100, 1)
	if err := e.Sync(ctx); !errors.Is(err, cause) {
		t.Errorf("Sync returned %v", err)
	}
	f.log.Store(nil)
	if err := insert(e, 101, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("the next write returned %v", err)
	}
	if st := storagetest.Got(e.Stats()); st.SyncErrors == 0 {
		t.Errorf("stats %+v", st)
	}
}

// TestTablesFail: while there is no space for tables, writes are refused instead
// of waiting, and they go on when there is.
func TestTablesFail(t *testing.T) {
	f := &faulty{}
	e, dir := openFaulty(t, f)
	cause := error(syscall.ENOSPC)
	f.step = "create"
	f.tables.Store(&cause)
	next, failed := 100, error(nil)
	for ; next < 400_000 && failed == nil; next += 1000 {
		failed = insert(e, next, 1000)
	}
	if !errors.Is(failed, cause) {
		t.Fatalf("%d records were written, the error is %v", next, failed)
	}
	n := count(t, e)
	f.tables.Store(nil)
	for failed != nil {
		if failed = insert(e, next, 1); failed != nil && !errors.Is(failed, cause) {
			t.Fatal(failed)
		}
	}
	if got := count(t, e); got != n+1 {
		t.Errorf("%d records, want %d", got, n+1)
	}
	must(t, e.Close())
	if got := count(t, openAt(t, dir)); got != n+1 {
		t.Errorf("%d records after opening again, want %d", got, n+1)
	}
}

// TestCompactEnds: a compaction that waits for a table that cannot be written ends with
// its context, and with the engine.
func TestCompactEnds(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		f := &faulty{step: "create"}
		e, _ := openFaulty(t, f)
		cause := error(syscall.ENOSPC)
		f.tables.Store(&cause)
		within, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- e.Compact(within) }()
		for e.store.trouble.refused() == nil {
			runtime.Gosched()
		}
		want := context.Canceled
		if closes {
			must(t, e.Close())
			want = storage.ErrClosed
		}
		cancel()
		if err := <-ended; !errors.Is(err, want) {
			t.Errorf("it returned %v, want %v", err, want)
		}
	}
}
