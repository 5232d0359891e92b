package kv

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestFinish: the writes of a commit are seen by the next writer at once, and by readers when
// they are safe; the commits that finish at the same time are shown in their order.
func TestFinish(t *testing.T) {
	t.Parallel()
	s := newMemStore()
	e := s.engine(t)
	e.create(t, storagetest.UniqueSpec("_id"))
	safe := make(chan error)
	s.wait = func() error { return <-safe }
	done := make(chan error, 2)
	commit := func(id int32) {
		done <- e.Update(t.Context(), in(func(c storage.Collection) error {
			if n, _ := c.Count(); int64(id) != n+1 {
				t.Errorf("the writer of document %d sees %d", id, n)
			}
			return insertDoc(id, 1)(c)
		}))
	}
	go commit(1)
	for s.committed() < 2 {
		runtime.Gosched()
	}
	go commit(2) // on the state of the first
	for s.committed() < 3 {
		runtime.Gosched()
	}
	if got := e.ids(t, ""); len(got) != 0 {
		t.Errorf("readers see %v before it is safe", got)
	}
	safe <- nil
	safe <- nil
	must(t, <-done)
	must(t, <-done)
	if got := e.ids(t, ""); !slices.Equal(got, []int32{1, 2}) {
		t.Errorf("readers see %v", got)
	}
}

// committed is the number of write sets that the store has.
func (s *memStore) committed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets
}

// TestStoreFails: an Update whose writes the store refuses, or cannot make safe, fails, and
// readers do not see them.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  func(s *memStore)
	}{
		{"apply", func(s *memStore) { s.apply = func(*WriteSet) error { return errStore } }},
		{"wait", func(s *memStore) { s.wait = func() error { return errStore } }},
		{"snapshot", func(s *memStore) { s.snapshot = func() error { return errStore } }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newMemStore()
			e := s.engine(t)
			e.create(t, storagetest.UniqueSpec("_id"))
			must(t, e.Update(t.Context(), in(insertDoc(1, 1))))
			tt.set(s)
			for _, update := range []func() error{
				func() error { return e.Update(t.Context(), in(insertDoc(2, 1))) },
				func() error { return e.UpdateShared(t.Context(), in(insertDoc(3, 1))) },
			} {
				if err := update(); !errors.Is(err, errStore) {
					t.Errorf("%v, want %v", err, errStore)
				}
			}
			if got := e.ids(t, ""); !slices.Equal(got, []int32{1}) {
				t.Errorf("readers see %v", got)
			}
		})
	}
}

// TestSnapshotsAreClosed: an engine that is closed holds no snapshot of its store.
func TestSnapshotsAreClosed(t *testing.T) {
	t.Parallel()
	s := newMemStore()
	e := s.engine(t)
	e.create(t, storagetest.UniqueSpec("_id"))
	txn, err := e.Begin(t.Context())
	must(t, err)
	for id := range int32(20) {
		must(t, e.UpdateShared(t.Context(), in(insertDoc(id, 1))))
	}
	if s.open != 2 { // the latest state, and that of the transaction
		t.Errorf("%d snapshots are open", s.open)
	}
	txn.Abort()
	must(t, e.Close())
	if s.open != 0 || !s.closed {
		t.Errorf("%d snapshots are open, closed: %v", s.open, s.closed)
	}
}

