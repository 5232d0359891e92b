package postgres_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// within runs a write on a collection in a transaction.
func within(tx storage.Tx, write func(storage.Collection) error) error {
	c, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	return write(c)
}

// set changes the first record.
func set(n int32) func(storage.Collection) error {
	return func(c storage.Collection) error {
		_, err := c.Update(1, value.NewDoc("_id", value.Int32(1), "a", value.Int32(n)), 2)
		return err
	}
}

// adds inserts a document.
func adds(id int32) func(storage.Collection) error {
	return func(c storage.Collection) error {
		_, err := c.Insert(value.NewDoc("_id", value.Int32(id), "a", value.Int32(0)), 2)
		return err
	}
}

// plain writes in an Update.
func plain(e storage.Sharer, write func(storage.Collection) error) error {
	return e.UpdateShared(ctx, func(tx storage.Tx) error { return within(tx, write) })
}

// begins opens a transaction, which the end of the test aborts.
func begins(tb testing.TB, e storage.Engine) storage.Txn {
	tb.Helper()
	txn, err := e.Begin(ctx)
	must(tb, err)
	tb.Cleanup(txn.Abort)
	return txn
}

func wantConflict(tb testing.TB, what string, err error) {
	tb.Helper()
	if !errors.Is(err, storage.ErrConflict) {
		tb.Errorf("%s: %v, want a conflict", what, err)
	}
}

// eventually tries something until there is no conflict any more.
func eventually(tb testing.TB, max time.Duration, what string, try func() error) {
	tb.Helper()
	for begun := clock.System().Now(); ; {
		err := try()
		if err == nil {
			return
		}
		if took := clock.System().Now().Sub(begun); took > max || !errors.Is(err, storage.ErrConflict) {
			tb.Fatalf("%s after %v: %v", what, took, err)
		}
		<-clock.System().After(20 * time.Millisecond)
	}
}

