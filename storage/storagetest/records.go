package storagetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func testRecords(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	a, b := doc(1, 10), doc(2, 20)
	s.write(func(c storage.Collection) error {
		for i, d := range []value.Doc{a, b} {
			id, err := c.Insert(d, int64(100+i))
			if err != nil || id != storage.RecordID(i+1) {
				t.Fatalf("insert: id %d, %v", id, err)
			}
		}
		wantDoc(t, c, 2, b) // its own write
		equal(t, "own count", Got(c.Count()), 2)
		return nil
	})
	a2 := value.NewDoc("_id", value.Int32(1), "long", value.String("longer than before"))
	s.write(func(c storage.Collection) error {
		if err := Done(c.Update(1, a2, 200)); err != nil {
			return err
		}
		return Done(c.Delete(2))
	})
	s.read(func(c storage.Collection) {
		wantDoc(t, c, 1, a2)
		r, _ := Get(c, 1)
		equal(t, "timestamp", r.TS, 200)
		_, ok := Get(c, 2)
		equal(t, "deleted", ok, false)
		equal(t, "count", Got(c.Count()), 1)
		equal(t, "size", Got(c.Size()), int64(len(a2)))
		d, ok := find(t, c, "_id", key(1))
		equal(t, "found", ok && slices.Equal(d, a2), true)
		_, ok = find(t, c, "_id", key(2))
		equal(t, "not found", ok, false)
	})
}

func testRecordErrors(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1))
	s.write(func(c storage.Collection) error {
		s.wantErr(Done(c.Update(0, doc(1, 1), 1)), storage.ErrNoRecord)
		s.wantErr(Done(c.Update(2, doc(1, 1), 1)), storage.ErrNoRecord)
		s.wantErr(Done(c.Delete(2)), storage.ErrNoRecord)
		_, err := c.Insert(value.NewDoc("bad", value.Bool(true)), 1)
		s.wantErr(err, errBadDoc)
		s.wantErr(Done(c.Update(1, value.NewDoc("bad", value.Bool(true)), 1)), errBadDoc)
		_, _, err = c.Find("none", nil)
		s.wantErr(err, storage.ErrNoIndex)
		_, err = c.IndexStats("none")
		s.wantErr(err, storage.ErrNoIndex)
		return nil
	})
	s.read(func(c storage.Collection) {
		wantDoc(t, c, 1, doc(1, 1))
		equal(t, "count", Got(c.Count()), 1)
		none := func([]byte, storage.RecordID) bool { return true }
		s.wantErr(c.ScanIndex("none", storage.KeyRange{}, none), storage.ErrNoIndex)
		_, ok := Get(c, 0)
		equal(t, "record 0", ok, false)
	})
}

// testLastID: an id is never given twice, not after deletes and not after a
// restart.
func testLastID(t *testing.T, open Opener) {
	s := startWith(t, open)
	s.insert(doc(1, 1), doc(2, 2), doc(3, 3))
	s.write(func(c storage.Collection) error { return errors.Join(Done(c.Delete(3)), Done(c.Delete(2))) })
	s.reopen()
	s.read(func(c storage.Collection) { equal(t, "last id", Got(c.LastID()), 3) })
	equal(t, "next id", s.insert(doc(4, 4))[0], 4)
	s.write(func(c storage.Collection) error {
		id, err := c.Insert(doc(5, 5), 1)
		return errors.Join(err, Done(c.Delete(id)))
	})
	s.write(func(c storage.Collection) error { return c.Truncate() })
	s.reopen()
	equal(t, "next id", s.insert(doc(6, 6))[0], 6)
	s.reopen()
	s.read(func(c storage.Collection) { equal(t, "last id", Got(c.LastID()), 6) })
}

// testImmutable: what is handed in is copied, what is handed out stays.
func testImmutable(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	in := doc(1, 1)
	s.insert(in)
	clear(in)
	var out value.Doc
	s.read(func(c storage.Collection) {
		r, _ := Get(c, 1)
		out = r.Doc
	})
	s.write(func(c storage.Collection) error { return Done(c.Update(1, doc(1, 2), 2)) })
	s.write(func(c storage.Collection) error { return Done(c.Delete(1)) })
	s.must(s.Compact(ctx))
	s.must(s.Close())
	equal(t, "a document that was read", out.String(), doc(1, 1).String())
	s.Engine = s.open(t, s.dir, Indexer{})
}

