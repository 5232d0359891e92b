package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// testLifetime: a transaction is of no use after its function.
func testLifetime(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	var tx storage.Tx
	var c storage.Collection
	keep := func(x storage.Tx) (err error) {
		tx = x
		c, err = x.Collection(NS)
		return err
	}
	for _, run := range []func(context.Context, func(storage.Tx) error) error{s.View, s.Update} {
		s.must(run(ctx, keep))
		_, err := tx.Collection(NS)
		equal(t, "collection fails", err != nil, true)
		equal(t, "drop fails", tx.Drop(NS) != nil, true)
		_, err = c.Insert(doc(1, 1), 1)
		equal(t, "insert fails", err != nil, true)
		equal(t, "scan fails", c.Scan(storage.Range{}, func(storage.Record) bool { return true }) != nil, true)
	}
	equal(t, "collections", names(s, ""), "db.coll ")
}

func testContext(t *testing.T, open Opener) {
	s := startWith(t, open)
	done, cancel := context.WithCancel(ctx)
	cancel()
	never := func(storage.Tx) error { t.Error("ran"); return nil }
	s.wantErr(s.View(done, never), context.Canceled)
	s.wantErr(s.Update(done, never), context.Canceled)
	_, err := s.Begin(done)
	s.wantErr(err, context.Canceled)
	// Waiting for another writer ends with the context. An engine whose writers do not
	// wait for each other may run the function at once.
	s.update(func(storage.Tx) error {
		waiting, cancel := context.WithCancel(ctx)
		errs, ran := make(chan error), false
		go func() { errs <- s.Update(waiting, func(storage.Tx) error { ran = true; return nil }) }()
		cancel()
		if err := <-errs; !ran || err != nil {
			s.wantErr(err, context.Canceled)
		}
		return nil
	})
}

func testReopen(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	big := value.NewDoc("_id", value.Int32(-1), "s", value.String(string(make([]byte, 3<<20))))
	s.insert(big)
	for i := range int32(50) {
		s.insert(doc(i, i%7))
	}
	s.write(func(c storage.Collection) error {
		for i := storage.RecordID(5); i < 20; i++ {
			s.must(Done(c.Delete(i)))
		}
		return Done(c.Update(30, doc(1000, 3), 77))
	})
	s.update(func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("b")) })
	for i := range 3 {
		before := Dump(s)
		s.reopen()
		equal(t, fmt.Sprint("state after reopening ", i), Dump(s), before)
		s.insert(doc(int32(2000+i), 0))
	}
}

func testSyncAndCompact(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.must(s.Sync(ctx))
	for i := range int32(200) {
		s.insert(doc(i, i))
		s.write(func(c storage.Collection) error { return Done(c.Update(storage.RecordID(i+1), doc(i, i+1), 2)) })
	}
	s.update(func(tx storage.Tx) error { _, err := tx.Create(ns("db", "gone"), nil, nil); return err })
	s.update(func(tx storage.Tx) error { return tx.Drop(ns("db", "gone")) })
	s.write(func(c storage.Collection) error { return Done(c.Delete(200)) })
	s.must(s.Sync(ctx))
	before, size := Dump(s), Got(s.Stats()).FileBytes
	s.must(s.Compact(ctx))
	equal(t, "state", Dump(s), before)
	for try := 1; Got(s.Stats()).Persistent && Got(s.Stats()).FileBytes >= size; try++ {
		if try == 600 {
			t.Fatalf("%d bytes after compaction, %d before", Got(s.Stats()).FileBytes, size)
		}
		<-clock.System().After(100 * time.Millisecond) // others who use the same database may read what was there
		s.must(s.Compact(ctx))
	}
	s.must(s.Sync(ctx))
	equal(t, "next id", s.insert(doc(500, 500))[0], 201)
	s.write(func(c storage.Collection) error { return Done(c.Delete(201)) })
	s.must(s.Sync(ctx))
	s.reopen()
	s.read(func(c storage.Collection) { equal(t, "last id", Got(c.LastID()), 201) })
	s.must(s.Compact(ctx))
	s.reopen()
	s.must(s.Compact(ctx))
	s.read(func(c storage.Collection) {
		equal(t, "last id", Got(c.LastID()), 201)
		equal(t, "count", Got(c.Count()), 199)
	})
}

func testClose(t *testing.T, open Opener) {
	s := startWith(t, open)
	txn, err := s.Begin(ctx)
	s.must(err)
	s.must(s.Close())
	s.must(s.Close())
	none := func(storage.Tx) error { return nil }
	s.wantErr(s.View(ctx, none), storage.ErrClosed)
	s.wantErr(s.Update(ctx, none), storage.ErrClosed)
	s.wantErr(s.Sync(ctx), storage.ErrClosed)
	s.wantErr(s.Compact(ctx), storage.ErrClosed)
	_, err = s.Begin(ctx)
	s.wantErr(err, storage.ErrClosed)
	c, err := txn.Collection(NS)
	if err == nil {
		_, err = c.Insert(doc(1, 1), 1)
	}
	equal(t, "writing fails", err != nil || txn.Commit(ctx) != nil, true)
	txn.Abort()
}

func testStats(t *testing.T, open Opener) {
	s := startWith(t, open)
	before := Got(s.Stats())
	s.insert(doc(1, 1))
	s.update(func(storage.Tx) error { return nil }) // nothing to commit
	_ = s.tryWrite(func(c storage.Collection) error { _, _ = c.Insert(doc(2, 2), 1); return errRollback })
	equal(t, "commits", Got(s.Stats()).Commits-before.Commits, 1)
	txn, err := s.Begin(ctx)
	s.must(err)
	equal(t, "open snapshots", Got(s.Stats()).OpenSnapshots, 1)
	txn.Abort()
	txn.Abort()
	equal(t, "open snapshots", Got(s.Stats()).OpenSnapshots, 0)
	s.must(s.Sync(ctx))
	st := Got(s.Stats())
	equal(t, "name", st.Name != "", true)
	equal(t, "sync errors", st.SyncErrors, 0)
	if st.Persistent {
		equal(t, "synced", st.Syncs > 0, true)
		equal(t, "grew", st.FileBytes > before.FileBytes, true)
	}
}
