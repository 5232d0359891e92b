package session_test

import (
	"context"
	"errors"
	"fmt"
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
}

func newRecords(t *testing.T) *recordsTest {
	t.Helper()
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: clock.NewManual(harness.TestStart), Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return &recordsTest{T: t, engine: engine}
}

func (r *recordsTest) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *recordsTest) update(fn func(storage.Tx) error) {
	r.Helper()
	r.must(r.engine.Update(context.Background(), fn))
}

// nobody is the life of sessions of which none lives.
func nobody(session.RecordKey) bool { return false }

// reap removes records, and checks whether it says that there are more.
func (r *recordsTest) reap(live func(session.RecordKey) bool, before int64, want bool) {
	r.Helper()
	more, err := session.Reap(context.Background(), r.engine, live, before)
	if r.must(err); more != want {
		r.Errorf("more to be removed: %v", more)
	}
}

// session returns a session that has not read its record yet.
func (r *recordsTest) session(k session.Key) *session.Session {
	return used(session.NewRegistry(), k, harness.TestStart)
}

// save writes a session's record, at an instant.
func (r *recordsTest) save(s *session.Session, number, at int64) {
	r.Helper()
	r.update(func(tx storage.Tx) (err error) {
		s.Stored, err = s.Save(tx, value.NewDoc("_id", value.Document(s.RecordID), "txnNum", value.Int64(number)), at)
		return err
	})
}

// load reads a session's record.
func (r *recordsTest) load(s *session.Session) (d value.Doc) {
	r.Helper()
	r.must(r.engine.View(context.Background(), func(tx storage.Tx) (err error) { d, err = s.Load(tx); return err }))
	return d
}

// addPart writes a part of a number of a session, with the outcomes of two statements.
func (r *recordsTest) addPart(s *session.Session, number int64, first int32) {
	r.Helper()
	outcomes := []session.RetriedStatement{{First: first, Last: first, Kind: 'u'}, {First: first + 1, Last: first + 1, Kind: 'd'}}
	r.update(func(tx storage.Tx) error { return s.AddParts(tx, number, outcomes, 0) })
	s.Stored.Parts = true
}

