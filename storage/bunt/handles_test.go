package bunt

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// A transaction that opens a collection again gets the collection that has the name now.
func TestHandlesFollowNames(t *testing.T) {
	t.Parallel()
	e := openAt(t, Memory)
	a, b, c := storage.Namespace{DB: "d", Coll: "a"}, storage.Namespace{DB: "d", Coll: "b"}, storage.Namespace{DB: "d", Coll: "c"}
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		for i, ns := range []storage.Namespace{a, b} {
			coll := storagetest.Got(tx.Create(ns, nil, nil))
			for range i + 1 {
				storagetest.Got(coll.Insert(bigger, 1))
			}
		}
		return nil
	}))
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		check := func(step string, ns storage.Namespace, want int64) {
			coll, err := tx.Collection(ns)
			if want < 0 {
				if !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("%s: %s is there: %v", step, ns, err)
				}
				return
			}
			if err != nil {
				t.Errorf("%s: %s: %v", step, ns, err)
			} else if n := storagetest.Got(coll.Count()); n != want {
				t.Errorf("%s: %s has %d records, want %d", step, ns, n, want)
			}
		}
		check("begin", a, 1)
		check("begin", b, 2)
		must(t, tx.Drop(a))
		check("dropped", a, -1)
		check("dropped", b, 2)
		must(t, tx.Rename(b, a))
		check("renamed", a, 2)
		check("renamed", b, -1)
		coll := storagetest.Got(tx.Create(b, nil, nil))
		check("created", b, 0)
		storagetest.Got(coll.Insert(bigger, 1))
		check("inserted", b, 1)
		must(t, tx.Rename(a, c))
		check("renamed again", c, 2)
		check("renamed again", a, -1)
		check("renamed again", b, 1)
		return nil
	}))
}

// The updates of a group open their collections once.
func TestOpeningAgainTakesNoMemory(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e)
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		if n := testing.AllocsPerRun(100, func() { storagetest.Got(tx.Collection(ns)) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		return nil
	}))
}