func testTruncate(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	for i := range int32(1200) {
		s.insert(doc(i, i))
	}
	err := s.tryWrite(func(c storage.Collection) error {
		if err := c.Truncate(); err != nil {
			return err
		}
		equal(t, "count", Got(c.Count()), 0)
		return errRollback
	})
	s.wantErr(err, errRollback)
	s.read(func(c storage.Collection) { equal(t, "count", Got(c.Count()), 1200) })
	s.write(func(c storage.Collection) error {
		if err := c.Truncate(); err != nil {
			return err
		}
		_, err := c.Insert(doc(7, 7), 1)
		return err
	})
	for range 3 {
		s.read(func(c storage.Collection) {
			equal(t, "count", Got(c.Count()), 1)
			equal(t, "size", Got(c.Size()), int64(len(doc(7, 7))))
			_, ok := find(t, c, "_id", key(8))
			equal(t, "found", ok, false)
		})
		s.reopen()
	}
	s.must(s.Compact(ctx))
	s.read(func(c storage.Collection) {
		equal(t, "ids", slices.Equal(scanIDs(c, storage.Range{}), []storage.RecordID{1201}), true)
	})
}

// errRollback is a caller's own error.
var errRollback = errors.New("roll back")

func testRollback(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.insert(doc(1, 1), doc(2, 2))
	before := Dump(s)
	err := s.Update(ctx, func(tx storage.Tx) error {
		c, _ := tx.Collection(NS)
		_, err := c.Insert(doc(3, 3), 1)
		if _, cerr := tx.Create(ns("db", "new"), nil, nil); cerr != nil {
			return cerr
		}
		return errors.Join(err, Done(c.Update(1, doc(1, 9), 2)), Done(c.Delete(2)),
			tx.CreateIndex(NS, Spec("b")), tx.DropIndex(NS, "a"), tx.SetOptions(NS, doc(1, 1)),
			tx.Rename(NS, ns("db", "moved")), errRollback)
	})
	s.wantErr(err, errRollback)
	equal(t, "state", Dump(s), before)
	s.reopen()
	equal(t, "state after reopening", Dump(s), before)
	equal(t, "next id", s.insert(doc(3, 3))[0], 3)
}

// testFailedOperation: after a duplicate key, the function goes on.
func testFailedOperation(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"), UniqueSpec("u"))
	u := func(id, a, u int32) value.Doc {
		return value.NewDoc("_id", value.Int32(id), "a", value.Int32(a), "u", value.Int32(u))
	}
	s.write(func(c storage.Collection) error {
		if _, err := c.Insert(u(1, 1, 1), 1); err != nil {
			return err
		}
		_, err := c.Insert(u(2, 2, 1), 1)
		s.wantDup(err, "u", 1)
		_, err = c.Insert(u(3, 3, 3), 1)
		s.wantDup(Done(c.Update(2, u(3, 4, 1), 1)), "u", 1)
		return err
	})
	s.read(func(c storage.Collection) {
		equal(t, "count", Got(c.Count()), 2)
		equal(t, "entries of a", len(entries(t, c, "a", storage.KeyRange{})), 2)
		wantDoc(t, c, 2, u(3, 3, 3))
	})
}

func testReadOnly(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1))
	s.must(s.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		s.must(err)
		_, err = c.Insert(doc(2, 2), 1)
		s.wantErr(err, storage.ErrReadOnly)
		_, err = tx.Create(ns("x", "y"), nil, nil)
		s.wantErr(err, storage.ErrReadOnly)
		for _, err := range []error{
			Done(c.Update(1, doc(1, 2), 1)), Done(c.Delete(1)), c.Truncate(),
			tx.Drop(NS), tx.Rename(NS, ns("x", "y")), tx.SetOptions(NS, nil),
			tx.CreateIndex(NS, Spec("a")), tx.DropIndex(NS, "_id"), tx.SetIndex(NS, UniqueSpec("_id")),
		} {
			s.wantErr(err, storage.ErrReadOnly)
		}
		return nil
	}))
}
