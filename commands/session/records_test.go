package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// recordsTest is the records of sessions over an engine in memory.
type recordsTest struct {
	*testing.T
	engine storage.Engine
	session.Records
}

func newRecords(t *testing.T) *recordsTest {
	t.Helper()
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: clock.NewManual(harness.TestStart), Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	r := &recordsTest{T: t, engine: engine}
	r.must(r.Open(context.Background(), engine))
	return r
}

func (r *recordsTest) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// save writes a session's record, at an instant.
func (r *recordsTest) save(k session.RecordKey, number, at int64) {
	r.Helper()
	var id storage.RecordID
	r.must(r.engine.Update(context.Background(), func(tx storage.Tx) (err error) {
		id, err = r.Save(tx, k, value.NewDoc("_id", value.Document(k.Doc()), "txnNum", value.Int64(number)), at)
		return err
	}))
	r.Set(k, id)
}

// addPart writes a part of a session.
func (r *recordsTest) addPart(k session.RecordKey) {
	r.Helper()
	var id storage.RecordID
	r.must(r.engine.Update(context.Background(), func(tx storage.Tx) error {
		coll, err := catalog.EnsurePlain(tx, oplog.Statements)
		if err == nil {
			id, err = coll.Insert(value.NewDoc("session", value.Document(k.Doc())), 0)
		}
		return err
	}))
	r.AddParts(k, []storage.RecordID{id})
}

// stored returns the documents of a collection.
func (r *recordsTest) stored(ns storage.Namespace) (list []value.Doc) {
	r.Helper()
	r.must(r.engine.View(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		r.must(err)
		return coll.Scan(storage.Range{}, func(rec storage.Record) bool { list = append(list, rec.Doc.Clone()); return true })
	}))
	return list
}

func recordOf(n byte) session.RecordKey { return keyOf(n).Record() }

// A session has one record, which another process finds again with its parts.
func TestRecordsAreFoundAfterRestart(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	a, b := recordOf(1), session.Key{ID: [16]byte{1}, Child: string(bytesA[:])}.Record()
	r.save(a, 1, 0)
	r.save(a, 2, 0)
	r.save(b, 7, 0)
	r.addPart(b)
	r.addPart(b)
	if list := r.stored(oplog.Transactions); len(list) != 2 || list[0].Lookup("txnNum").Int64() != 2 || list[1].Lookup("txnNum").Int64() != 7 {
		t.Fatalf("records %v", list)
	}
	var again session.Records
	r.must(again.Open(context.Background(), r.engine))
	for _, k := range []session.RecordKey{a, b, recordOf(9)} {
		if again.Get(k) != r.Get(k) || len(again.PartsOf(k)) != len(r.PartsOf(k)) || (again.Get(k) == 0) != (k == recordOf(9)) {
			t.Errorf("%s: record %d with parts %v, before %d with %v", k.Doc(), again.Get(k), again.PartsOf(k), r.Get(k), r.PartsOf(k))
		}
	}
	if n := len(again.PartsOf(b)); n != 2 {
		t.Errorf("%d parts", n)
	}
}

// A record that somebody has deleted is written anew.
func TestDeletedRecordIsWrittenAgain(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	k := recordOf(1)
	r.save(k, 1, 0)
	r.must(r.engine.Update(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Transactions)
		r.must(err)
		return storagetest.Done(coll.Delete(r.Get(k)))
	}))
	old := r.Get(k)
	r.save(k, 2, 0)
	if list := r.stored(oplog.Transactions); len(list) != 1 || list[0].Lookup("txnNum").Int64() != 2 || r.Get(k) == old {
		t.Errorf("records %v, found at %d", list, r.Get(k))
	}
}

// Parts are removed with the number that they belong to, and those that are gone
// already do not matter.
func TestDropParts(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	a, b := recordOf(1), recordOf(2)
	drop := func(k session.RecordKey) {
		r.must(r.engine.Update(context.Background(), func(tx storage.Tx) error { return r.DropParts(tx, k) }))
	}
	drop(a) // there is no such collection
	r.AddParts(a, []storage.RecordID{17})
	drop(a)
	r.ForgetParts(a)
	r.addPart(a)
	r.addPart(b)
	r.AddParts(a, []storage.RecordID{4711})
	if drop(a); len(r.PartsOf(a)) != 2 {
		t.Error("parts are forgotten before the commit")
	}
	r.ForgetParts(a)
	if list := r.stored(oplog.Statements); len(list) != 1 || string(list[0].Lookup("session").Doc()) != string(b.Doc()) || len(r.PartsOf(a)) != 0 || len(r.PartsOf(b)) != 1 {
		t.Errorf("parts %v, known %v and %v", list, r.PartsOf(a), r.PartsOf(b))
	}
}

// Records of sessions that have ended go once they are as old as a session may be, as
// mongod's reaper of config.transactions has it; those of live sessions stay.
func TestReap(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	ctx, before := context.Background(), int64(1000)
	none := func(session.RecordKey) bool { return false }
	r.must(r.Reap(ctx, r.engine, none, before))
	ended, live, fresh, gone := recordOf(1), recordOf(2), recordOf(3), recordOf(4)
	for k, at := range map[session.RecordKey]int64{ended: before - 1, live: before - 1, fresh: before, gone: before - 1} {
		r.save(k, 1, at)
		r.addPart(k)
	}
	r.Set(gone, 4711)
	r.must(r.Reap(ctx, r.engine, func(k session.RecordKey) bool { return k == live }, before))
	for k, want := range map[session.RecordKey]int{ended: 0, live: 1, fresh: 1, gone: 0} {
		if id := r.Get(k); (id != 0) != (want != 0) || len(r.PartsOf(k)) != want {
			t.Errorf("%s: record %d, parts %v", k.Doc(), id, r.PartsOf(k))
		}
	}
	if n := len(r.stored(oplog.Statements)); n != 2 {
		t.Errorf("%d parts are left", n)
	}
	if n := len(r.stored(oplog.Transactions)); n != 3 { // the one whose place was not known
		t.Errorf("%d records are left", n)
	}
}

// One pass of the reaper is bounded.
func TestReapIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	r.must(r.engine.Update(context.Background(), func(tx storage.Tx) error {
		for i := range oplog.TrimChunk + 3 {
			k := session.Key{ID: [16]byte{byte(i), byte(i >> 8)}}.Record()
			id, err := r.Save(tx, k, value.NewDoc("_id", value.Document(k.Doc())), 1)
			if err != nil {
				return err
			}
			r.Set(k, id)
		}
		return nil
	}))
	for _, want := range []int{3, 0} {
		r.must(r.Reap(context.Background(), r.engine, func(session.RecordKey) bool { return false }, 2))
		if n := len(r.stored(oplog.Transactions)); n != want {
			t.Errorf("%d records are left, want %d", n, want)
		}
	}
}

// Records that cannot be read are an error, and nothing is removed.
func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	h, e := harness.NewBreakable(t, kernel.Options{})
	for _, ns := range []storage.Namespace{oplog.Transactions, oplog.Statements} {
		e.Broken = ns
		var r session.Records
		if err := r.Open(h.Context(), e); !errors.Is(err, harness.ErrBroken) {
			t.Errorf("%s: %v", ns, err)
		}
	}
	var r session.Records
	e.Broken = oplog.Transactions
	if err := r.Reap(h.Context(), e, func(session.RecordKey) bool { return false }, 1); !errors.Is(err, harness.ErrBroken) {
		t.Error(err)
	}
}
