package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// errOnPurpose is what updates of the tests fail with.
var errOnPurpose = errors.New("on purpose")

// testShared checks that updates that share a commit stay apart: each is
// applied whole or not at all, whatever happens to the others.
func testShared(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"), Spec("x"))
	sharer, ok := s.Engine.(storage.Sharer)
	if !ok {
		return // the engine shares no commits
	}
	const writers, rounds = 16, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				err := sharer.UpdateShared(ctx, func(tx storage.Tx) error {
					coll, err := tx.Collection(NS)
					if err != nil {
						return err
					}
					for part := range 2 {
						id := value.String(fmt.Sprintf("%d-%d-%d", w, i, part))
						if _, err := coll.Insert(value.NewDoc("_id", id, "x", value.Int32(int32(i))), 1); err != nil {
							return err
						}
					}
					if i%4 == 3 {
						return errOnPurpose
					}
					return nil
				})
				if i%4 == 3 != errors.Is(err, errOnPurpose) {
					t.Errorf("writer %d, round %d: %v", w, i, err)
				}
			}
		})
	}
	wg.Wait()
	check := func() {
		s.must(s.View(ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(NS)
			if err != nil {
				return err
			}
			equal(t, "records", Got(coll.Count()), int64(writers*rounds*3/4*2))
			return nil
		}))
	}
	check()
	s.reopen()
	check()
}

// testSharedFailure checks that no update sees what another one has written that
// fails: each record can be inserted by the one of two writers that does not fail.
func testSharedFailure(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	sharer, ok := s.Engine.(storage.Sharer)
	if !ok {
		return // the engine shares no commits
	}
	const writers, rounds = 16, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				err := sharer.UpdateShared(ctx, func(tx storage.Tx) error {
					coll, err := tx.Collection(NS)
					if err == nil {
						_, err = coll.Insert(value.NewDoc("_id", value.Int32(int32(w/2*rounds+i))), 1)
					}
					if err == nil && w%2 == 0 {
						err = errOnPurpose
					}
					return err
				})
				if w%2 == 1 && err != nil {
					t.Errorf("record %d of writer %d: %v", i, w, err)
				}
			}
		})
	}
	wg.Wait()
	s.read(func(c storage.Collection) { equal(t, "records", Got(c.Count()), int64(writers/2*rounds)) })
}

// testSharedPanic checks that a panic ends only the update it happened in.
func testSharedPanic(t *testing.T, open Opener) {
	s := startWith(t, open, UniqueSpec("_id"))
	sharer, ok := s.Engine.(storage.Sharer)
	if !ok {
		return // the engine shares no commits
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_ = sharer.UpdateShared(ctx, func(tx storage.Tx) error { panic("on purpose") })
	}()
	err := sharer.UpdateShared(ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(NS)
		if err != nil {
			return err
		}
		_, err = coll.Insert(value.NewDoc("_id", value.Int32(1)), 1)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
