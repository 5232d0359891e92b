package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// testGetMany: records come in the order asked for, without those that do not
// exist, as often as they are asked for.
func testGetMany(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	s.insert(doc(1, 1), doc(2, 2), doc(3, 3))
	list := func(c storage.Collection, most int, ids ...storage.RecordID) string {
		out := ""
		err := c.GetMany(ids, func(r storage.Record) bool {
			out += fmt.Sprintf("%d=%d@%d ", r.ID, r.Doc.Lookup("a").Int32(), r.TS)
			most--
			return most != 0
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	s.read(func(c storage.Collection) {
		equal(t, "none", list(c, 9), "")
		equal(t, "in their order", list(c, 9, 3, 7, 1, 3), "3=3@1 1=1@1 3=3@1 ")
		equal(t, "until fn returns false", list(c, 2, 1, 2, 3), "1=1@1 2=2@1 ")
	})
	s.write(func(c storage.Collection) error {
		s.must(Done(c.Update(2, doc(2, 20), 5)))
		s.must(Done(c.Delete(1)))
		id := Got(c.Insert(doc(4, 40), 6))
		equal(t, "its own writes", list(c, 9, 1, 2, 3, id), fmt.Sprintf("2=20@5 3=3@1 %d=40@6 ", id))
		return nil
	})
}

// testScanRecords: ScanRecords yields the entries of ScanIndex with their
// records.
func testScanRecords(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	for i := range int32(40) {
		s.insert(doc(i, i%7))
	}
	s.insert(value.NewDoc("_id", value.Int32(100), "a", value.NewArray(value.Int32(2), value.Int32(5))))
	check := func(c storage.Collection, r storage.KeyRange) {
		t.Helper()
		want, got := entries(t, c, "a", r), []string{}
		err := c.ScanRecords("a", r, func(k []byte, rec storage.Record) bool {
			stored, ok := Get(c, rec.ID)
			if !ok || stored.Doc.String() != rec.Doc.String() || stored.TS != rec.TS {
				t.Errorf("entry of record %d comes with %v, stored is %v (%v)", rec.ID, rec.Doc, stored.Doc, ok)
			}
			got = append(got, fmt.Sprintf("%x/%d", k, rec.ID))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("scan of %+v", r), fmt.Sprint(got), fmt.Sprint(want))
	}
	ranges := []storage.KeyRange{
		{}, {Reverse: true}, {Lo: key(2), Hi: key(5)}, {Lo: key(2), Hi: key(5), Reverse: true},
		{Lo: key(1), AfterKey: key(2), AfterID: 10}, {Reverse: true, AfterKey: key(2), AfterID: 10}, {Lo: key(9)},
	}
	all := func(c storage.Collection) {
		for _, r := range ranges {
			check(c, r)
		}
	}
	s.read(all)
	s.write(func(c storage.Collection) error {
		s.must(Done(c.Delete(3)))
		s.must(Done(c.Update(5, doc(4, 6), 9)))
		Got(c.Insert(doc(200, 2), 9))
		all(c)
		return nil
	})
	s.read(func(c storage.Collection) {
		err := c.ScanRecords("nope", storage.KeyRange{}, func([]byte, storage.Record) bool { return true })
		s.wantErr(err, storage.ErrNoIndex)
		n := 0
		s.must(c.ScanRecords("a", storage.KeyRange{}, func([]byte, storage.Record) bool { n++; return n < 3 }))
		equal(t, "visited", n, 3)
	})
}

// testWritten: an Update and a Delete return the record before, and how many
// keys were removed from indexes that are not private.
func testWritten(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"), Spec("$p"))
	first := value.NewDoc("_id", value.Int32(1), "a", value.NewArray(value.Int32(1), value.Int32(2), value.Int32(3)), "$p", value.Int32(1))
	s.insert(first)
	s.write(func(c storage.Collection) error {
		w := Got(c.Update(1, value.NewDoc("_id", value.Int32(1), "a", value.Int32(2)), 7))
		equal(t, "old document", w.Old.Doc.String(), first.String())
		equal(t, "old instant", w.Old.TS, 1)
		equal(t, "old id", w.Old.ID, 1)
		equal(t, "keys removed by the update", w.Keys, 2)
		w = Got(c.Delete(1))
		equal(t, "instant of the update", w.Old.TS, 7)
		equal(t, "keys removed by the delete", w.Keys, 2)
		_, err := c.Delete(1)
		s.wantErr(err, storage.ErrNoRecord)
		_, err = c.Update(1, first, 1)
		s.wantErr(err, storage.ErrNoRecord)
		return nil
	})
}

// testVersions: each change of a description gives it a version that it did not
// have before; changes of records do not.
func testVersions(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	version := func() (v uint64) {
		s.read(func(c storage.Collection) { v = c.Info().Version })
		return v
	}
	seen := map[uint64]string{version(): "create"}
	changes := []struct {
		name string
		do   func(storage.Tx) error
	}{
		{"options", func(tx storage.Tx) error { return tx.SetOptions(NS, doc(1, 1)) }},
		{"create index", func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("a")) }},
		{"set index", func(tx storage.Tx) error { return tx.SetIndex(NS, Spec("a")) }},
		{"drop index", func(tx storage.Tx) error { return tx.DropIndex(NS, "a") }},
		{"rename", func(tx storage.Tx) error {
			return errors.Join(tx.Rename(NS, ns("db", "else")), tx.Rename(ns("db", "else"), NS))
		}},
	}
	for _, c := range changes {
		s.update(c.do)
		v := version()
		if before, ok := seen[v]; ok {
			t.Errorf("%s: version %d is that of %q", c.name, v, before)
		}
		seen[v] = c.name
		s.insert(doc(int32(len(seen)), 1))
		equal(t, c.name+": version after an insert", version(), v)
	}
}

// testJobs: a server that is alone has the lease of every job.
func testJobs(t *testing.T, open Opener) {
	s := start(t, open)
	equal(t, "lease", s.Lease("ttl"), true)
	if l := s.Snapshots(); l.Max < 1 || l.MaxAge <= 0 {
		t.Errorf("limits of snapshots are %+v", l)
	}
	select {
	case <-s.Changes():
		t.Error("a change by another server is reported before there is one")
	default:
	}
	txn, err := s.Begin(ctx)
	s.must(err)
	defer txn.Abort()
	statement, end := context.WithCancel(ctx)
	txn.Within(statement)
	end()
	txn.Within(ctx) // the next statement is not affected
	_, err = txn.Create(NS, nil, nil)
	s.must(err)
	s.must(txn.Commit(ctx))
}
