package pebble

import (
	"context"
	"os"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

var ctx = context.Background()

// TestMain lets the tests work in memory where there is such a file system:
// they sync thousands of files.
func TestMain(m *testing.M) {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", shm)
	}
	os.Exit(m.Run())
}

func must(tb interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// opened opens an engine that the caller closes. Its cache is small, because the log
// that is reserved at each opening is as large as a part of it.
func opened(tb testing.TB, path string) *Engine {
	tb.Helper()
	e, err := Open(Options{Path: path, Indexer: storagetest.Indexer{}, Logger: tb.Logf, CacheBytes: 32 << 20})
	must(tb, err)
	return e
}

// openAt opens an engine that is closed at the end of the test.
func openAt(tb testing.TB, path string) *Engine {
	tb.Helper()
	e := opened(tb, path)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix, CacheBytes: 32 << 20})
		must(tb, err)
		return e
	})
}
