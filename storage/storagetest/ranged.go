package storagetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// tags makes a document with several entries in the index on a.
func tags(id int32, a ...int32) value.Doc {
	list := make([]value.Value, len(a))
	for i, n := range a {
		list[i] = value.Int32(n)
	}
	return value.NewDoc("_id", value.Int32(id), "a", value.NewArray(list...), "$p", value.Int32(id))
}

// picks is a ranged delete that writes down what it is asked about. It keeps the
// records in keep.
func picks(d storage.RangeDelete, asked *[]storage.RecordID, keep ...storage.RecordID) *storage.RangeDelete {
	d.Pick = func(_ []byte, r storage.Record) (storage.Verdict, error) {
		*asked = append(*asked, r.ID)
		for _, id := range keep {
			if r.ID == id {
				return storage.Verdict{Do: storage.Keep}, nil
			}
		}
		return storage.Verdict{Do: storage.Remove}, nil
	}
	return &d
}

// testDeleteRange: a ranged delete visits a range in its order, each record once
// and up to a bound, and removes what was picked with all its entries.
func testDeleteRange(t *testing.T, open Opener) {
	for _, tt := range []struct {
		name  string
		d     storage.RangeDelete
		keep  []storage.RecordID
		asked string
		want  string // visited, removed, keys, done
		left  string
	}{
		{"all of an index", storage.RangeDelete{Index: "a"}, nil, "[1 2 3 4 5 6]", "6 6 14 true", "[]"},
		{"backwards", storage.RangeDelete{Index: "a", Keys: storage.KeyRange{Reverse: true}}, nil, "[6 2 5 4 3 1]", "6 6 14 true", "[]"},
		{"a range", storage.RangeDelete{Index: "a", Keys: storage.KeyRange{Lo: key(2), Hi: key(5)}}, nil, "[2 3 4]", "3 3 7 true", "[1 5 6]"},
		{"a bound", storage.RangeDelete{Index: "a", Limit: 2}, nil, "[1 2]", "2 2 5 false", "[3 4 5 6]"},
		{"some stay", storage.RangeDelete{Index: "a", Limit: 4}, []storage.RecordID{1, 3}, "[1 2 3 4]", "4 2 5 false", "[1 3 5 6]"},
		{"behind an entry", storage.RangeDelete{Index: "a", Keys: storage.KeyRange{AfterKey: key(3), AfterID: 3}}, nil, "[4 5 6 2]", "4 4 10 true", "[1 3]"},
		{"records", storage.RangeDelete{Records: storage.Range{After: 1, Until: 4}}, []storage.RecordID{3}, "[2 3 4]", "3 2 5 true", "[1 3 5 6]"},
		{"records backwards", storage.RangeDelete{Records: storage.Range{Reverse: true}, Limit: 2}, nil, "[6 5]", "2 2 5 false", "[1 2 3 4]"},
		{"nothing", storage.RangeDelete{Index: "a", Keys: storage.KeyRange{Lo: key(90)}}, nil, "[]", "0 0 0 true", "[1 2 3 4 5 6]"},
	} {
		s := startWith(t, open, UniqueSpec("_id"), Spec("a"), Spec("$p"))
		s.insert(doc(1, 1), tags(2, 2, 2, 8), doc(3, 3), doc(4, 4), doc(5, 5), tags(6, 6, 9))
		var asked []storage.RecordID
		var out storage.RangeDeleted
		s.write(func(c storage.Collection) (err error) {
			asked = nil
			out, err = c.DeleteRange(picks(tt.d, &asked, tt.keep...))
			equal(t, tt.name+": left within the transaction", fmt.Sprint(scanIDs(c, storage.Range{})), tt.left)
			return err
		})
		equal(t, tt.name+": asked about", fmt.Sprint(asked), tt.asked)
		equal(t, tt.name, fmt.Sprint(out.Visited, out.Removed, out.Keys, out.Done), tt.want)
		if n := len(asked); n > 0 {
			equal(t, tt.name+": last visited", out.ID, asked[n-1])
		}
		for range 2 {
			s.read(func(c storage.Collection) {
				equal(t, tt.name+": left", fmt.Sprint(scanIDs(c, storage.Range{})), tt.left)
				equal(t, tt.name+": last id", Got(c.LastID()), 6)
			})
			checkEntries(s, tt.name)
			s.reopen()
		}
	}
	testDeleteRangeGoesOn(t, open)
}

