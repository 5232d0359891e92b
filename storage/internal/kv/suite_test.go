package kv

import (
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestConformance: the engine over a store in memory is a storage engine, with a cache that
// is too small for its values, with each gap remembered, and with neither.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Options){
		"plain":         func(*Options) {},
		"cache and gap": func(o *Options) { o.ValueCacheBytes, o.GapKeys = 64<<10, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			stores := map[string]*memStore{}
			storagetest.RunBut(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
				mu.Lock()
				defer mu.Unlock()
				if stores[dir] == nil {
					stores[dir] = newMemStore()
				}
				o := Options{Name: "memory", Persistent: true, Indexer: ix}
				set(&o)
				e, err := Open(stores[dir], o)
				must(tb, err)
				return e
			}, "SyncAndCompact") // there is no file
		})
	}
}
