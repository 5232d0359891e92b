// Package claims is the table of what the open snapshot transactions of an
// engine have written. No operation waits for a claim: the second one fails
// with a conflict.
package claims

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// Key is what an open snapshot transaction has claimed by writing: a name in
// the catalog, a record, or a key of a unique index.
type Key struct {
	NS    storage.Namespace // namespace of a claimed name
	Num   uint32            // collection of a record or key
	ID    storage.RecordID
	Index string
	Key   string
}

// Holder is a transaction that claims. Its claims are guarded by the table's
// lock.
type Holder struct {
	held []Key
	uses []storage.Namespace
}

// Table is the table of claims of all open snapshot transactions.
type Table struct {
	n    atomic.Int64 // number of claims and uses; if it is 0, a writer need not take the lock
	mu   sync.Mutex
	held map[Key]*Holder
	used map[storage.Namespace][]*Holder // transactions that have written to a collection
}

// Any reports whether there are claims.
func (t *Table) Any() bool { return t.n.Load() != 0 }

// Use notes that h writes to a collection, so that others cannot drop, rename
// or change it until h has ended.
func (t *Table) Use(ns storage.Namespace, h *Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.used[ns], h) {
		return
	}
	if t.used == nil {
		t.used = make(map[storage.Namespace][]*Holder)
	}
	t.used[ns] = append(t.used[ns], h)
	h.uses = append(h.uses, ns)
	t.n.Add(1)
}

// CheckUnused fails if a transaction other than h has written to a collection.
func (t *Table) CheckUnused(ns storage.Namespace, h *Holder) error {
	if t.n.Load() == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, user := range t.used[ns] {
		if user != h {
			return storage.ErrConflict
		}
	}
	return nil
}

// Claim takes k for h; taken is false if h had it already.
func (t *Table) Claim(k Key, h *Holder) (taken bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.held[k] {
	case h:
		return false, nil
	case nil:
	default:
		return false, storage.ErrConflict
	}
	if t.held == nil {
		t.held = make(map[Key]*Holder)
	}
	t.held[k] = h
	h.held = append(h.held, k)
	t.n.Add(1)
	return true, nil
}

// Check fails if a transaction other than h has claimed k.
func (t *Table) Check(k Key, h *Holder) error {
	if t.n.Load() == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if owner := t.held[k]; owner != nil && owner != h {
		return storage.ErrConflict
	}
	return nil
}

// Drop releases one claim of h.
func (t *Table) Drop(k Key, h *Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[k] != h {
		return
	}
	delete(t.held, k)
	h.held = slices.DeleteFunc(h.held, func(l Key) bool { return l == k })
	t.n.Add(-1)
}

// Release releases all claims of h.
func (t *Table) Release(h *Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range h.held {
		delete(t.held, k)
	}
	for _, ns := range h.uses {
		t.used[ns] = slices.DeleteFunc(t.used[ns], func(user *Holder) bool { return user == h })
		if len(t.used[ns]) == 0 {
			delete(t.used, ns)
		}
	}
	t.n.Add(-int64(len(h.held) + len(h.uses)))
	h.held, h.uses = nil, nil
}
