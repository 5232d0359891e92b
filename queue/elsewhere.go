package queue

import (
	"slices"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// changed records which of the collections that receivers wait for have changed.
type changed struct {
	mu     sync.Mutex
	stamps map[storage.Namespace]uint64 // nil: nobody has waited yet
}

// await notes that a receiver waits for a change of the collection.
func (c *changed) await(ns storage.Namespace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stamps == nil {
		c.stamps = map[storage.Namespace]uint64{}
	}
	if _, known := c.stamps[ns]; !known {
		c.stamps[ns] = 0
	}
}

// since reports whether a collection has changed since the last call, or whether it
// cannot be read; gone that none of them exists any more.
func (c *changed) since(stamp func(storage.Namespace) (uint64, error)) (any, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone = len(c.stamps) > 0
	for ns, before := range c.stamps {
		now, err := stamp(ns)
		if err != nil || now != before {
			c.stamps[ns], any = now, true
		}
		gone = gone && err == nil && now == 0
	}
	return any, gone
}

// ChangedElsewhere is called when another server has committed something: of each queue that
// has changed, waiting receivers look again, one after the other as long as there are
// messages. Queues that are gone are forgotten.
// stamp is [storage.Engine.Stamp].
func (b *Broker) ChangedElsewhere(stamp func(storage.Namespace) (uint64, error)) {
	var dropped []*runtimeState
	b.each(func(q *runtimeState) {
		any, gone := q.elsewhere.since(stamp)
		switch {
		case gone:
			dropped = append(dropped, q)
			q.wakeAll(nil)
		case any && q.hasSessions():
			q.wakeAll(nil)
		case any:
			q.main.wakeForNews()
			q.dead.wakeForNews()
		}
	})
	if len(dropped) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for uuid, q := range b.queues {
		if slices.Contains(dropped, q) {
			delete(b.queues, uuid)
		}
	}
}
