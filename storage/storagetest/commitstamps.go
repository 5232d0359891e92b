package storagetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// testCommitStamps: stamps grow in the order of the commits, whatever the caller
// asks for, and only what commits has one.
func testCommitStamps(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	take := func(least uint64) (got uint64) {
		s.update(func(tx storage.Tx) (err error) { got, err = tx.CommitStamp(least); return err })
		return got
	}
	first := take(5)
	if first < 5 || s.CommitStamp() < first {
		t.Errorf("the first stamp is %d, the engine knows %d", first, s.CommitStamp())
	}
	if second := take(1); second <= first {
		t.Errorf("after %d comes %d", first, second)
	}
	if high := take(1 << 40); high < 1<<40 || take(0) <= high {
		t.Errorf("a stamp of at least 2^40 is %d", high)
	}
	s.wantErr(s.View(ctx, func(tx storage.Tx) error { _, err := tx.CommitStamp(1); return err }), storage.ErrReadOnly)
	txn, err := s.Begin(ctx)
	s.must(err)
	defer txn.Abort()
	_, err = txn.CommitStamp(1)
	s.wantErr(err, storage.ErrReadOnly)
	coll, err := txn.Collection(NS)
	s.must(err)
	Got(coll.Insert(doc(1, 1), 1))
	before := take(0)
	s.must(txn.CommitWith(ctx, func(tx storage.Tx) error {
		got, err := tx.CommitStamp(0)
		if err == nil && got <= before {
			t.Errorf("the commit has the stamp %d, an earlier one %d", got, before)
		}
		return err
	}))
	s.stampedLog(t)
}

// stampedLog lets many goroutines write records with their stamps, some of which
// are undone: in the order of their ids, which is that of the commits, the stamps
// grow.
func (s *session) stampedLog(t *testing.T) {
	const writers, rounds = 8, 30
	log := ns("db", "log")
	s.update(func(tx storage.Tx) error { _, err := tx.Create(log, nil, nil); return err })
	write := s.Engine.Update
	if sharer, ok := s.Engine.(storage.Sharer); ok {
		write = sharer.UpdateShared
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				err := write(ctx, func(tx storage.Tx) error {
					stamp, err := tx.CommitStamp(uint64(w * i))
					if err != nil {
						return err
					}
					coll, err := tx.Collection(log)
					if err == nil {
						_, err = coll.Insert(value.NewDoc("stamp", value.Int64(int64(stamp))), 1)
					}
					if err == nil && i%5 == 4 {
						err = errOnPurpose
					}
					return err
				})
				if err != nil && !errors.Is(err, errOnPurpose) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	last, n := int64(0), 0
	s.must(s.View(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(log)
		if err != nil {
			return err
		}
		return coll.Scan(storage.Range{}, func(r storage.Record) bool {
			stamp := r.Doc.Lookup("stamp").Int64()
			if n++; stamp <= last {
				t.Errorf("record %d has the stamp %d, the one before %d", r.ID, stamp, last)
			}
			last = stamp
			return true
		})
	}))
	equal(t, "stamped records", n, writers*rounds*4/5)
}
