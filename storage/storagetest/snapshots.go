package storagetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// begin opens a snapshot transaction and NS within it.
func (s *session) begin() (storage.Txn, storage.Collection) {
	s.Helper()
	txn, err := s.Begin(ctx)
	s.must(err)
	s.Cleanup(txn.Abort)
	c, err := txn.Collection(NS)
	s.must(err)
	return txn, c
}

func testSnapshot(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.insert(doc(1, 1), doc(2, 2))
	txn, c := s.begin()
	s.write(func(c storage.Collection) error {
		_, err := c.Insert(doc(3, 3), 1)
		return errors.Join(err, Done(c.Update(1, doc(1, 100), 2)))
	})
	// It sees its beginning …
	wantDoc(t, c, 1, doc(1, 1))
	equal(t, "count", Got(c.Count()), 2)
	equal(t, "entries", len(entries(t, c, "a", storage.KeyRange{})), 2)
	// … and its own writes, which nobody else sees.
	id, err := c.Insert(doc(4, 4), 5)
	s.must(err)
	s.must(Done(c.Update(id, doc(4, 5), 6)))
	s.must(Done(c.Delete(2)))
	wantDoc(t, c, id, doc(4, 5))
	equal(t, "count", Got(c.Count()), 2)
	_, ok := find(t, c, "_id", key(2))
	equal(t, "deleted record found", ok, false)
	s.read(func(c storage.Collection) { equal(t, "count outside", Got(c.Count()), 3) })

	s.must(txn.Commit(ctx))
	equal(t, "commit again fails", txn.Commit(ctx) != nil, true)
	txn.Abort()
	for range 2 {
		s.read(func(c storage.Collection) {
			equal(t, "ids", slices.Equal(scanIDs(c, storage.Range{}), []storage.RecordID{1, 3, 4}), true)
			wantDoc(t, c, 1, doc(1, 100))
			wantDoc(t, c, 3, doc(3, 3))
			wantDoc(t, c, 4, doc(4, 5)) // a new id, behind what was committed before
		})
		s.reopen()
	}
}

func testSnapshotConflicts(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1), doc(2, 2), doc(3, 3))
	update := func(id storage.RecordID, a int32) error {
		return s.tryWrite(func(c storage.Collection) error { return Done(c.Update(id, doc(int32(id), a), 2)) })
	}
	a, ca := s.begin()
	b, cb := s.begin()
	s.must(update(1, 10))
	s.wantErr(Done(ca.Update(1, doc(1, 11), 3)), storage.ErrConflict) // changed since
	s.wantErr(Done(ca.Delete(1)), storage.ErrConflict)
	s.must(Done(ca.Update(2, doc(2, 12), 3)))
	s.wantErr(Done(cb.Update(2, doc(2, 13), 3)), storage.ErrConflict) // a has written it
	s.wantErr(Done(cb.Delete(2)), storage.ErrConflict)
	s.wantErr(update(2, 14), storage.ErrConflict) // an Update does not wait for a
	s.must(Done(cb.Update(3, doc(3, 15), 3)))
	s.must(a.Commit(ctx))
	s.wantErr(Done(cb.Update(2, doc(2, 16), 3)), storage.ErrConflict) // changed since
	s.must(b.Commit(ctx))
	s.must(update(2, 17)) // free again
	s.read(func(c storage.Collection) {
		wantDoc(t, c, 1, doc(1, 10))
		wantDoc(t, c, 2, doc(2, 17))
		wantDoc(t, c, 3, doc(3, 15))
	})
	// A record that is gone, and one deleted by two.
	a, ca = s.begin()
	b, cb = s.begin()
	s.write(func(c storage.Collection) error { return Done(c.Delete(1)) })
	s.wantErr(Done(ca.Update(1, doc(1, 1), 4)), storage.ErrConflict)
	s.must(Done(ca.Delete(2)))
	s.wantErr(Done(cb.Delete(2)), storage.ErrConflict)
	s.must(a.Commit(ctx))
	s.must(b.Commit(ctx))
	s.read(func(c storage.Collection) { equal(t, "count", Got(c.Count()), 1) })
}

