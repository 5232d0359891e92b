package kvshared

import (
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// databases keeps a database for each directory, as if it were there.
type databases struct {
	mu   sync.Mutex
	list map[string]*database
}

func (d *databases) at(dir string) *database {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.list[dir] == nil {
		d.list[dir] = newDatabase()
	}
	return d.list[dir]
}

func opener(tb testing.TB, d *database, name string, ix storage.Indexer) *Engine {
	tb.Helper()
	e, err := Open(tb.Context(), d.server(name), kv.Options{Name: "memory", Persistent: true, Indexer: ix, Snapshots: 32})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// noFile is the part of the suite that needs a file.
const noFile = "SyncAndCompact"

// TestConformance: a server that is alone is a storage engine.
func TestConformance(t *testing.T) {
	t.Parallel()
	all := databases{list: map[string]*database{}}
	storagetest.RunBut(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		return opener(tb, all.at(dir), "a", ix)
	}, noFile)
}

// TestConformanceBesideAnother: so is one of two, but that its stamps and the numbers of
// its entries are estimates.
func TestConformanceBesideAnother(t *testing.T) {
	t.Parallel()
	all := databases{list: map[string]*database{}}
	storagetest.RunBut(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		d := all.at(dir)
		other := opener(tb, d, "b", ix)
		tb.Cleanup(func() { _ = other.Close() })
		return opener(tb, d, "a", ix)
	}, noFile, "Stamps", "Simulation")
}
