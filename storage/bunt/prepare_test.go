package bunt

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestChangedIDs compares two versions of a tree record by record.
func TestChangedIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newRecords()
		change := func(tree *records, name string) {
			for i := range rapid.IntRange(0, 60).Draw(t, name) {
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					tree.Delete(storage.RecordID(rapid.Int64Range(1, 3000).Draw(t, "id")))
				case 1:
					tree.Set(storage.RecordID(rapid.Int64Range(1, 3000).Draw(t, "id")), fmt.Sprint(name, i))
				default:
					tree.Set(tree.high+1, fmt.Sprint(name, i))
				}
			}
		}
		for i := range storage.RecordID(rapid.SampledFrom([]int{0, 20, 31, 32, 500, 2000}).Draw(t, "n")) {
			a.Set(i+1, "before")
		}
		change(a, "a")
		b := a.fork()
		change(b, "b")
		var want []storage.RecordID
		for id := range max(a.high, b.high) + 1 {
			old, had := a.Get(id)
			if now, has := b.Get(id); had != has || old != now {
				want = append(want, id)
			}
		}
		if got := changedIDs(a, b); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// docOf is a document of the test of preparations.
func docOf(i, a int) value.Doc {
	return value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(a)))
}

// TestPrepareIndex writes between the preparation of an index and its
// creation: it is the same as one that was not prepared.
func TestPrepareIndex(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, inColl(e, ns, func(c storage.Collection) error {
		for i := range 5000 {
			if _, err := c.Insert(docOf(i, i), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	spec := storagetest.UniqueSpec("a")
	release, err := e.PrepareIndex(ctx, ns, spec)
	must(t, err)
	must(t, inColl(e, ns, func(c storage.Collection) error {
		return errors.Join(
			storagetest.Done(c.Update(10, docOf(9, 19), 2)), // these two exchange their keys
			storagetest.Done(c.Update(20, docOf(19, 9), 2)),
			storagetest.Done(c.Update(30, value.NewDoc("_id", value.Int32(29), "a", value.NewArray(value.Int32(-1), value.Int32(-2))), 2)),
			storagetest.Done(c.Delete(40)),
			func() error { _, err := c.Insert(docOf(5000, 39), 2); return err }(),
		)
	}))
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, spec) }))
	c := e.root.Load().get(ns)
	if c.index("a").entries.root == nil {
		t.Fatal("no tree")
	}
	want, err := buildIndex(ctx, ns, "a", c.index("a").maker, c.records)
	must(t, err)
	got := c.index("a")
	if !slices.Equal(entryList(got.entries), entryList(want.entries)) || got.bytes != want.bytes || got.multikey != want.multikey {
		t.Error("the prepared index is another one")
	}
	release()
	if n := len(e.prepared.list); n != 0 {
		t.Errorf("%d preparations are left", n)
	}
}

// TestPrepareViolated: a record that comes after the preparation and violates
// the index fails its creation, as without one.
func TestPrepareViolated(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	insert := func(i, a int) {
		must(t, inColl(e, ns, func(c storage.Collection) error { _, err := c.Insert(docOf(i, a), 1); return err }))
	}
	insert(1, 1)
	spec := storagetest.UniqueSpec("a")
	release, err := e.PrepareIndex(ctx, ns, spec)
	must(t, err)
	defer release()
	insert(2, 1)
	var dup *storage.DuplicateKeyError
	err = e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, spec) })
	if !errors.As(err, &dup) || dup.Existing != 1 || dup.Index != "a" || dup.Namespace != ns {
		t.Errorf("error %v", err)
	}
	if _, err := e.PrepareIndex(ctx, ns, spec); !errors.As(err, &dup) {
		t.Errorf("a preparation over what violates the index: error %v", err)
	}
	if _, err := e.PrepareIndex(ctx, storage.Namespace{DB: "no", Coll: "no"}, spec); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no collection: error %v", err)
	}
}

// TestPrepareForeign: an index that was prepared for another specification, or for
// another collection of the same name, is not used.
func TestPrepareForeign(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, inColl(e, ns, func(c storage.Collection) error { _, err := c.Insert(docOf(1, 1), 1); return err }))
	release, err := e.PrepareIndex(ctx, ns, storagetest.Spec("a"))
	must(t, err)
	defer release()
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("a")) }))
	if n := e.root.Load().get(ns).index("a").entries.Len(); n != 0 {
		t.Errorf("%d entries of another collection", n)
	}
}
