package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// numbers gives numbers from one on.
func numbers(from uint64) func() uint64 {
	return func() uint64 { from++; return from - 1 }
}

// holds checks what a transaction sees: the records of ns, with its indexes.
func holds(t *testing.T, txn storage.Txn, want string) {
	t.Helper()
	c, err := txn.Collection(ns)
	must(t, err)
	got := fmt.Sprint(len(c.Info().Indexes), " ", storagetest.Got(c.Count()))
	must(t, c.Scan(storage.Range{}, func(r storage.Record) bool { got += " " + r.Doc.Lookup("_id").String(); return true }))
	if got != want {
		t.Errorf("the transaction sees %q, want %q", got, want)
	}
}

// TestNumberedSnapshot: a state that one server has chosen is read by another one, with its
// catalog, whatever was written and created since. It stays with that when the first one has
// let it go.
func TestNumberedSnapshot(t *testing.T) {
	t.Parallel()
	list := servers(t, 3)
	a, b := list[0], list[1]
	create(t, a, ns, storagetest.UniqueSpec("_id"))
	must(t, insert(a, value.Int32(1)))
	first, number, err := a.BeginNumbered(ctx, numbers(7))
	must(t, err)
	defer first.Abort()
	if number != 7 {
		t.Errorf("the number is %d, want the first", number)
	}
	must(t, insert(a, value.Int32(2)))
	must(t, b.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("k")) }))
	must(t, b.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(storage.Namespace{DB: "db", Coll: "later"}, nil, nil)
		return err
	}))

	second, err := b.BeginAt(ctx, number)
	must(t, err)
	defer second.Abort()
	holds(t, second, "1 1 1")
	if _, err := second.Collection(storage.Namespace{DB: "db", Coll: "later"}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a collection that was made later: %v", err)
	}
	third, number, err := b.BeginNumbered(ctx, numbers(7))
	must(t, err)
	defer third.Abort()
	if number != 8 {
		t.Errorf("the number is %d, want the first that no state has", number)
	}
	holds(t, third, "2 2 1 2")

	must(t, b.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	first.Abort()
	holds(t, second, "1 1 1")
	fourth, err := a.BeginAt(ctx, number)
	must(t, err)
	defer fourth.Abort()
	holds(t, fourth, "2 2 1 2")
	_, err = a.BeginAt(ctx, 9)
	if !errors.Is(err, storage.ErrNoSnapshot) {
		t.Errorf("a number that nothing has: %v", err)
	}
	gone := func() bool {
		txn, err := list[2].BeginAt(ctx, 7)
		if err == nil {
			txn.Abort()
		}
		return errors.Is(err, storage.ErrNoSnapshot)
	}
	for end := time.Now().Add(30 * time.Second); !gone(); { // the end of a transaction is not waited for
		if time.Now().After(end) {
			t.Fatal("a state that was let go can still be had")
		}
	}
}

// TestNumberedSnapshotName: the name that the database has given a state is not believed if
// it leads to another one, as it may after a restart; and without it a new transaction
// will do as long as nothing has been written.
func TestNumberedSnapshotName(t *testing.T) {
	t.Parallel()
	schema := pgtest.Schema(t.TempDir())
	list := serversIn(t, schema, 2)
	a, b := list[0], list[1]
	create(t, a, ns)
	old, before, err := a.BeginNumbered(ctx, numbers(1))
	must(t, err)
	defer old.Abort()
	must(t, insert(a, value.Int32(1)))
	now, after, err := a.BeginNumbered(ctx, numbers(2))
	must(t, err)
	defer now.Abort()
	admin, err := pgconn.Connect(ctx, pgtest.URI(t))
	must(t, err)
	defer admin.Close(ctx)
	exec := func(sql string) {
		t.Helper()
		_, err := admin.Exec(ctx, sql).ReadAll()
		must(t, err)
	}
	table := `"` + schema + `".snapshot`
	for name, change := range map[string]string{
		"the name of another state": fmt.Sprintf("update %s s set name = o.name from %s o where s.number = %d and o.number = %d", table, table, before, after),
		"a name that is not known":  fmt.Sprintf("update %s set name = '00000009-000009AB-1' where number = %d", table, before),
		"no name":                   fmt.Sprintf("update %s set name = '' where number = %d", table, before),
		"what is no name":           fmt.Sprintf("update %s set name = 'it''s' where number = %d", table, before),
	} {
		exec(change)
		if _, err := b.BeginAt(ctx, before); !errors.Is(err, storage.ErrNoSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"00000009-000009AB-1", ""} {
		exec(fmt.Sprintf("update %s set name = '%s' where number = %d", table, name, after))
		txn, err := b.BeginAt(ctx, after)
		must(t, err)
		holds(t, txn, "0 1 1")
		txn.Abort()
	}
}

// TestNumberedSnapshotLimit: such states count like those of transactions.
func TestNumberedSnapshotLimit(t *testing.T) {
	t.Parallel()
	e, err := postgres.Open(ctx, postgres.Options{URI: pgtest.URI(t), Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Snapshots: 1})
	must(t, err)
	defer e.Close()
	txn, number, err := e.BeginNumbered(ctx, numbers(1))
	must(t, err)
	defer txn.Abort()
	if _, _, err := e.BeginNumbered(ctx, numbers(2)); !errors.Is(err, storage.ErrManySnapshots) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := e.BeginAt(ctx, number); !errors.Is(err, storage.ErrManySnapshots) {
		t.Errorf("the same again: %v", err)
	}
}