// two are two servers over a collection with one record.
func two(tb testing.TB) (a, b *postgres.Engine) {
	tb.Helper()
	all := servers(tb, 2)
	create(tb, all[0], ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	must(tb, plain(all[0], adds(1)))
	return all[0], all[1]
}

// first is the field of the first record.
func first(tb testing.TB, e storage.Engine) (n int32) {
	tb.Helper()
	must(tb, e.View(ctx, func(tx storage.Tx) error {
		return within(tx, func(c storage.Collection) error {
			r, _, err := c.Get(1)
			n = r.Doc.Lookup("a").Int32()
			return err
		})
	}))
	return n
}

// TestClaims: a write to what an open transaction on another server has written is a
// conflict at once, until that transaction ends.
func TestClaims(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	for _, end := range []struct {
		name string
		end  func(storage.Txn) error
		want int32 // what the transaction has left
	}{
		{"commit", func(x storage.Txn) error { return x.Commit(ctx) }, 10},
		{"abort", func(x storage.Txn) error { x.Abort(); return nil }, 0},
	} {
		t.Run(end.name, func(t *testing.T) {
			must(t, plain(a, set(0)))
			txn := begins(t, a)
			must(t, within(txn, set(10)))
			must(t, within(txn, set(10))) // it has the claim
			wantConflict(t, "an update on the other server", plain(b, set(20)))
			wantConflict(t, "an update on this server", plain(a, set(20)))
			wantConflict(t, "a deletion", plain(b, func(c storage.Collection) error { _, err := c.Delete(1); return err }))
			wantConflict(t, "an update of all", b.Update(ctx, func(tx storage.Tx) error { return within(tx, set(20)) }))
			other := begins(t, b)
			wantConflict(t, "a transaction on the other server", within(other, set(20)))
			other.Abort()
			must(t, plain(b, adds(100+end.want))) // what it has not written is free
			select {
			case <-b.Changes():
			default:
			}
			must(t, end.end(txn))
			select {
			case <-b.Changes():
			case <-clock.System().After(5 * time.Second):
				t.Error("the end of the transaction is not reported")
			}
			eventually(t, 5*time.Second, "an update", func() error {
				if got := first(t, b); got != end.want {
					t.Errorf("the record has %d, want %d", got, end.want)
				}
				return plain(b, set(20))
			})
			other = begins(t, b)
			must(t, within(other, set(30)))
			must(t, other.Commit(ctx))
			if got := first(t, a); got != 30 {
				t.Errorf("the record has %d, want 30", got)
			}
		})
	}
}

// TestClaimsOfSnapshot: a transaction cannot write what another server has changed
// since its snapshot, and finds out at once.
func TestClaimsOfSnapshot(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	txn := begins(t, a)
	must(t, within(txn, adds(2)))
	must(t, plain(b, set(5)))
	for range 2 {
		wantConflict(t, "an update", within(txn, set(10)))
	}
	must(t, plain(b, adds(3)))
	wantConflict(t, "a key that was inserted since", within(txn, adds(3)))
	must(t, txn.Commit(ctx)) // the writes that failed have changed nothing
	txn = begins(t, a)
	must(t, plain(b, func(c storage.Collection) error { _, err := c.Delete(1); return err }))
	wantConflict(t, "a record that was deleted since", within(txn, set(10)))
}

// TestClaimsOfKeys: two open transactions on two servers cannot insert the same key
// of a unique index.
func TestClaimsOfKeys(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	one, other := begins(t, a), begins(t, b)
	must(t, within(one, adds(7)))
	wantConflict(t, "the key on the other server", within(other, adds(7)))
	must(t, within(other, adds(8)))
	wantConflict(t, "an insert without a transaction", plain(b, adds(7)))
	wantConflict(t, "a key of the other server", plain(a, adds(8)))
	must(t, other.Commit(ctx))
	one.Abort()
	eventually(t, 5*time.Second, "an insert", func() error { return plain(b, adds(7)) })
	var dup *storage.DuplicateKeyError
	if err := plain(a, adds(8)); !errors.As(err, &dup) {
		t.Errorf("an insert of a key that was committed: %v", err)
	}
	if n := count(t, a); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

// TestClaimsOfNames: a collection that an open transaction has written to cannot be
// changed on another server, and of two collections of one name one is created.
func TestClaimsOfNames(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	txn := begins(t, a)
	must(t, within(txn, adds(2)))
	fresh := storage.Namespace{DB: "db", Coll: "fresh"}
	_, err := txn.Create(fresh, nil, nil)
	must(t, err)
	for what, fn := range map[string]func(storage.Tx) error{
		"a drop":     func(tx storage.Tx) error { return tx.Drop(ns) },
		"a rename":   func(tx storage.Tx) error { return tx.Rename(ns, storage.Namespace{DB: "db", Coll: "other"}) },
		"an index":   func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("b")) },
		"a creation": func(tx storage.Tx) error { _, err := tx.Create(fresh, nil, nil); return err },
	} {
		wantConflict(t, what, b.Update(ctx, fn))
	}
	must(t, txn.Commit(ctx))
	must(t, b.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	if err := b.Update(ctx, func(tx storage.Tx) error { _, err := tx.Create(fresh, nil, nil); return err }); !errors.Is(err, storage.ErrExists) {
		t.Errorf("the creation of what the transaction has created: %v", err)
	}
}

// TestClaimsOfTheDead: the claims of a server end when it has not been heard of for a
// while. When it comes back, its transactions cannot commit, also if nobody has
// written what they have.
func TestClaimsOfTheDead(t *testing.T) {
	t.Parallel()
	schema := pgtest.Schema(t.TempDir())
	all := serversIn(t, schema, 2)
	a, b := all[0], all[1]
	create(t, a, ns, storagetest.UniqueSpec("_id"))
	must(t, plain(a, adds(1)))
	must(t, plain(a, adds(2)))
	admin, err := pgconn.Connect(ctx, pgtest.URI(t))
	must(t, err)
	defer func() { _ = admin.Close(ctx) }()
	run := func(sql string) {
		t.Helper()
		_, err := admin.Exec(ctx, fmt.Sprintf("set search_path = %q; ", schema)+sql).ReadAll()
		must(t, err)
	}
	second := func(c storage.Collection) error { _, err := c.Delete(2); return err }
	txn := begins(t, a)
	must(t, within(txn, second))
	run(`update claim set txn = 1`) // as if the transaction did not know of it
	txn.Abort()
	txn = begins(t, a)
	must(t, within(txn, set(10)))
	// The claims are now those of a server that renews its row no more.
	run(`insert into server values ('ghost', '', 0, 0, now() + interval '4 seconds'); update claim set server = 'ghost' where txn <> 1`)
	wantConflict(t, "an update of what a transaction has left behind", plain(b, second))
	wantConflict(t, "an update before the end of the server", plain(b, set(20)))
	eventually(t, 10*time.Second, "an index", func() error {
		return b.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("b")) })
	})
	eventually(t, 10*time.Second, "an update of what was left behind", func() error { return plain(b, second) })
	wantConflict(t, "the commit of the transaction", txn.Commit(ctx))
	if got := first(t, a); got != 0 {
		t.Errorf("the record has %d, want 0", got)
	}
	txn = begins(t, a)
	must(t, within(txn, set(30)))
	run(`delete from claim`)
	wantConflict(t, "the commit of a transaction whose claims were removed", txn.Commit(ctx))
	txn = begins(t, b)
	must(t, within(txn, set(40)))
	must(t, b.Close())
	eventually(t, 5*time.Second, "an update after the other server has ended", func() error { return plain(a, set(50)) })
}