// outcomes returns which statements of a number the parts of a session have.
func (r *recordsTest) outcomes(s *session.Session, number int64) (list string) {
	r.Helper()
	s.Number, s.History = number, &session.RetryHistory{}
	r.must(r.engine.View(context.Background(), s.ReadParts))
	for _, done := range s.History.Done {
		list += fmt.Sprintf("%d%c ", done.First, done.Kind)
	}
	return list
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

// numbers returns the transaction numbers in the records, in the order of writing.
func (r *recordsTest) numbers() (list string) {
	for _, d := range r.stored(oplog.Transactions) {
		list += fmt.Sprintf("%d ", d.Lookup("txnNum").Int64())
	}
	return list
}

// A session has one record, which another process finds again with its parts.
func TestRecordsAreFoundAfterRestart(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	ka, kb := keyOf(1), session.Key{ID: [16]byte{1}, Child: string(bytesA[:])}
	a, b := r.session(ka), r.session(kb)
	if d := r.load(a); d != nil {
		t.Errorf("at first %s", d)
	}
	r.save(a, 1, 0)
	r.save(a, 2, 0)
	r.save(b, 7, 0)
	r.addPart(b, 7, 0)
	r.addPart(b, 7, 2)
	r.addPart(b, 6, 4)
	if got := r.numbers(); got != "2 7 " {
		t.Fatalf("the records have the numbers %s", got)
	}
	for _, tt := range []struct {
		key    session.Key
		number int64
		parts  string
	}{{ka, 2, ""}, {kb, 7, "0u 1d 2u 3d "}} {
		again := r.session(tt.key)
		if d := r.load(again); d.Lookup("txnNum").Int64() != tt.number || again.Stored.Parts != (tt.parts != "") {
			t.Errorf("record %s, parts: %v", d, again.Stored.Parts)
		}
		if got := r.outcomes(again, tt.number); got != tt.parts {
			t.Errorf("number %d: outcomes %q, want %q", tt.number, got, tt.parts)
		}
		r.save(again, tt.number+10, 0) // in the place of the old one
	}
	if got := r.numbers(); got != "12 17 " {
		t.Errorf("the records have the numbers %s", got)
	}
}

// A session that remembers a place where its record is no more does not write over what
// is there now.
func TestRecordInAnotherPlace(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(tx storage.Tx) error{
		"deleted": func(tx storage.Tx) error {
			coll, err := tx.Collection(oplog.Transactions)
			if err != nil {
				return err
			}
			return storagetest.Done(coll.Delete(1))
		},
		"dropped": func(tx storage.Tx) error { return tx.Drop(oplog.Transactions) },
	} {
		r := newRecords(t)
		a, b := r.session(keyOf(1)), r.session(keyOf(2))
		r.save(a, 1, 0)
		r.update(change)
		r.save(b, 5, 0)
		r.save(a, 2, 0)
		r.save(b, 6, 0)
		if got := r.numbers(); got != "6 2 " {
			t.Errorf("%s: the records have the numbers %s", name, got)
		}
	}
}

// Parts are removed with the number that they belong to, and only those of the session.
func TestDropParts(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	a, b := r.session(keyOf(1)), r.session(keyOf(2))
	r.update(a.DropParts) // it has none
	a.Stored.Parts = true
	r.update(a.DropParts) // there is no such collection
	r.addPart(a, 1, 0)
	r.addPart(b, 1, 0)
	r.addPart(a, 1, 2)
	r.update(a.DropParts)
	if list := r.stored(oplog.Statements); len(list) != 1 || string(list[0].Lookup("session").Doc()) != string(b.RecordID) {
		t.Errorf("parts %v", list)
	}
	if got := r.outcomes(b, 1); got != "0u 1d " {
		t.Errorf("outcomes %q of the other session", got)
	}
}

// Records of sessions that have ended are removed once they are as old as a session may
// be, as mongod's reaper of config.transactions does; those of live sessions stay.
func TestReap(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	before := int64(1000)
	r.reap(nobody, before, false)
	ended, live, fresh := r.session(keyOf(1)), r.session(keyOf(2)), r.session(keyOf(3))
	for i, s := range []*session.Session{ended, live, fresh} {
		r.save(s, int64(i), map[bool]int64{true: before, false: before - 1}[s == fresh])
		r.addPart(s, int64(i), 0)
		r.addPart(s, int64(i), 2)
	}
	r.reap(func(k session.RecordKey) bool { return k == live.Record }, before, false)
	if got := r.numbers(); got != "1 2 " {
		t.Errorf("the records have the numbers %s", got)
	}
	if n := len(r.stored(oplog.Statements)); n != 4 || r.outcomes(ended, 0) != "" {
		t.Errorf("%d parts are left", n)
	}
}

// A session that is used again while the reaper looks for old records keeps its record.
func TestReapSparesWhatIsUsed(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	s, gone := r.session(keyOf(1)), r.session(keyOf(2))
	r.save(s, 1, 999)
	r.addPart(s, 1, 0)
	r.save(gone, 2, 999)
	r.reap(func(k session.RecordKey) bool {
		if k == s.Record {
			r.save(s, 1, 1000)
		}
		return false
	}, 1000, false)
	if got := r.numbers(); got != "1 " || len(r.stored(oplog.Statements)) != 1 {
		t.Errorf("the records have the numbers %s, and there are %d parts", got, len(r.stored(oplog.Statements)))
	}
}

// One pass of the reaper is bounded.
func TestReapIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	r.update(func(tx storage.Tx) error {
		for i := range oplog.TrimChunk + 3 {
			s := r.session(session.Key{ID: [16]byte{byte(i), byte(i >> 8)}})
			if _, err := s.Save(tx, value.NewDoc("_id", value.Document(s.RecordID)), 1); err != nil {
				return err
			}
		}
		return nil
	})
	for _, want := range []int{3, 0} {
		r.reap(nobody, 2, want > 0)
		if n := len(r.stored(oplog.Transactions)); n != want {
			t.Errorf("%d records are left, want %d", n, want)
		}
	}
}

// Records and parts that cannot be read are an error, and nothing is removed.
func TestUnreadableRecords(t *testing.T) {
	t.Parallel()
	h, e := harness.NewBreakable(t, kernel.Options{})
	s := used(session.NewRegistry(), keyOf(1), harness.TestStart)
	err := e.Update(h.Context(), func(tx storage.Tx) (err error) {
		s.Stored, err = s.Save(tx, value.NewDoc("_id", value.Document(s.RecordID)), 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range []storage.Namespace{oplog.Transactions, oplog.Statements} {
		e.Broken = ns
		if err := e.View(h.Context(), func(tx storage.Tx) error { _, err := s.Load(tx); return err }); !errors.Is(err, harness.ErrBroken) {
			t.Errorf("%s: %v", ns, err)
		}
	}
	e.Broken = oplog.Transactions
	if _, err := session.Reap(h.Context(), e, func(session.RecordKey) bool { return false }, 1); !errors.Is(err, harness.ErrBroken) {
		t.Error(err)
	}
	e.Broken = storage.Namespace{}
	if err := e.View(h.Context(), func(tx storage.Tx) error {
		d, err := s.Load(tx)
		if d == nil {
			t.Error("the record is gone")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
