package bunt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// bothFlushers runs a test with the system's flusher and with none.
func bothFlushers(t *testing.T, test func(t *testing.T, q *flusher)) {
	t.Run("fsync", func(t *testing.T) { test(t, nil) })
	t.Run("asynchronous", func(t *testing.T) {
		q := takeFlusher()
		if q == nil {
			t.Skip("the system has no asynchronous fsync")
		}
		defer q.giveBack()
		test(t, q)
	})
}

func TestFlusher(t *testing.T) {
	bothFlushers(t, func(t *testing.T, q *flusher) {
		for range 3 {
			f, err := os.Create(filepath.Join(t.TempDir(), "file"))
			must(t, err)
			for range 5 {
				_, err := f.Write(make([]byte, 100_000))
				must(t, err)
				must(t, q.sync(f))
			}
			must(t, f.Close())
		}
	})
}

// TestFlusherFails: what fails is reported as by fsync, and the next file is synced.
func TestFlusherFails(t *testing.T) {
	bothFlushers(t, func(t *testing.T, q *flusher) {
		f, err := os.Create(filepath.Join(t.TempDir(), "file"))
		must(t, err)
		closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
		must(t, err)
		must(t, closed.Close())
		r, w, err := os.Pipe() // has nothing to sync
		must(t, err)
		defer func() { _, _ = r.Close(), w.Close() }()
		for range 3 {
			if err := q.sync(closed); !errors.Is(err, os.ErrClosed) {
				t.Errorf("a closed file: %v", err)
			}
			if err := q.sync(w); err == nil {
				t.Error("a pipe was synced")
			}
			must(t, q.sync(f))
		}
		must(t, f.Close())
	})
}

// TestFlushersKept: engines that are opened one after the other use the same flusher.
func TestFlushersKept(t *testing.T) {
	first := takeFlusher()
	first.giveBack()
	if second := takeFlusher(); second != first {
		t.Error("another flusher was made")
	} else {
		second.giveBack()
	}
}

// TestLongSyncs: commits are synced as well after a sync that took long.
func TestLongSyncs(t *testing.T) {
	e := openAt(t, filepath.Join(t.TempDir(), "data"))
	e.sync.flusher = takeFlusher()
	for i := range 10 {
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			_, err := tx.Create(storage.Namespace{DB: "db", Coll: fmt.Sprint("c", i)}, nil, nil)
			return err
		}))
		must(t, e.Sync(ctx))
	}
	if got := storagetest.Got(e.Stats()); got.Syncs < 10 {
		t.Errorf("%d syncs", got.Syncs)
	}
	must(t, e.Close())
}
