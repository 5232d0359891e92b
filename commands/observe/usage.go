package observe

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/storage"
)

// Usage counts how collections are used, for top.
type Usage struct{ collections sync.Map } // namespace -> *CollectionUsage

// CollectionUsage counts how one collection is used.
type CollectionUsage struct {
	Namespace                 string       // db.collection
	Reads, Writes, Commands   TimedCounter // the classes of top and $collStats
	queries, getmores         usageCounter
	inserts, updates, removes usageCounter
	gone                      atomic.Bool // the collection was dropped or renamed
}

// Gone reports whether the collection was dropped or renamed meanwhile, so that the counters
// are no longer those of its name.
func (c *CollectionUsage) Gone() bool { return c.gone.Load() }

// usageCounter counts commands and how long they took together.
type usageCounter struct{ Count, Micros atomic.Int64 }

func (u *usageCounter) add(d time.Duration) {
	u.Count.Add(1)
	u.Micros.Add(d.Microseconds())
}

// TopParts are the parts of top in its order.
var TopParts = []string{"total", "readLock", "writeLock", "queries", "getmore", "insert", "update", "remove", "commands"}

// Part returns the numbers of one of TopParts.
func (u *CollectionUsage) Part(name string) (count, micros int64) {
	of := func(c *usageCounter) (int64, int64) { return c.Count.Load(), c.Micros.Load() }
	switch name {
	case "total":
		rc, rm := of(&u.Reads.usageCounter)
		wc, wm := of(&u.Writes.usageCounter)
		return rc + wc, rm + wm
	case "readLock":
		return of(&u.Reads.usageCounter)
	case "writeLock":
		return of(&u.Writes.usageCounter)
	case "queries":
		return of(&u.queries)
	case "getmore":
		return of(&u.getmores)
	case "insert":
		return of(&u.inserts)
	case "update":
		return of(&u.updates)
	case "remove":
		return of(&u.removes)
	}
	return of(&u.Commands.usageCounter)
}

// Find returns the counters of a collection, nil if it has none.
func (u *Usage) Find(ns string) *CollectionUsage {
	if v, ok := u.collections.Load(ns); ok {
		return v.(*CollectionUsage)
	}
	return nil
}

// Of returns the counters of a collection, nil if there is no such collection: names of
// what does not exist are not kept. A drop forgets the counters after it has removed the
// collection, so exists is called when they can be forgotten.
func (u *Usage) Of(ns string, exists func() bool) *CollectionUsage {
	if c := u.Find(ns); c != nil {
		return c
	}
	v, _ := u.collections.LoadOrStore(strings.Clone(ns), &CollectionUsage{Namespace: strings.Clone(ns)})
	if !exists() {
		u.Forget(ns)
		return nil
	}
	return v.(*CollectionUsage)
}

// Forget removes the counters of a collection that is gone.
func (u *Usage) Forget(ns string) {
	if v, ok := u.collections.LoadAndDelete(ns); ok {
		v.(*CollectionUsage).gone.Store(true)
	}
}

// Note counts one command on the collection.
func (c *CollectionUsage) Note(name string, took time.Duration) {
	switch name {
	case "find":
		c.Reads.add(took)
		c.queries.add(took)
	case "getMore":
		c.Reads.add(took)
		c.getmores.add(took)
	case "insert":
		c.Writes.add(took)
		c.inserts.add(took)
	case "update":
		c.Writes.add(took)
		c.updates.add(took)
	case "delete":
		c.Writes.add(took)
		c.removes.add(took)
	default:
		c.Reads.add(took)
		c.Commands.add(took)
	}
}

// List returns the counters of all collections, ordered by namespace.
func (u *Usage) List() (out []*CollectionUsage) {
	u.collections.Range(func(_, v any) bool {
		out = append(out, v.(*CollectionUsage))
		return true
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Namespace < out[j].Namespace })
	return out
}

// IndexBytes returns the size of the listed indexes of a collection, in bytes.
func IndexBytes(coll storage.Collection) (n int64, err error) {
	m := catalog.Of(coll.Info())
	for _, spec := range m.Listed {
		st, err := m.IndexStats(coll, spec)
		if err != nil {
			return 0, err
		}
		n += st.Bytes
	}
	return n, nil
}