func testSnapshotKeys(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1), doc(2, 2))
	a, ca := s.begin()
	b, cb := s.begin()
	_, err := ca.Insert(doc(1, 9), 1)
	s.wantDup(err, "_id", 1) // within the snapshot
	_, err = ca.Insert(doc(5, 5), 1)
	s.must(err)
	_, err = cb.Insert(doc(5, 6), 1)
	s.wantErr(err, storage.ErrConflict) // a has written the key
	err = s.tryWrite(func(c storage.Collection) error { _, err := c.Insert(doc(5, 7), 1); return err })
	s.wantErr(err, storage.ErrConflict)
	s.insert(doc(6, 6))
	_, err = cb.Insert(doc(6, 7), 1)
	s.wantErr(err, storage.ErrConflict) // taken since
	s.wantErr(Done(cb.Update(2, doc(6, 7), 1)), storage.ErrConflict)
	s.must(a.Commit(ctx))
	b.Abort()
	// Freed and taken within one transaction, and a swap.
	a, ca = s.begin()
	s.must(Done(ca.Delete(1)))
	_, err = ca.Insert(doc(1, 50), 2)
	s.must(err)
	s.must(Done(ca.Update(2, doc(7, 7), 2)))
	_, err = ca.Insert(doc(2, 51), 2)
	s.must(err)
	s.must(a.Commit(ctx))
	s.read(func(c storage.Collection) {
		for id, want := range map[int32]int32{1: 50, 2: 51, 5: 5, 6: 6, 7: 7} {
			d, ok := find(t, c, "_id", key(id))
			equal(t, "found", ok, true)
			equal(t, "value", d.Lookup("a").Int32(), want)
		}
		equal(t, "count", Got(c.Count()), 5)
	})
}

func testSnapshotCatalog(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	other := ns("db", "other")
	txn, _ := s.begin()
	c, err := txn.Create(other, nil, []storage.IndexSpec{UniqueSpec("_id")})
	s.must(err)
	_, err = c.Insert(doc(1, 1), 1)
	s.must(err)
	s.must(txn.CreateIndex(other, Spec("a")))
	create := func(tx storage.Tx) error { _, err := tx.Create(other, nil, nil); return err }
	equal(t, "outside", names(s, ""), "db.coll ")
	s.wantErr(s.Update(ctx, create), storage.ErrConflict)
	uuid := c.Info().UUID
	s.must(txn.Commit(ctx))
	equal(t, "uuid", info(s, other).UUID, uuid)
	equal(t, "index", info(s, other).Index("a") != nil, true)

	// The catalog changed since: no write to that collection any more.
	changes := []func(tx storage.Tx) error{
		func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("a")) },
		func(tx storage.Tx) error { return tx.SetOptions(NS, doc(1, 1)) },
		func(tx storage.Tx) error { return tx.Rename(NS, ns("db", "moved")) },
		func(tx storage.Tx) error { return tx.Rename(ns("db", "moved"), NS) },
		func(tx storage.Tx) error { return tx.Drop(NS) },
	}
	for i, change := range changes {
		txn, err := s.Begin(ctx)
		s.must(err)
		c, cerr := txn.Collection(NS)
		before, _ := s.Begin(ctx)
		s.update(change)
		if cerr == nil {
			_, err = c.Insert(doc(9, 9), 1)
			if !errors.Is(err, storage.ErrConflict) {
				t.Errorf("change %d: insert: %v", i, err)
			}
		}
		txn.Abort()
		before.Abort()
	}
	// A name taken since.
	txn, err = s.Begin(ctx)
	s.must(err)
	s.update(func(tx storage.Tx) error { _, err := tx.Create(NS, nil, nil); return err })
	_, err = txn.Create(NS, nil, nil)
	s.wantErr(err, storage.ErrConflict)
	txn.Abort()
	testSnapshotCatalogRace(s)
}

