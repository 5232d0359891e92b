package bunt

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
)

// lockKey is what an open snapshot transaction has claimed by writing: a
// name in the catalog, a record, or a key of a unique index.
type lockKey struct {
	ns    storage.Namespace // of a name
	num   uint32            // collection of a record or key
	id    storage.RecordID
	index string
	key   string
}

// locks is the table of claims of all open snapshot transactions. No operation
// waits for a claim: the second one fails with a conflict.
type locks struct {
	n    atomic.Int64 // number of claims and uses; if it is 0, a writer need not take the lock
	mu   sync.Mutex
	held map[lockKey]*snapshot
	used map[storage.Namespace][]*snapshot // that have written to a collection
}

// use notes that s writes to a collection, so that others cannot drop, rename
// or change it until s has ended.
func (l *locks) use(ns storage.Namespace, s *snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.used[ns], s) {
		return
	}
	if l.used == nil {
		l.used = make(map[storage.Namespace][]*snapshot)
	}
	l.used[ns] = append(l.used[ns], s)
	s.uses = append(s.uses, ns)
	l.n.Add(1)
}

// checkUnused fails if a transaction other than s has written to a collection.
func (l *locks) checkUnused(ns storage.Namespace, s *snapshot) error {
	if l.n.Load() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, user := range l.used[ns] {
		if user != s {
			return storage.ErrConflict
		}
	}
	return nil
}

// claim takes k for s; taken is false if s had it already.
func (l *locks) claim(k lockKey, s *snapshot) (taken bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.held[k] {
	case s:
		return false, nil
	case nil:
	default:
		return false, storage.ErrConflict
	}
	if l.held == nil {
		l.held = make(map[lockKey]*snapshot)
	}
	l.held[k] = s
	s.held = append(s.held, k)
	l.n.Add(1)
	return true, nil
}

// check fails if a transaction other than s has claimed k.
func (l *locks) check(k lockKey, s *snapshot) error {
	if l.n.Load() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if owner := l.held[k]; owner != nil && owner != s {
		return storage.ErrConflict
	}
	return nil
}

// drop releases one claim of s.
func (l *locks) drop(k lockKey, s *snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[k] != s {
		return
	}
	delete(l.held, k)
	s.held = slices.DeleteFunc(s.held, func(h lockKey) bool { return h == k })
	l.n.Add(-1)
}

// release releases all claims of s.
func (l *locks) release(s *snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range s.held {
		delete(l.held, k)
	}
	for _, ns := range s.uses {
		l.used[ns] = slices.DeleteFunc(l.used[ns], func(user *snapshot) bool { return user == s })
		if len(l.used[ns]) == 0 {
			delete(l.used, ns)
		}
	}
	l.n.Add(-int64(len(s.held) + len(s.uses)))
	s.held, s.uses = nil, nil
}