// checkEntries compares the numbers of records and entries, and the bytes, with
// what scans yield.
func checkEntries(s *session, name string) {
	s.Helper()
	s.read(func(c storage.Collection) {
		size := int64(0)
		ids := 0
		s.must(c.Scan(storage.Range{}, func(r storage.Record) bool { size, ids = size+int64(len(r.Doc)), ids+1; return true }))
		equal(s, name+": size", Got(c.Size()), size)
		equal(s, name+": count", Got(c.Count()), int64(ids))
		for _, x := range c.Info().Indexes {
			n := int64(0)
			s.must(c.ScanIndex(x.Name, storage.KeyRange{}, func(_ []byte, id storage.RecordID) bool {
				_, ok := Get(c, id)
				equal(s, fmt.Sprintf("%s: record %d of %s exists", name, id, x.Name), ok, true)
				n++
				return true
			}))
			equal(s, name+": entries of "+x.Name, Got(c.IndexStats(x.Name)).Entries, n)
		}
	})
}

// testDeleteRangeGoesOn: deletes of a few records each, one behind the other, come
// through the range, and see what their transaction has written before.
func testDeleteRangeGoesOn(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	for i := range int32(700) {
		s.insert(doc(i, 1000-i/3))
	}
	s.write(func(c storage.Collection) error {
		fresh := Got(c.Insert(doc(900, 0), 1)) // before all others
		s.must(Done(c.Delete(5)))
		var asked []storage.RecordID
		d := picks(storage.RangeDelete{Index: "a", Limit: 70}, &asked)
		rounds := 0
		for done := false; !done; rounds++ {
			out, err := c.DeleteRange(d)
			if err != nil {
				return err
			}
			done, d.Keys.AfterKey, d.Keys.AfterID = out.Done, out.Key, out.ID
		}
		equal(t, "first", asked[0], fresh)
		equal(t, "asked about", len(asked), 700)
		equal(t, "rounds", rounds, 11)
		equal(t, "left", Got(c.Count()), 0)
		equal(t, "entries left", len(entries(t, c, "a", storage.KeyRange{})), 0)
		Got(c.Insert(doc(3, 3), 1)) // its _id is free again
		return nil
	})
	checkEntries(s, "after all")
}

// testDeleteRangeFails: a ranged delete that fails has removed nothing, and its
// transaction may go on.
func testDeleteRangeFails(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	for i := range int32(50) {
		s.insert(doc(i, i))
	}
	before := Dump(s)
	s.write(func(c storage.Collection) error {
		n := 0
		_, err := c.DeleteRange(&storage.RangeDelete{Index: "a", Pick: func([]byte, storage.Record) (storage.Verdict, error) {
			if n++; n > 30 {
				return storage.Verdict{Do: storage.Remove}, errOnPurpose
			}
			return storage.Verdict{Do: storage.Remove}, nil
		}})
		s.wantErr(err, errOnPurpose)
		equal(t, "count after the failure", Got(c.Count()), 50)
		_, err = c.DeleteRange(picks(storage.RangeDelete{Index: "nope"}, new([]storage.RecordID)))
		s.wantErr(err, storage.ErrNoIndex)
		return nil
	})
	equal(t, "after the failure", Dump(s), before)
	err := s.tryWrite(func(c storage.Collection) error {
		_, err := c.DeleteRange(picks(storage.RangeDelete{Index: "a", Limit: 20}, new([]storage.RecordID)))
		return errors.Join(err, errRollback)
	})
	s.wantErr(err, errRollback)
	equal(t, "after the rollback", Dump(s), before)
	s.reopen()
	equal(t, "after reopening", Dump(s), before)
	s.read(func(c storage.Collection) {
		_, err := c.DeleteRange(picks(storage.RangeDelete{Index: "a"}, new([]storage.RecordID)))
		s.wantErr(err, storage.ErrReadOnly)
	})
	var kept value.Doc // what was shown stays valid
	s.write(func(c storage.Collection) error {
		out, err := c.DeleteRange(&storage.RangeDelete{Records: storage.Range{}, Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
			if r.ID == 3 {
				return storage.Verdict{Do: storage.Stop}, nil
			}
			kept = r.Doc
			return storage.Verdict{Do: storage.Remove}, nil
		}})
		equal(t, "until it was stopped", fmt.Sprint(out.Visited, out.Removed, out.Done, out.ID), "2 2 false 2")
		return err
	})
	s.must(s.Compact(ctx))
	equal(t, "a document that was removed", kept.String(), doc(1, 1).String())
}

