package kv

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// memStore is a Store in memory. Like one on disk it keeps the keys of what was deleted
// until it compacts, and its iterators walk over them.
type memStore struct {
	mu     sync.Mutex
	tree   *btree.Map[string, []byte] // nil: deleted
	open   int                        // snapshots that are not closed
	closed bool
	sets   int // write sets that were applied

	// What a test sets:
	apply    func(w *WriteSet) error // fails Apply
	wait     func() error            // delays a commit, or fails it
	snapshot func() error            // fails Snapshot
	walked   func(keys int)          // called by each iterator that is closed
}

func newMemStore() *memStore { return &memStore{tree: new(btree.Map[string, []byte])} }

func (s *memStore) Snapshot() (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot != nil {
		if err := s.snapshot(); err != nil {
			return nil, err
		}
	}
	s.open++
	return &memSnapshot{s: s, tree: s.tree.Copy()}, nil
}

func (s *memStore) Apply(ctx context.Context, w *WriteSet) (func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.apply != nil {
		if err := s.apply(w); err != nil {
			return nil, err
		}
	}
	s.sets++
	for _, x := range w.Writes {
		v := x.Value
		if v != nil {
			v = append([]byte{}, v...)
		}
		s.tree.Set(string(x.Key), v)
	}
	for _, d := range w.Drops {
		var keys []string
		s.tree.Ascend(string(d.Lo), func(key string, _ []byte) bool {
			if d.Hi == nil || key < string(d.Hi) {
				keys = append(keys, key)
				return true
			}
			return false
		})
		for _, key := range keys {
			s.tree.Set(key, nil)
		}
	}
	wait := s.wait
	return func() error {
		if wait != nil {
			return wait()
		}
		return nil
	}, nil
}

func (s *memStore) Sync(ctx context.Context) error { return ctx.Err() }

// Compact forgets the keys of what was deleted.
func (s *memStore) Compact(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := new(btree.Map[string, []byte])
	s.tree.Scan(func(key string, v []byte) bool {
		if v != nil {
			tree.Set(key, v)
		}
		return true
	})
	s.tree = tree
	return nil
}

func (s *memStore) Stats(st *storage.EngineStats) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Syncs = int64(s.sets)
	s.tree.Scan(func(key string, v []byte) bool { st.FileBytes += int64(len(key) + len(v)); return true })
	return nil
}

func (s *memStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// live is the number of keys that have values.
func (s *memStore) live() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree.Scan(func(_ string, v []byte) bool {
		if v != nil {
			n++
		}
		return true
	})
	return n
}

type memSnapshot struct {
	s      *memStore
	tree   *btree.Map[string, []byte]
	closed sync.Once
}

func (n *memSnapshot) Get(_ context.Context, key []byte) ([]byte, error) {
	v, _ := n.tree.Get(string(key))
	return v, nil
}

func (n *memSnapshot) GetMany(ctx context.Context, keys [][]byte, fn func(int, []byte) bool) error {
	for i, key := range keys {
		if v, _ := n.Get(ctx, key); v != nil && !fn(i, v) {
			return nil
		}
	}
	return nil
}

func (n *memSnapshot) Scan(_ context.Context, lo, hi []byte, reverse bool) Iterator {
	return &memIterator{s: n.s, it: n.tree.Iter(), lo: string(lo), hi: string(hi), reverse: reverse}
}

func (n *memSnapshot) Close() {
	n.closed.Do(func() {
		n.s.mu.Lock()
		n.s.open--
		n.s.mu.Unlock()
	})
}

type memIterator struct {
	s       *memStore
	it      btree.MapIter[string, []byte]
	lo, hi  string
	reverse bool
	begun   bool
	walked  int
}

func (i *memIterator) step() bool {
	switch {
	case i.begun && i.reverse:
		return i.it.Prev()
	case i.begun:
		return i.it.Next()
	case !i.reverse:
		return i.it.Seek(i.lo)
	case i.it.Seek(i.hi):
		return i.it.Prev()
	}
	return i.it.Last()
}

func (i *memIterator) Next() bool {
	for {
		ok := i.step()
		i.begun = true
		if !ok || i.it.Key() < i.lo || i.it.Key() >= i.hi {
			return false
		}
		if i.walked++; i.it.Value() != nil {
			return true
		}
	}
}

func (i *memIterator) Walked() int            { return i.walked }
func (i *memIterator) Key() []byte            { return []byte(i.it.Key()) }
func (i *memIterator) Value() ([]byte, error) { return i.it.Value(), nil }

func (i *memIterator) Close() error {
	if i.s.walked != nil {
		i.s.walked(i.walked)
	}
	return nil
}

// engine opens an engine over a store.
func (s *memStore) engine(tb testing.TB, set ...func(*Options)) *Engine {
	tb.Helper()
	o := Options{Name: "memory", Indexer: storagetest.Indexer{}}
	for _, fn := range set {
		fn(&o)
	}
	e, err := Open(s, o)
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

var ns = storagetest.NS

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func document(id, a int32) value.Doc {
	return value.NewDoc("_id", value.Int32(id), "a", value.Int32(a))
}

func keyOf(id int32) []byte { return value.AppendKey(nil, value.Int32(id)) }

// in runs fn on the collection in a transaction.
func in(fn func(c storage.Collection) error) func(tx storage.Tx) error {
	return func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	}
}

func (e *Engine) create(tb testing.TB, indexes ...storage.IndexSpec) {
	tb.Helper()
	must(tb, e.Update(tb.Context(), func(tx storage.Tx) error {
		_, err := tx.Create(ns, nil, indexes)
		return err
	}))
}

func insertDoc(id, a int32) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		_, err := c.Insert(document(id, a), 1)
		return err
	}
}

// ids are those of the documents, by an index, or in the order of the records.
func (e *Engine) ids(tb testing.TB, index string) (ids []int32) {
	tb.Helper()
	must(tb, e.View(tb.Context(), in(func(c storage.Collection) error {
		ids = nil
		each := func(r storage.Record) bool { ids = append(ids, r.Doc.Lookup("_id").Int32()); return true }
		if index == "" {
			return c.Scan(storage.Range{}, each)
		}
		return c.ScanRecords(index, storage.KeyRange{}, func(_ []byte, r storage.Record) bool { return each(r) })
	})))
	return ids
}

var errStore = errors.New("the store fails")