// testSnapshotCatalogRace: the catalog changes after the transaction wrote.
func testSnapshotCatalogRace(s *session) {
	s.insert(doc(1, 1))
	cases := []struct {
		name        string
		inside      func(txn storage.Txn) error
		outside     func(tx storage.Tx) error
		mayConflict bool // outside, because inside has claimed it
	}{
		{"insert, index", func(txn storage.Txn) error {
			c, _ := txn.Collection(NS)
			_, err := c.Insert(doc(2, 2), 1)
			return err
		}, func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("x")) }, true},
		{"insert, truncate", func(txn storage.Txn) error {
			c, _ := txn.Collection(NS)
			_, err := c.Insert(doc(2, 2), 1)
			return err
		}, func(tx storage.Tx) error { c, _ := tx.Collection(NS); return c.Truncate() }, false},
		{"drop, insert", func(txn storage.Txn) error { return txn.Drop(NS) },
			func(tx storage.Tx) error {
				c, _ := tx.Collection(NS)
				_, err := c.Insert(doc(3, 3), 1)
				return err
			}, true},
	}
	for _, tc := range cases {
		txn, err := s.Begin(ctx)
		s.must(err)
		s.must(tc.inside(txn))
		err = s.Update(ctx, tc.outside)
		if tc.mayConflict {
			s.wantErr(err, storage.ErrConflict)
			s.must(txn.Commit(ctx))
			continue
		}
		s.must(err)
		if err := txn.Commit(ctx); !errors.Is(err, storage.ErrConflict) {
			s.Errorf("%s: commit: %v", tc.name, err)
		}
	}
}

func testSnapshotAbort(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1))
	before := Dump(s)
	txn, c := s.begin()
	_, err := c.Insert(doc(2, 2), 1)
	s.must(err)
	s.must(Done(c.Update(1, doc(1, 5), 1)))
	s.must(c.Truncate())
	s.must(txn.Drop(NS))
	txn.Abort()
	equal(t, "commit after abort fails", txn.Commit(ctx) != nil, true)
	_, err = txn.Collection(NS)
	equal(t, "use after abort fails", err != nil, true)
	equal(t, "state", Dump(s), before)
	s.insert(doc(2, 2)) // nothing is claimed any more
	s.write(func(c storage.Collection) error { return Done(c.Update(1, doc(1, 6), 1)) })
}

// testSnapshotOrder: ids grow in the order of commits, so that a reader who
// follows a collection by id misses nothing.
func testSnapshotOrder(t *testing.T, open Opener) {
	s := startWith(t, open)
	txn, c := s.begin()
	for i := range int32(3) {
		_, err := c.Insert(doc(i, 1), 1)
		s.must(err)
	}
	s.insert(doc(10, 2), doc(11, 2))
	var last storage.RecordID
	s.read(func(c storage.Collection) { last = Got(c.LastID()) })
	s.must(txn.Commit(ctx))
	var got []int32
	s.read(func(c storage.Collection) {
		s.must(c.Scan(storage.Range{After: last}, func(r storage.Record) bool {
			got = append(got, r.Doc.Lookup("_id").Int32())
			return true
		}))
	})
	equal(t, "what came after", slices.Equal(got, []int32{0, 1, 2}), true)
	// Renamed within the transaction that writes to it.
	txn, _ = s.begin()
	s.must(txn.Rename(NS, ns("db", "moved")))
	c, err := txn.Collection(ns("db", "moved"))
	s.must(err)
	s.must(Done(c.Update(1, value.NewDoc("x", value.Int32(1)), 1)))
	_, err = c.Insert(doc(9, 9), 1)
	s.must(err)
	s.must(txn.Commit(ctx))
	equal(t, "collections", names(s, ""), "db.moved ")
}
