package storagetest

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// testRestore: records are taken over with their ids and instants, in growing
// order, and what is inserted later has ids above. An engine need not be able
// to do it.
func testRestore(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	able := false
	s.write(func(c storage.Collection) error { _, able = c.(storage.Restorer); return nil })
	if !able {
		t.Skip("the engine takes over no records")
	}
	restore := func(c storage.Collection, id storage.RecordID, v int32) error {
		return c.(storage.Restorer).Restore(storage.Record{ID: id, TS: int64(id) * 10, Doc: doc(v, v)})
	}
	var restored []storage.RecordID
	s.write(func(c storage.Collection) error {
		for _, id := range []storage.RecordID{3, 4, 1 << 40} {
			if err := restore(c, id, int32(id)); err != nil {
				return err
			}
		}
		restored = restored[:0] // only the last run counts: an earlier one may guess the last id
		for _, id := range []storage.RecordID{1 << 40, 5, 0, -1} {
			if err := restore(c, id, 77); err == nil {
				restored = append(restored, id)
			}
		}
		s.wantDup(restore(c, 1<<41, 3), "_id", 3)
		return nil
	})
	if len(restored) > 0 {
		t.Errorf("records %v were restored behind others", restored)
	}
	for range 2 {
		s.read(func(c storage.Collection) {
			equal(t, "count", Got(c.Count()), 3)
			equal(t, "last id", Got(c.LastID()), 1<<40)
			r, ok := Get(c, 4)
			equal(t, "record", ok && r.TS == 40, true)
			_, ok = find(t, c, "_id", key(3))
			equal(t, "found", ok, true)
		})
		s.reopen()
	}
	equal(t, "next id", s.insert(doc(9, 9))[0], 1<<40+1)
	txn, err := s.Begin(ctx)
	s.must(err)
	defer txn.Abort()
	c, err := txn.Collection(NS)
	s.must(err)
	if err := restore(c, 1<<42, 10); err == nil {
		t.Error("restored in a snapshot transaction")
	}
}
