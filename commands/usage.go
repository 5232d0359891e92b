package commands

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// usage counts how collections are used, for top.
type usage struct{ collections sync.Map } // namespace -> *collectionUsage

type collectionUsage struct {
	ns                        string
	reads, writes, commands   timedCounter
	queries, getmores         usageCounter
	inserts, updates, removes usageCounter
}

type usageCounter struct{ count, micros atomic.Int64 }

func (u *usageCounter) add(d time.Duration) {
	u.count.Add(1)
	u.micros.Add(d.Microseconds())
}

// topParts are the parts of top in its order.
var topParts = []string{"total", "readLock", "writeLock", "queries", "getmore", "insert", "update", "remove", "commands"}

func (u *collectionUsage) part(name string) (count, micros int64) {
	of := func(c *usageCounter) (int64, int64) { return c.count.Load(), c.micros.Load() }
	switch name {
	case "total":
		rc, rm := of(&u.reads.usageCounter)
		wc, wm := of(&u.writes.usageCounter)
		return rc + wc, rm + wm
	case "readLock":
		return of(&u.reads.usageCounter)
	case "writeLock":
		return of(&u.writes.usageCounter)
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
	return of(&u.commands.usageCounter)
}

// of returns the counters of a collection.
func (u *usage) of(ns string) *collectionUsage {
	if strings.IndexByte(ns, 0) >= 0 { // no collection is called that, and no field of a reply
		return &collectionUsage{}
	}
	v, ok := u.collections.Load(ns)
	if !ok {
		v, _ = u.collections.LoadOrStore(ns, &collectionUsage{ns: ns})
	}
	return v.(*collectionUsage)
}

// note counts one command on the collection.
func (c *collectionUsage) note(name string, took time.Duration) {
	switch name {
	case "find":
		c.reads.add(took)
		c.queries.add(took)
	case "getMore":
		c.reads.add(took)
		c.getmores.add(took)
	case "insert":
		c.writes.add(took)
		c.inserts.add(took)
	case "update":
		c.writes.add(took)
		c.updates.add(took)
	case "delete":
		c.writes.add(took)
		c.removes.add(took)
	default:
		c.reads.add(took)
		c.commands.add(took)
	}
}

func (u *usage) list() (out []*collectionUsage) {
	u.collections.Range(func(_, v any) bool {
		out = append(out, v.(*collectionUsage))
		return true
	})
	sort.Slice(out, func(i, j int) bool { return out[i].ns < out[j].ns })
	return out
}
