package monitor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// Listing is what a pass may have to do.
type Listing struct {
	Due     []Collection // collections in which something is due
	Queues  []Target
	Skipped int // TTL indexes of a kind that never expires documents, of all collections
}

// Schedule remembers when something falls due in each collection. So a pass reads only the
// collections that have changed since the one before, if the engine is a
// [storage.ChangeLister]; over others it reads all. What is remembered are instants,
// which a clock that is moved cannot make wrong. The zero Schedule is empty.
type Schedule struct {
	mu      sync.Mutex
	engine  storage.Engine                      // what was read; mark is one of its marks
	mark    uint64                              // state of the engine that was read; 0: nothing was
	places  map[storage.Namespace]int           // positions in next and colls
	next    []int64                             // when something falls due
	colls   []Collection                        // collections that have rules
	queues  map[storage.Namespace]*storage.Info // queues to visit
	skipped int                                 // TTL indexes of a kind that never expires documents
}

// Describe says what a pass has to know about a collection: its rules, nil if it has none,
// and whether it is a queue to be visited.
type Describe func(*storage.Info) (rules *ttl.Rules, queue bool)

// List returns the collections in which something is due, and the targets of all queues,
// both in the order of their names.
func (a *Schedule) List(ctx context.Context, e storage.Engine, now int64, describe Describe, targets func([]*storage.Info) []Target) (l Listing, err error) {
	if err := ctx.Err(); err != nil {
		return l, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.engine != e {
		a.engine, a.mark = e, 0
	}
	names, all, mark := storage.Changed(e, a.mark)
	a.mark = 0 // forget the mark: after a failed read all collections must be read again
	names = distinct(names)
	var read []noted
	if all || len(names) > 0 {
		if read, err = look(ctx, e, names, all, describe); err != nil {
			return l, err
		}
	}
	a.replace(names, all, read)
	a.mark = mark
	for i, next := range a.next {
		if next <= now {
			l.Due = append(l.Due, a.colls[i])
		}
	}
	slices.SortFunc(l.Due, func(x, y Collection) int { return compareNames(x.Namespace, y.Namespace) })
	l.Skipped = a.skipped
	if len(a.queues) == 0 {
		return l, nil
	}
	l.Queues = targets(slices.SortedFunc(maps.Values(a.queues), func(x, y *storage.Info) int { return compareNames(x.Namespace, y.Namespace) }))
	return l, nil
}

// noted is what was read of a collection.
type noted struct {
	coll  Collection
	queue *storage.Info
}

// look reads collections that have changed, or all.
func look(ctx context.Context, e storage.Engine, names []storage.Namespace, all bool, describe Describe) (list []noted, err error) {
	err = e.View(ctx, func(tx storage.Tx) error {
		list = nil
		if !all {
			for _, ns := range names {
				coll, err := tx.Collection(ns)
				if errors.Is(err, storage.ErrNotFound) {
					continue // it was dropped
				}
				if err != nil {
					return err
				}
				list = note(list, coll.Info(), coll, describe)
			}
			return nil
		}
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range infos {
			if rules, queue := describe(info); rules == nil && !queue {
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			list = note(list, info, coll, describe)
		}
		return nil
	})
	return list, err
}

// note adds what a pass has to know about a collection, if it is anything.
func note(list []noted, info *storage.Info, coll storage.Collection, describe Describe) []noted {
	rules, queue := describe(info)
	if rules == nil && !queue {
		return list
	}
	n := noted{coll: Collection{Namespace: info.Namespace, UUID: info.UUID, Rules: rules}}
	if queue {
		n.queue = info
	}
	if rules != nil {
		n.coll.readNext(coll)
	}
	return append(list, n)
}

// replace puts what was read in the place of what was known about these names, or about
// all.
func (a *Schedule) replace(names []storage.Namespace, all bool, read []noted) {
	if all {
		a.places, a.queues = map[storage.Namespace]int{}, map[storage.Namespace]*storage.Info{}
		a.next, a.colls, a.skipped = nil, nil, 0
	}
	for _, ns := range names {
		a.remove(ns)
	}
	for i := range read {
		a.add(&read[i])
	}
}

func (a *Schedule) add(n *noted) {
	ns := n.coll.Namespace
	if n.queue != nil {
		a.queues[ns] = n.queue
	}
	if n.coll.Rules != nil {
		a.places[ns] = len(a.next)
		a.next, a.colls = append(a.next, slices.Min(append(n.coll.next, math.MaxInt64))), append(a.colls, n.coll)
		a.skipped += n.coll.Rules.Skipped
	}
}

func (a *Schedule) remove(ns storage.Namespace) {
	delete(a.queues, ns)
	i, ok := a.places[ns]
	if !ok {
		return
	}
	a.skipped -= a.colls[i].Rules.Skipped
	last := len(a.next) - 1
	a.next[i], a.colls[i] = a.next[last], a.colls[last]
	a.places[a.colls[i].Namespace] = i
	a.next, a.colls = a.next[:last], slices.Delete(a.colls, last, last+1)
	delete(a.places, ns)
}

func distinct(names []storage.Namespace) []storage.Namespace {
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

func compareNames(a, b storage.Namespace) int {
	return cmp.Or(strings.Compare(a.DB, b.DB), strings.Compare(a.Coll, b.Coll))
}

// readNext reads when something falls due by each rule of the collection.
func (c *Collection) readNext(coll storage.Collection) {
	c.next = make([]int64, len(c.Rules.Indexes))
	for i := range c.Rules.Indexes {
		next, err := c.Rules.Indexes[i].NextDue(coll)
		if err != nil {
			next = math.MinInt64 // the visit reports the error
		}
		c.next[i] = next
	}
}
