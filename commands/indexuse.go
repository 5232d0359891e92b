package commands

import (
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// indexUse counts how often queries chose each index, for $indexStats.
type indexUse struct{ counters sync.Map } // UUID of the collection, index name -> *indexCounter

type indexCounter struct {
	ops   atomic.Int64
	since int64 // milliseconds
}

// of returns the counter of an index, which begins at now if it is new.
func (u *indexUse) of(info *storage.Info, name string, now int64) *indexCounter {
	key := string(info.UUID[:]) + name
	if v, ok := u.counters.Load(key); ok {
		return v.(*indexCounter)
	}
	v, _ := u.counters.LoadOrStore(key, &indexCounter{since: now})
	return v.(*indexCounter)
}

// forget drops the counter of an index that is gone.
func (u *indexUse) forget(info *storage.Info, name string) {
	u.counters.Delete(string(info.UUID[:]) + name)
}

// forgetAll drops the counters of the indexes of a collection that is gone.
func (u *indexUse) forgetAll(info *storage.Info) {
	for i := range info.Indexes {
		u.forget(info, info.Indexes[i].Name)
	}
}