// testDeleteRangeBusy: what an open transaction has written is a conflict, or is
// passed over without a question.
func testDeleteRangeBusy(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.insert(doc(1, 1), doc(2, 2), doc(3, 3), doc(4, 4))
	before := Dump(s)
	txn, c := s.begin()
	s.must(Done(c.Update(2, doc(2, 20), 2)))
	s.must(Done(c.Delete(4)))
	var asked []storage.RecordID
	s.write(func(c storage.Collection) error {
		_, err := c.DeleteRange(picks(storage.RangeDelete{Index: "a"}, &asked))
		s.wantErr(err, storage.ErrConflict)
		return nil
	})
	equal(t, "after the conflict", Dump(s), before)
	s.write(func(c storage.Collection) error {
		asked = nil
		out, err := c.DeleteRange(picks(storage.RangeDelete{Index: "a", Busy: true}, &asked))
		equal(t, "passed over", fmt.Sprint(out.Visited, out.Removed, out.Busy, out.Done, out.ID), "4 2 2 true 4")
		return err
	})
	equal(t, "asked about", fmt.Sprint(asked), "[1 3]")
	s.must(txn.Commit(ctx))
	s.read(func(c storage.Collection) {
		equal(t, "left", fmt.Sprint(scanIDs(c, storage.Range{})), "[2]")
		wantDoc(t, c, 2, doc(2, 20))
	})
	checkEntries(s, "at last")
}

// testDeleteRangeInSnapshot: a snapshot transaction removes what it sees, and has a
// conflict where others have written since.
func testDeleteRangeInSnapshot(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.insert(doc(1, 1), doc(2, 2), doc(3, 3), doc(4, 4))
	txn, c := s.begin()
	s.write(func(c storage.Collection) error {
		Got(c.Insert(doc(5, 5), 1))
		return Done(c.Update(3, doc(3, 30), 2))
	})
	own := Got(c.Insert(doc(6, 0), 1))
	var asked []storage.RecordID
	all := storage.RangeDelete{Index: "a"}
	_, err := c.DeleteRange(picks(all, &asked))
	s.wantErr(err, storage.ErrConflict)
	equal(t, "count after the conflict", Got(c.Count()), 5)
	asked, all.Busy = nil, true
	out, err := c.DeleteRange(picks(all, &asked, 4))
	s.must(err)
	equal(t, "removed", fmt.Sprint(asked, out.Removed, out.Busy), fmt.Sprintf("[%d 1 2 4] 3 1", own))
	s.wantErr(s.tryWrite(func(c storage.Collection) error { return Done(c.Delete(1)) }), storage.ErrConflict)
	s.read(func(c storage.Collection) { equal(t, "count outside", Got(c.Count()), 5) })
	s.must(txn.Commit(ctx))
	s.read(func(c storage.Collection) {
		left := fmt.Sprint(scanIDs(c, storage.Range{}))
		equal(t, "left", strings.HasPrefix(left, "[3 4 5"), true)
		equal(t, "count", Got(c.Count()), 3)
	})
	checkEntries(s, "after the commit")
}
