package auth

import (
	"context"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// TestChangesAreSeenByAll changes a role while others read its privileges: a read after a
// change must see it.
func TestChangesAreSeenByAll(t *testing.T) {
	f := newFixture(t)
	ann := at("ann", "shop")
	u := f.user(ann, "p", at("read", "shop"))
	find, insert := MustAction("find"), MustAction("insert")
	orders := Namespace("shop", "orders")
	ctx := context.Background()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for mine := u; ; {
				select {
				case <-stop:
					return
				default:
				}
				now, err := f.Current(ctx, mine)
				if err != nil || now == nil || !now.May(orders, find) {
					t.Errorf("%v, %v", now, err)
					return
				}
				mine = now
			}
		})
	}
	mine := u
	for i := range 50 {
		grant := i%2 == 0
		f.must(func(c *Catalog) error {
			if grant {
				return c.GrantRoles(ann, []Name{at("readWrite", "shop")})
			}
			return c.RevokeRoles(ann, []Name{at("readWrite", "shop")})
		})
		var err error
		if mine, err = f.Current(ctx, mine); err != nil || mine.May(orders, insert) != grant {
			t.Fatalf("change %d is not seen: %v", i, err)
		}
	}
	close(stop)
	readers.Wait()
}

// A change of users counts as soon as it is committed, whichever client makes it.
// Commits to other collections invalidate nothing.
func TestChangesCountWhenCommitted(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	ann := at("ann", "shop")
	first, err := f.Current(ctx, f.user(ann, "p", at("read", "shop")))
	if err != nil {
		t.Fatal(err)
	}
	commit := func(fn func(storage.Tx) error) *User {
		t.Helper()
		txn, err := f.options.Engine.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer txn.Abort()
		if err := fn(txn); err != nil {
			t.Fatal(err)
		}
		if now, err := f.Current(ctx, first); now != first || err != nil {
			t.Errorf("an open transaction makes users stale: %v", err)
		}
		if err := txn.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		now, err := f.Current(ctx, first)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	f.update(func(tx storage.Tx) error { _, err := tx.Create(namespace{DB: "shop", Coll: "c"}, nil, nil); return err })
	other := commit(func(tx storage.Tx) error {
		c, err := tx.Collection(namespace{DB: "shop", Coll: "c"})
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(1)), 1)
		}
		return err
	})
	if other != first {
		t.Error("a transaction that changed no user made users stale")
	}
	now := commit(func(tx storage.Tx) error { return f.In(tx, 1).GrantRoles(ann, []Name{at("readWrite", "shop")}) })
	if now == first || !now.May(Namespace("shop", "orders"), MustAction("insert")) {
		t.Error("the change of a transaction is not seen")
	}
	f.update(func(tx storage.Tx) error { return tx.Drop(usersNS) })
	if now, err := f.Current(ctx, first); now != nil || err != nil {
		t.Errorf("after the collection was dropped: %v, %v", now, err)
	}
	if any, err := f.HasUsers(ctx); any || err != nil {
		t.Errorf("after the collection was dropped there are users: %v", err)
	}
}

func TestForgottenUsersAreReadAgain(t *testing.T) {
	f := newFixture(t)
	if u, err := f.Find(context.Background(), at("bob", "shop")); u != nil || err != nil {
		t.Errorf("%v, %v", u, err)
	}
	if u, err := f.Current(context.Background(), nil); u != nil || err != nil {
		t.Errorf("%v, %v", u, err)
	}
	u := f.user(at("ann", "shop"), "p")
	f.must(func(c *Catalog) error { return c.remove(usersNS, at("ann", "shop")) })
	if now, err := f.Current(context.Background(), u); now != nil || err != nil {
		t.Errorf("%v, %v", now, err)
	}
	if f.Enabled("PLAIN") || !f.Enabled(SHA256) {
		t.Error("the enabled mechanisms are others")
	}
}