// TestClaimsOfRanges: a range delete passes over what an open transaction on another
// server has written, or has a conflict.
func TestClaimsOfRanges(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	must(t, plain(a, adds(2)))
	txn := begins(t, a)
	must(t, within(txn, set(10)))
	remove := func(busy bool) (out storage.RangeDeleted, err error) {
		err = plain(b, func(c storage.Collection) error {
			out, err = c.DeleteRange(&storage.RangeDelete{Index: "a", Busy: busy, Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }})
			return err
		})
		return out, err
	}
	_, err := remove(false)
	wantConflict(t, "the deletion", err)
	if out, err := remove(true); err != nil || out.Removed != 1 || out.Busy != 1 {
		t.Errorf("removed %d, passed over %d: %v", out.Removed, out.Busy, err)
	}
	must(t, txn.Commit(ctx))
	if n := count(t, b); n != 1 {
		t.Errorf("%d records are left, want 1", n)
	}
}

// TestClaimTrips: what the writes of a transaction cost in round trips.
func TestClaimTrips(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	e := at(t, pgtest.URI(t), func() { trips.Add(1) })
	for i := range int32(20) {
		must(t, plain(e, adds(i)))
	}
	lowest := map[string]int64{}
	measure := func(name string, do func() error) {
		t.Helper()
		before := trips.Load()
		must(t, do())
		n := trips.Load() - before
		if old, ok := lowest[name]; !ok || n < old { // a beat may come between
			lowest[name] = n
		}
	}
	for i := range int32(3) {
		txn := begins(t, e)
		put := func(id storage.RecordID) func() error {
			return func() error {
				return within(txn, func(c storage.Collection) error {
					_, err := c.Update(id, value.NewDoc("_id", value.Int32(int32(id)-1), "a", value.Int32(100+i)), 2)
					return err
				})
			}
		}
		measure("the first update", put(3))
		measure("a further update", put(4))
		measure("an update of the same", put(4))
		measure("an insert", func() error { return within(txn, adds(50+i)) })
		measure("the commit", func() error { return txn.Commit(ctx) })
	}
	for name, most := range map[string]int64{"the first update": 4, "a further update": 2, "an update of the same": 0, "an insert": 1, "the commit": 8} {
		t.Logf("%s: %d round trips", name, lowest[name])
		if lowest[name] > most {
			t.Errorf("%s: %d round trips, want at most %d", name, lowest[name], most)
		}
	}
}
