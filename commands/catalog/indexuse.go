package catalog

import (
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// IndexUse counts how often queries chose each index, for $indexStats.
type IndexUse struct{ counters sync.Map } // indexOf -> *IndexCounter

// indexOf names an index of a collection.
type indexOf struct {
	uuid [16]byte
	name string
}

// IndexCounter counts the queries that chose one index.
type IndexCounter struct {
	Ops   atomic.Int64 // number of queries
	Since int64        // when counting began, in milliseconds since the epoch
}

// Of returns the counter of an index, which begins at now if it is new.
func (u *IndexUse) Of(info *storage.Info, name string, now int64) *IndexCounter {
	key := indexOf{info.UUID, name}
	if v, ok := u.counters.Load(key); ok {
		return v.(*IndexCounter)
	}
	v, _ := u.counters.LoadOrStore(key, &IndexCounter{Since: now})
	return v.(*IndexCounter)
}

// Forget removes the counter of a dropped index.
func (u *IndexUse) Forget(info *storage.Info, name string) {
	u.counters.Delete(indexOf{info.UUID, name})
}

// ForgetAll removes the counters of the indexes of a dropped collection.
func (u *IndexUse) ForgetAll(info *storage.Info) {
	for i := range info.Indexes {
		u.Forget(info, info.Indexes[i].Name)
	}
}

// Keep removes the counters of collections that do not exist, such as one whose last query
// counted while it was dropped.
func (u *IndexUse) Keep(exists func(uuid [16]byte) bool) {
	u.counters.Range(func(key, _ any) bool {
		if !exists(key.(indexOf).uuid) {
			u.counters.Delete(key)
		}
		return true
	})
}
