package kvshared

import (
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// knowledge is what a server knows of the database without asking. It may be outdated; what
// is read says so.
type knowledge struct {
	mu      sync.Mutex              // held while the catalog is replaced
	catalog atomic.Pointer[catalog] // the collections; nil when the engine is closed
	head    atomic.Pointer[Head]    // the newest that the server has heard of
	stamp   atomic.Uint64           // the greatest stamp that the server has heard of
	// foreignStamps counts the stamps that were given for collections that other servers
	// may have changed: each is a new one.
	foreignStamps atomic.Uint64
}

// catalog is the collections as of a version. Their statistics may be older than
// those of the store.
type catalog struct {
	root    *kv.Root
	version int64
}

// latest is the catalog as far as it is known.
func (k *knowledge) latest() (*catalog, error) {
	c := k.catalog.Load()
	if c == nil {
		return nil, storage.ErrClosed
	}
	return c, nil
}

// replace replaces the catalog by what next makes of it; nil: it stays.
func (k *knowledge) replace(next func(now *catalog) (*catalog, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err := k.latest()
	if err != nil {
		return err
	}
	c, err := next(now)
	if err == nil && c != nil {
		k.catalog.Store(c)
	}
	return err
}

// close forgets the catalog.
func (k *knowledge) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.catalog.Store(nil)
}

// learn takes what a head says.
func (k *knowledge) learn(h Head) {
	for {
		old := k.head.Load()
		if old.Version >= h.Version || k.head.CompareAndSwap(old, &h) {
			break
		}
	}
	for {
		old := k.stamp.Load()
		if old >= h.Stamp || k.stamp.CompareAndSwap(old, h.Stamp) {
			return
		}
	}
}
