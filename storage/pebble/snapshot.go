package pebble

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// uses counts the operations in progress, so that Close can wait for them:
// Pebble must not be used afterwards.
type uses struct {
	mu     sync.RWMutex
	n      sync.WaitGroup
	closed bool
}

// begin returns false if the store is closed.
func (u *uses) begin() bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if u.closed {
		return false
	}
	u.n.Add(1)
	return true
}

func (u *uses) end() { u.n.Done() }

// close waits until no operation is in progress. It returns false if the store
// was closed before.
func (u *uses) close() bool {
	u.mu.Lock()
	was := u.closed
	u.closed = true
	u.mu.Unlock()
	u.n.Wait()
	return !was
}

// isClosed reports whether operations should end.
func (u *uses) isClosed() bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.closed
}

// snapshot is a kv.Snapshot.
type snapshot struct {
	s    *store
	snap *pebble.Snapshot
}

// Snapshot returns the latest state.
func (s *store) Snapshot() (kv.Snapshot, error) {
	if !s.uses.begin() {
		return nil, storage.ErrClosed
	}
	defer s.uses.end()
	n := &snapshot{s: s, snap: s.db.NewSnapshot()}
	s.open.Lock()
	defer s.open.Unlock()
	s.open.list[n] = struct{}{}
	return n, nil
}

// Close releases the snapshot, unless the store has done so.
func (n *snapshot) Close() {
	n.s.open.Lock()
	_, open := n.s.open.list[n]
	delete(n.s.open.list, n)
	n.s.open.Unlock()
	if open {
		_ = n.snap.Close()
	}
}

// closeSnapshots releases those that are still open.
func (s *store) closeSnapshots() {
	s.open.Lock()
	defer s.open.Unlock()
	for n := range s.open.list {
		_ = n.snap.Close()
	}
	clear(s.open.list)
}

// Get reads a value.
func (n *snapshot) Get(ctx context.Context, key []byte) ([]byte, error) {
	if !n.s.uses.begin() {
		return nil, storage.ErrClosed
	}
	defer n.s.uses.end()
	return n.get(key)
}

func (n *snapshot) get(key []byte) (value []byte, err error) {
	defer n.s.recovered(&err)
	v, closer, err := n.snap.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, tell(err)
	}
	value = bytes.Clone(v)
	if value == nil {
		value = []byte{}
	}
	return value, closer.Close()
}

// GetMany reads values one after the other.
func (n *snapshot) GetMany(ctx context.Context, keys [][]byte, fn func(i int, value []byte) bool) error {
	if !n.s.uses.begin() {
		return storage.ErrClosed
	}
	defer n.s.uses.end()
	for i, key := range keys {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		v, err := n.get(key)
		if err != nil {
			return err
		}
		if v != nil && !fn(i, v) {
			return nil
		}
	}
	return nil
}

// checkEvery is after how many keys a read looks whether it should end.
const checkEvery = 256

// Scan iterates over a range.
func (n *snapshot) Scan(ctx context.Context, lo, hi []byte, reverse bool) kv.Iterator {
	it := &iterator{s: n.s, ctx: ctx, reverse: reverse}
	if !n.s.uses.begin() {
		it.err = storage.ErrClosed
		return it
	}
	defer n.s.recovered(&it.err)
	it.it, it.err = n.snap.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if it.err != nil {
		it.err = tell(it.err)
		n.s.uses.end()
	}
	return it
}

// iterator is a kv.Iterator. It counts as an operation in progress until it is
// closed.
type iterator struct {
	s       *store
	ctx     context.Context
	it      *pebble.Iterator
	err     error
	reverse bool
	begun   bool
	steps   int
}

// Next moves to the next key.
func (i *iterator) Next() (ok bool) {
	if i.err != nil || i.it == nil {
		return false
	}
	if i.steps++; i.steps%checkEvery == 0 {
		if i.err = i.ctx.Err(); i.err == nil && i.s.uses.isClosed() {
			i.err = storage.ErrClosed
		}
		if i.err != nil {
			return false
		}
	}
	switch {
	case i.begun && i.reverse:
		return i.it.Prev()
	case i.begun:
		return i.it.Next()
	case i.reverse:
		i.begun = true
		return i.it.Last()
	default:
		i.begun = true
		return i.it.First()
	}
}

// Key is the present key.
func (i *iterator) Key() []byte { return i.it.Key() }

// Walked is the number of keys that were passed on the way forward, deleted ones included.
func (i *iterator) Walked() int {
	if i.it == nil {
		return 0
	}
	return i.it.Stats().ForwardStepCount[pebble.InternalIterCall]
}

// Value is the present value.
func (i *iterator) Value() ([]byte, error) {
	v, err := i.it.ValueAndErr()
	return v, tell(err)
}

// Close releases the iterator.
func (i *iterator) Close() error {
	if i.it == nil {
		return i.err
	}
	if i.s.opts.walked != nil {
		i.s.opts.walked(i.Walked())
	}
	err := tell(i.it.Close())
	i.it = nil
	i.s.uses.end()
	if i.err == nil {
		i.err = err
	}
	return i.err
}
