package storagetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func ns(db, coll string) storage.Namespace { return storage.Namespace{DB: db, Coll: coll} }

func names(e storage.Engine, db string) (list string) {
	_ = e.View(ctx, func(tx storage.Tx) error {
		for _, i := range Got(tx.Collections(db)) {
			list += i.Namespace.String() + " "
		}
		return nil
	})
	return list
}

func databases(e storage.Engine) (list string) {
	_ = e.View(ctx, func(tx storage.Tx) error {
		list = databasesFrom(tx, "")
		return nil
	})
	return list
}

func databasesFrom(tx storage.Tx, from string) string {
	var dbs []string
	if err := tx.Databases(from, func(db string) bool { dbs = append(dbs, db); return db != "a.b" }); err != nil {
		return err.Error()
	}
	return strings.Join(dbs, " ")
}

func testCatalog(t *testing.T, open Opener) {
	s := start(t, open)
	s.update(func(tx storage.Tx) error {
		for _, n := range []storage.Namespace{ns("b", "y"), ns("a", "z"), ns("b", "x"), ns("a.b", "q"), ns("a-", "w")} {
			if _, err := tx.Create(n, nil, nil); err != nil {
				return err
			}
		}
		equal(t, "own writes", len(Got(tx.Collections("b"))), 2)
		equal(t, "databases of own writes", databasesFrom(tx, ""), "a a- a.b")
		equal(t, "databases behind", databasesFrom(tx, "a.c"), "b")
		equal(t, "databases from one on", databasesFrom(tx, "a-"), "a- a.b")
		return nil
	})
	equal(t, "all", names(s, ""), "a.z a-.w a.b.q b.x b.y ")
	equal(t, "a", names(s, "a"), "a.z ")
	equal(t, "b", names(s, "b"), "b.x b.y ")
	equal(t, "none", names(s, "c"), "")
	equal(t, "databases", databases(s), "a a- a.b")
	s.update(func(tx storage.Tx) error { return tx.Rename(ns("b", "y"), ns("a", "y")) })
	s.update(func(tx storage.Tx) error { return tx.Drop(ns("b", "x")) })
	equal(t, "after rename and drop", names(s, ""), "a.y a.z a-.w a.b.q ")
	equal(t, "databases after rename and drop", databases(s), "a a- a.b")
}

func testCatalogErrors(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	other := ns("db", "other")
	cases := []struct {
		name string
		do   func(tx storage.Tx) error
		want error
	}{
		{"create again", func(tx storage.Tx) error { _, err := tx.Create(NS, nil, nil); return err }, storage.ErrExists},
		{"two indexes of one name", func(tx storage.Tx) error {
			_, err := tx.Create(other, nil, []storage.IndexSpec{Spec("a"), Spec("a")})
			return err
		}, storage.ErrExists},
		{"bad index", func(tx storage.Tx) error {
			_, err := tx.Create(other, nil, []storage.IndexSpec{{Name: "x"}})
			return err
		}, errNoField},
		{"open", func(tx storage.Tx) error { _, err := tx.Collection(other); return err }, storage.ErrNotFound},
		{"drop", func(tx storage.Tx) error { return tx.Drop(other) }, storage.ErrNotFound},
		{"rename none", func(tx storage.Tx) error { return tx.Rename(other, NS) }, storage.ErrNotFound},
		{"rename onto", func(tx storage.Tx) error { return tx.Rename(NS, NS) }, storage.ErrExists},
		{"options", func(tx storage.Tx) error { return tx.SetOptions(other, nil) }, storage.ErrNotFound},
		{"index of none", func(tx storage.Tx) error { return tx.CreateIndex(other, Spec("a")) }, storage.ErrNotFound},
		{"index again", func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("_id")) }, storage.ErrExists},
		{"drop no index", func(tx storage.Tx) error { return tx.DropIndex(NS, "a") }, storage.ErrNoIndex},
		{"set no index", func(tx storage.Tx) error { return tx.SetIndex(NS, Spec("a")) }, storage.ErrNoIndex},
	}
	before := Dump(s)
	for _, c := range cases {
		s.update(func(tx storage.Tx) error { // the failed operation leaves no trace
			if err := c.do(tx); err == nil {
				t.Errorf("%s: no error", c.name)
			} else {
				s.wantErr(err, c.want)
			}
			return nil
		})
		equal(t, c.name, Dump(s), before)
	}
}

