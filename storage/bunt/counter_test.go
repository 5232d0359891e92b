package bunt

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// A counter changes nothing: the conformance suite holds over it.
func TestCounterConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs without a counter, too")
	}
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: ix})
		must(tb, err)
		return storagetest.NewCounter(e)
	})
}

// It counts each call once, by the side it is made on, and forgets what was
// taken.
func TestCounterCounts(t *testing.T) {
	c := storagetest.NewCounter(openAt(t, Memory))
	var _ storage.Sharer = c
	must(t, c.UpdateShared(ctx, func(tx storage.Tx) error {
		coll, err := tx.Create(ns, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
		for i := range 3 {
			_, failed := coll.Insert(value.NewDoc("_id", value.Int32(int32(i))), 1)
			err = errors.Join(err, failed)
		}
		return err
	}))
	must(t, c.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		_, _, err = coll.Get(1)
		return errors.Join(err, coll.GetMany([]storage.RecordID{1, 3}, func(storage.Record) bool { return true }))
	}))
	got := c.Take()
	if want := "Update 1, View 1, W.Create 1, W.Insert 3, r.Collection 1, r.Get 1, r.GetMany 1"; got.String() != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	if got.Rows() != 2 || got.Transactions() != 2 || got.Data() != 5 || got.Opens() != 1 || got.Writes() != 3 {
		t.Errorf("%v: rows %d, transactions %d, data %d, opens %d, writes %d", map[string]int(got), got.Rows(), got.Transactions(), got.Data(), got.Opens(), got.Writes())
	}
	if left := c.Take(); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
