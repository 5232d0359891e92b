package bunt

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

var ctx = context.Background()

// TestMain lets the tests work in memory where there is such a file system:
// they sync thousands of files. Each of the thousands of engines that they open
// has buffers that are larger than all else; collecting them takes two thirds
// of the time at the usual pace.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", shm)
	}
	os.Exit(m.Run())
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func openAt(tb testing.TB, path string) *Engine {
	tb.Helper()
	e, err := Open(Options{Path: path, Indexer: storagetest.Indexer{}, Logger: tb.Logf})
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// inColl runs fn on a collection in an Update.
func inColl(e *Engine, ns storage.Namespace, fn func(c storage.Collection) error) error {
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix})
		must(tb, err)
		return e
	})
}