func info(e storage.Engine, n storage.Namespace) (i *storage.Info) {
	_ = e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(n)
		if err == nil {
			i = c.Info()
		}
		return err
	})
	return i
}

// testCatalogUUIDs: a chosen UUID is that of the collection, and of no other.
func testCatalogUUIDs(t *testing.T, open Opener) {
	s := start(t, open)
	id, moved, other := [16]byte{6: 0x40, 8: 0x80, 15: 1}, ns("db", "moved"), ns("other", "name")
	s.update(func(tx storage.Tx) error {
		if _, err := tx.CreateAs(NS, id, value.NewDoc("capped", value.Bool(true)), []storage.IndexSpec{UniqueSpec("_id")}); err != nil {
			return err
		}
		_, err := tx.CreateAs(NS, [16]byte{1}, nil, nil)
		equal(t, "a name that exists", errors.Is(err, storage.ErrExists), true)
		_, err = tx.CreateAs(other, id, nil, nil)
		equal(t, "own UUID", errors.Is(err, storage.ErrUUIDExists), true)
		return nil
	})
	s.update(func(tx storage.Tx) error { return tx.Rename(NS, moved) })
	for range 2 {
		i := info(s, moved)
		equal(t, "uuid", i.UUID, id)
		equal(t, "options", i.Options.String(), "{ capped: true }")
		equal(t, "indexes", len(i.Indexes), 1)
		err := s.Update(ctx, func(tx storage.Tx) error { _, err := tx.CreateAs(other, id, nil, nil); return err })
		equal(t, "UUID of another", errors.Is(err, storage.ErrUUIDExists), true)
		equal(t, "names", names(s, ""), "db.moved ")
		s.reopen()
	}
	s.update(func(tx storage.Tx) error { return tx.Drop(moved) })
	s.update(func(tx storage.Tx) error { _, err := tx.CreateAs(other, id, nil, nil); return err })
	equal(t, "again", info(s, other).UUID, id)
}

// testTxnUUIDs: the UUID is checked again when a transaction commits.
func testTxnUUIDs(t *testing.T, open Opener) {
	s := start(t, open)
	id := [16]byte{6: 0x40, 8: 0x80, 15: 1}
	txn, err := s.Begin(ctx)
	s.must(err)
	_, err = txn.CreateAs(ns("db", "a"), id, nil, nil)
	s.must(err)
	s.update(func(tx storage.Tx) error { _, err := tx.CreateAs(ns("db", "b"), id, nil, nil); return err })
	s.wantErr(txn.Commit(ctx), storage.ErrConflict)
	equal(t, "names", names(s, ""), "db.b ")
}

func testCatalogPersists(t *testing.T, open Opener) {
	s := start(t, open)
	opts := value.NewDoc("capped", value.Bool(true))
	s.update(func(tx storage.Tx) error {
		_, err := tx.Create(NS, opts, []storage.IndexSpec{UniqueSpec("_id"), Spec("a"), Spec("b")})
		return err
	})
	first := info(s, NS)
	moved := ns("other", "name")
	spec := Spec("a")
	spec.Spec = value.NewDoc("field", value.String("a"), "hidden", value.Bool(true))
	s.update(func(tx storage.Tx) error { return tx.Rename(NS, moved) })
	s.update(func(tx storage.Tx) error { return tx.SetIndex(moved, spec) })
	s.update(func(tx storage.Tx) error { return tx.DropIndex(moved, "b") })
	s.update(func(tx storage.Tx) error { return tx.CreateIndex(moved, Spec("c")) })
	s.update(func(tx storage.Tx) error { return tx.SetOptions(moved, value.NewDoc("size", value.Int32(9))) })
	equal(t, "an Info does not change", first.Meta.(Meta).Options, "{ capped: true }")
	for range 2 {
		i := info(s, moved)
		equal(t, "uuid", i.UUID, first.UUID)
		equal(t, "options", i.Options.String(), "{ size: 9 }")
		equal(t, "indexes", len(i.Indexes), 3)
		equal(t, "no index", i.Index("b") == nil, true)
		equal(t, "changed index", bytes.Equal(i.Index("a").Spec, spec.Spec), true)
		equal(t, "meta", i.Meta, Indexer{}.Attach(i))
		s.reopen()
	}
}
