package auth

import (
	"context"
	"sync"
	"testing"
)

// TestChangesAreSeenByAll changes a role while others ask what it allows:
// a reader after a change must see it.
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

func TestTransactionsCount(t *testing.T) {
	f := newFixture(t)
	u := f.user(at("ann", "shop"), "p", at("read", "shop"))
	ctx := context.Background()
	first, _ := f.Current(ctx, u)
	f.TransactionCommitted()
	if again, _ := f.Current(ctx, first); again != first {
		t.Error("a transaction without changes made users stale")
	}
	f.ChangedInTransaction()
	f.TransactionCommitted()
	if again, _ := f.Current(ctx, first); again == first {
		t.Error("a transaction with changes did not make users stale")
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
