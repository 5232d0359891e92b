package bunt

import (
	"context"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestViewBriefly: a brief View sees what a View sees, also within another one and for a second
// collection, and its transaction cannot be used when it is over.
func TestViewBriefly(t *testing.T) {
	t.Parallel()
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 10)
	other := storage.Namespace{DB: "db", Coll: "d"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(other, nil, nil)
		return err
	}))
	count := func(tx storage.Tx, ns storage.Namespace) int64 {
		c, err := tx.Collection(ns)
		must(t, err)
		n, err := c.Count()
		must(t, err)
		return n
	}
	var kept storage.Tx
	must(t, e.ViewBriefly(ctx, func(tx storage.Tx) error {
		first, err := tx.Collection(ns)
		must(t, err)
		must(t, e.ViewBriefly(ctx, func(inner storage.Tx) error {
			if n := count(inner, other); n != 0 {
				t.Errorf("the inner View counts %d", n)
			}
			return nil
		}))
		must(t, inColl(e, ns, func(c storage.Collection) error {
			_, err := c.Insert(value.NewDoc("_id", value.Int32(10)), 1)
			return err
		}))
		if n := count(tx, other); n != 0 {
			t.Errorf("the second collection has %d", n)
		}
		if n, _ := first.Count(); n != 10 || count(tx, ns) != 10 {
			t.Errorf("the first collection has %d, expected the 10 from the beginning", n)
		}
		if _, err := tx.Create(storage.Namespace{DB: "db", Coll: "e"}, nil, nil); !errors.Is(err, storage.ErrReadOnly) {
			t.Errorf("create: %v", err)
		}
		kept = tx
		return nil
	}))
	if _, err := kept.Collection(ns); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("after the View: %v", err)
	}
	failed := errors.New("failed")
	if err := e.ViewBriefly(ctx, func(storage.Tx) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	never := func(storage.Tx) error { t.Error("it ran"); return nil }
	ended, end := context.WithCancel(ctx)
	end()
	if err := e.ViewBriefly(ended, never); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
	must(t, e.Close())
	if err := e.ViewBriefly(ctx, never); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
