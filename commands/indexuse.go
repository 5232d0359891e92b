package commands

import (
	"sync"
	"sync/atomic"
)

// indexUse counts how often queries chose each index, for $indexStats.
type indexUse struct{ counters sync.Map } // namespace, 0, index name -> *indexCounter

type indexCounter struct {
	ops   atomic.Int64
	since int64 // milliseconds
}

// of returns the counter of an index, which begins at now if it is new.
func (u *indexUse) of(ns, name string, now int64) *indexCounter {
	key := ns + "\x00" + name
	if v, ok := u.counters.Load(key); ok {
		return v.(*indexCounter)
	}
	v, _ := u.counters.LoadOrStore(key, &indexCounter{since: now})
	return v.(*indexCounter)
}

// forget drops the counter of an index that is gone.
func (u *indexUse) forget(ns, name string) { u.counters.Delete(ns + "\x00" + name) }