// TestOpenDamaged: a store whose rows contradict each other is refused, with a word on what.
func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		damage     func(w *WriteSet)
	}{
		{"no statistics", "no statistics", func(w *WriteSet) { w.Delete(numberKey(spaceStats, 1)) }},
		{"statistics of nothing", "does not exist", func(w *WriteSet) { w.Set(numberKey(spaceStats, 9), []byte{0}) }},
		{"short statistics", "damaged", func(w *WriteSet) { w.Set(numberKey(spaceStats, 1), []byte{1, 1}) }},
		{"long statistics", "damaged", func(w *WriteSet) {
			w.Set(numberKey(spaceStats, 1), []byte{1, 1, 1, 2, 1, 1, 0, 7, 7})
		}},
		{"no document", "catalog entry", func(w *WriteSet) { w.Set(numberKey(spaceCatalog, 1), []byte("x")) }},
		{"a mark", "mark", func(w *WriteSet) { w.Set(numberKey(spaceBuilding, 5), []byte("x")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newMemStore()
			e := s.engine(t)
			e.create(t, storagetest.UniqueSpec("_id"))
			must(t, e.Close())
			var w WriteSet
			tt.damage(&w)
			wait, err := s.Apply(t.Context(), &w)
			must(t, errors.Join(err, wait()))
			if _, err := Open(s, Options{Indexer: storagetest.Indexer{}}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
			if s.open != 0 {
				t.Errorf("%d snapshots are open", s.open)
			}
		})
	}
	if _, err := Open(newMemStore(), Options{}); err == nil {
		t.Error("an engine without an indexer is opened")
	}
}

// TestPreparedIndex: an index that is built beside writers has the records that were there
// before, and what has changed since, also by the transaction that creates it.
func TestPreparedIndex(t *testing.T) {
	t.Parallel()
	for _, unique := range []bool{false, true} {
		s := newMemStore()
		e := s.engine(t)
		e.create(t, storagetest.UniqueSpec("_id"))
		for id := range int32(50) {
			must(t, e.Update(t.Context(), in(insertDoc(id, 1000-id))))
		}
		spec := storagetest.Spec("a")
		if unique {
			spec = storagetest.UniqueSpec("a")
		}
		release, err := e.PrepareIndex(t.Context(), ns, spec)
		must(t, err)
		change := in(func(c storage.Collection) error {
			rec, _, err := c.Find("_id", keyOf(10))
			if err == nil {
				_, err = c.Update(rec.ID, document(10, 5000), 2)
			}
			gone, _, ferr := c.Find("_id", keyOf(20))
			if ferr == nil {
				_, ferr = c.Delete(gone.ID)
			}
			return errors.Join(err, ferr, insertDoc(100, 990)(c)) // the key that 10 had
		})
		must(t, e.Update(t.Context(), change))
		must(t, e.Update(t.Context(), func(tx storage.Tx) error {
			return errors.Join(in(insertDoc(101, 1))(tx), tx.CreateIndex(ns, spec), in(insertDoc(102, 0))(tx))
		}))
		release()
		want := e.ids(t, "")
		by := map[int32]int32{10: 5000, 100: 990, 101: 1, 102: 0}
		a := func(id int32) int32 {
			if v, ok := by[id]; ok {
				return v
			}
			return 1000 - id
		}
		slices.SortFunc(want, func(x, y int32) int { return int(a(x) - a(y)) })
		if got := e.ids(t, "a"); !slices.Equal(got, want) {
			t.Errorf("unique %v: by the index %v, want %v", unique, got, want)
		}
		must(t, e.Close())
		if got := s.engine(t).ids(t, "a"); !slices.Equal(got, want) {
			t.Errorf("unique %v: opened again, by the index %v", unique, got)
		}
	}
}

// TestPreparedIndexGoes: an index that was prepared in vain leaves nothing behind, whether it
// was released, was in the way of a duplicate, or the process has ended.
func TestPreparedIndexGoes(t *testing.T) {
	t.Parallel()
	s := newMemStore()
	e := s.engine(t)
	e.create(t, storagetest.UniqueSpec("_id"))
	for id := range int32(10) {
		must(t, e.Update(t.Context(), in(insertDoc(id, id/2))))
	}
	before := s.live()
	release, err := e.PrepareIndex(t.Context(), ns, storagetest.Spec("a"))
	must(t, err)
	if s.live() != before+11 { // the entries and a mark
		t.Errorf("%d keys, there were %d", s.live(), before)
	}
	release()
	if s.live() != before {
		t.Errorf("%d keys after its release, there were %d", s.live(), before)
	}
	var dup *storage.DuplicateKeyError
	if _, err := e.PrepareIndex(t.Context(), ns, storagetest.UniqueSpec("a")); !errors.As(err, &dup) || dup.Existing != 1 {
		t.Errorf("a unique index over duplicates: %v, %+v", err, dup)
	}
	if s.live() != before {
		t.Errorf("%d keys after a duplicate, there were %d", s.live(), before)
	}
	_, err = e.PrepareIndex(t.Context(), ns, storagetest.Spec("a"))
	must(t, err)
	must(t, e.Close()) // without its release
	if again := s.engine(t); s.live() != before || len(again.ids(t, "")) != 10 {
		t.Errorf("%d keys after it was opened again, there were %d", s.live(), before)
	}
}
