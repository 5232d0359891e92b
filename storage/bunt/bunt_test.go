package bunt

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

func openAt(tb testing.TB, path string) *Engine {
	tb.Helper()
	e, err := Open(Options{Path: path, Indexer: storagetest.Indexer{}, Logger: tb.Logf})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix})
		if err != nil {
			tb.Fatal(err)
		}
		return e
	})
}
