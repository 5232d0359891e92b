package mem

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// inColl runs fn on the collection of the tests in an Update.
func inColl(e storage.Engine, fn func(c storage.Collection) error) error {
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return fn(c)
	})
}

func create(tb testing.TB, e storage.Engine, specs ...storage.IndexSpec) {
	tb.Helper()
	must(tb, e.Update(ctx, func(tx storage.Tx) error { _, err := tx.Create(ns, nil, specs); return err }))
}

// only returns the collection of the tests, which is the only one, in the latest state.
func (s *Store) only(tb testing.TB) *collection {
	tb.Helper()
	n := s.latest.Load()
	if n.colls.Len() != 1 {
		tb.Fatalf("%d collections", n.colls.Len())
	}
	var only *collection
	n.colls.All(func(_ uint32, c *collection) { only = c })
	return only
}

// docOf is a document of the test of preparations.
func docOf(i, a int) value.Doc {
	return value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(a)))
}

// TestPrepareIndex writes between the preparation of an index and its creation: it is the same
// as one that was not prepared. Nothing of it is in the log but its description.
func TestPrepareIndex(t *testing.T) {
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, inColl(e, func(c storage.Collection) error {
		for i := range 5000 {
			if _, err := c.Insert(docOf(i, i), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	groups := s.groups
	spec := storagetest.UniqueSpec("a")
	release, err := e.PrepareIndex(ctx, ns, spec)
	must(t, err)
	if s.groups != groups {
		t.Error("the preparation is in the log")
	}
	must(t, inColl(e, func(c storage.Collection) error {
		return errors.Join(
			storagetest.Done(c.Update(10, docOf(9, 19), 2)), // these two exchange their keys
			storagetest.Done(c.Update(20, docOf(19, 9), 2)),
			storagetest.Done(c.Update(30, value.NewDoc("_id", value.Int32(29), "a", value.NewArray(value.Int32(-1), value.Int32(-2))), 2)),
			storagetest.Done(c.Delete(40)),
			func() error { _, err := c.Insert(docOf(5000, 39), 2); return err }(),
		)
	}))
	rows := len(s.log)
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, spec) }))
	for _, r := range s.log[rows:] {
		if r.Kind != kv.RowCatalog && r.Kind != kv.RowStats {
			t.Errorf("the log has a row of %c for the creation of an index", r.Kind)
		}
	}
	got := s.only(t).indexes[1].entries
	if got.root == nil {
		t.Fatal("no tree")
	}
	stats := func(e storage.Engine) (x storage.IndexStats) {
		must(t, inColl(e, func(c storage.Collection) (err error) { x, err = c.IndexStats("a"); return err }))
		return x
	}
	again := s.replayed(t)
	built := again.engine(t, storagetest.Indexer{})
	if want := again.only(t).indexes[1].entries; !slices.Equal(entryList(got), entryList(want)) || stats(e) != stats(built) {
		t.Error("the prepared index is another one")
	}
	release()
	if n := s.latest.Load().marks.Len(); n != 0 {
		t.Errorf("%d preparations are left", n)
	}
}

// TestPrepareViolated: a record that comes after the preparation and violates the index fails
// its creation, as without one. Nothing is left of it.
func TestPrepareViolated(t *testing.T) {
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"))
	insert := func(i, a int) {
		must(t, inColl(e, func(c storage.Collection) error { _, err := c.Insert(docOf(i, a), 1); return err }))
	}
	insert(1, 1)
	spec := storagetest.UniqueSpec("a")
	release, err := e.PrepareIndex(ctx, ns, spec)
	must(t, err)
	insert(2, 1)
	var dup *storage.DuplicateKeyError
	err = e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, spec) })
	if !errors.As(err, &dup) || dup.Existing != 1 || dup.Index != "a" || dup.Namespace != ns {
		t.Errorf("error %v", err)
	}
	if _, err := e.PrepareIndex(ctx, ns, spec); !errors.As(err, &dup) || dup.Existing != 1 || dup.Index != "a" || dup.Namespace != ns {
		t.Errorf("a preparation over what violates the index: error %v", err)
	}
	if _, err := e.PrepareIndex(ctx, storage.Namespace{DB: "no", Coll: "no"}, spec); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no collection: error %v", err)
	}
	release()
	if c := s.only(t); len(c.indexes) != 1 || s.latest.Load().marks.Len() != 0 {
		t.Errorf("%d indexes and %d marks are left", len(c.indexes), s.latest.Load().marks.Len())
	}
}

// TestPrepareForeign: an index that was prepared for another specification, or for another
// collection of the same name, is not used.
func TestPrepareForeign(t *testing.T) {
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, inColl(e, func(c storage.Collection) error { _, err := c.Insert(docOf(1, 1), 1); return err }))
	release, err := e.PrepareIndex(ctx, ns, storagetest.Spec("a"))
	must(t, err)
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("a")) }))
	must(t, inColl(e, func(c storage.Collection) error {
		x, err := c.IndexStats("a")
		if x.Entries != 0 {
			t.Errorf("%d entries of another collection", x.Entries)
		}
		return err
	}))
	release()
	if n := s.latest.Load().colls.Len(); n != 1 {
		t.Errorf("%d collections: something of the first is left", n)
	}
}
