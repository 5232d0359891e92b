package storage

import (
	"sync"
	"sync/atomic"
)

// ChangeLister is an engine that can say which collections have changed, so that a reader
// of all of them has to read only these again.
type ChangeLister interface {
	// Changed returns the names of the collections with a change (of a record, an index, the
	// options or the name) that was committed after the call that returned mark; a name may
	// come more than once, or without a change. all says instead that every
	// collection may have changed, as at the first call, with the mark 0. A View that begins
	// after the call sees everything that was committed before it. There should be one
	// caller: those who take turns are each given all.
	Changed(mark uint64) (names []Namespace, all bool, next uint64)
}

// Changed returns the collections of any engine that have changed, see [ChangeLister].
func Changed(e Engine, mark uint64) (names []Namespace, all bool, next uint64) {
	if l, ok := e.(ChangeLister); ok {
		return l.Changed(mark)
	}
	return nil, true, 0
}

// maxNamesNoted bounds the names that wait for a caller who may never come again.
const maxNamesNoted = 1 << 16

// ChangeNotes implements [ChangeLister] for an engine whose data belong to one process. It
// costs a commit next to nothing: a collection is noted once between two calls of Changed.
type ChangeNotes struct {
	mark  atomic.Uint64 // the mark returned last; 0 while nobody asks
	mu    sync.Mutex
	last  uint64 // the greatest mark: none is returned twice
	names []Namespace
}

// Noted says since when a collection is among the notes. All states of a collection share
// one.
type Noted struct{ mark atomic.Uint64 }

// Changed implements [ChangeLister].
func (c *ChangeNotes) Changed(mark uint64) (names []Namespace, all bool, next uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = mark == 0 || mark != c.mark.Load()
	if !all {
		names = c.names
	}
	c.names = nil
	c.last++
	c.mark.Store(c.last)
	return names, all, c.last
}

// NoteChange notes what a commit did to a collection: before is nil if it made it, after if
// it dropped it, whose n is then nil, too. Views must see the change already: a caller who was
// given the notes does not look at the collection again.
func (c *ChangeNotes) NoteChange(n *Noted, before, after *Info) {
	mark := c.mark.Load()
	switch {
	case mark == 0:
	case after == nil && before != nil:
		c.note(nil, before.Namespace)
	case after != nil && before != nil && before.Namespace != after.Namespace:
		c.note(nil, before.Namespace)
		c.note(nil, after.Namespace)
	case after != nil && n.mark.Load() != mark:
		c.note(n, after.Namespace)
	}
}

func (c *ChangeNotes) note(n *Noted, name Namespace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mark := c.mark.Load()
	if mark == 0 {
		return
	}
	if len(c.names) == maxNamesNoted {
		c.names = nil
		c.mark.Store(0)
		return
	}
	if n != nil {
		n.mark.Store(mark)
	}
	c.names = append(c.names, name)
}
