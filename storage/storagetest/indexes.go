package storagetest

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func testUnique(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), UniqueSpec("a"))
	s.insert(doc(1, 1), doc(2, 2))
	for range 2 {
		s.write(func(c storage.Collection) error {
			_, err := c.Insert(doc(1, 9), 1)
			s.wantDup(err, "_id", 1)
			_, err = c.Insert(doc(9, 2), 1)
			s.wantDup(err, "a", 2)
			s.wantDup(Done(c.Update(1, doc(1, 2), 1)), "a", 2)
			s.must(Done(c.Update(1, doc(1, 1), 2))) // itself is no duplicate
			return nil
		})
		s.reopen()
	}
	s.write(func(c storage.Collection) error { // freed and taken in one Update
		s.must(Done(c.Delete(2)))
		s.must(Done(c.Update(1, doc(1, 2), 3)))
		_, err := c.Insert(doc(2, 1), 3)
		return err
	})
	s.read(func(c storage.Collection) {
		d, _ := find(t, c, "a", key(1))
		equal(t, "owner of 1", d.Lookup("_id").Int32(), 2)
		d, _ = find(t, c, "a", key(2))
		equal(t, "owner of 2", d.Lookup("_id").Int32(), 1)
	})
}

func testIndexBuild(t *testing.T, open Opener) {
	const n = 10_000
	s := startWith(t, open, UniqueSpec("_id"))
	s.write(func(c storage.Collection) error {
		for i := range int32(n) {
			if _, err := c.Insert(doc(i, (i*7919)%n), 1); err != nil {
				return err
			}
		}
		return nil
	})
	s.update(func(tx storage.Tx) error { return tx.CreateIndex(NS, UniqueSpec("a")) })
	for range 2 {
		s.read(func(c storage.Collection) {
			next := int32(0)
			s.must(c.ScanIndex("a", storage.KeyRange{}, func(k []byte, id storage.RecordID) bool {
				r, _ := Get(c, id)
				equal(t, "key", string(k), string(key(next)))
				equal(t, "record", r.Doc.Lookup("a").Int32(), next)
				next++
				return true
			}))
			st, err := c.IndexStats("a")
			s.must(err)
			equal(t, "entries", st.Entries, n)
			equal(t, "has a size", st.Bytes >= n*int64(len(key(0))), true)
		})
		s.reopen()
	}
	// Index 1 of two equal values is reported, the failed index is not there.
	s.insert(doc(n, n), value.NewDoc("_id", value.Int32(n+1), "b", value.Int32(1)))
	err := s.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(NS, UniqueSpec("b")) })
	s.wantDup(err, "b", 1)
	equal(t, "no index", info(s, NS).Index("b") == nil, true)
	s.update(func(tx storage.Tx) error {
		s.wantDup(tx.CreateIndex(NS, UniqueSpec("b")), "b", 1)
		s.must(tx.CreateIndex(NS, Spec("b")))
		c, err := tx.Collection(NS)
		s.must(err)
		_, ok := find(t, c, "b", key(1)) // used in the Update that makes it
		equal(t, "found", ok, true)
		return nil
	})
}
