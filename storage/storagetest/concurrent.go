package storagetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// testConcurrent: readers see whole Updates while writers go on. Each Update
// writes the same number to all records and adds one.
func testConcurrent(t *testing.T, open Opener) {
	const writers, readers, rounds, width = 3, 3, 60, 20
	s := startWith(t, open, UniqueSpec("_id"), Spec("a"))
	s.write(func(c storage.Collection) error {
		for i := range int32(width) {
			if _, err := c.Insert(doc(i, 0), 1); err != nil {
				return err
			}
		}
		return nil
	})
	var writing, reading sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for i := range rounds {
				if err := s.tryWrite(stamp(int32(w*rounds+i+1), width)); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	for range readers {
		reading.Go(func() {
			for {
				if err := s.readUniform(width); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	s.read(func(c storage.Collection) { equal(t, "count", Got(c.Count()), width+writers*rounds) })
}

// stamp writes n to the first records and inserts a record.
func stamp(n int32, width int) func(c storage.Collection) error {
	return func(c storage.Collection) error {
		for id := range storage.RecordID(width) {
			if err := Done(c.Update(id+1, doc(int32(id), n), int64(n))); err != nil {
				return err
			}
		}
		_, err := c.Insert(doc(int32(width)+n, n), int64(n))
		return err
	}
}

// readUniform checks that the first records have the same number, which the
// newest record has too.
func (s *session) readUniform(width int) error {
	return s.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(NS)
		if err != nil {
			return err
		}
		first, _ := Get(c, 1)
		want := first.Doc.Lookup("a").Int32()
		n := 0
		serr := c.Scan(storage.Range{Until: storage.RecordID(width)}, func(r storage.Record) bool {
			if got := r.Doc.Lookup("a").Int32(); got != want {
				err = fmt.Errorf("record %d has %d, record 1 has %d", r.ID, got, want)
			}
			n++
			return err == nil
		})
		if err == nil && n != width {
			err = fmt.Errorf("%d records, want %d", n, width)
		}
		return errors.Join(serr, err)
	})
}

// testTransfers: concurrent transactions move amounts between accounts; the
// sum stays, and each snapshot sees it.
func testTransfers(t *testing.T, open Opener) {
	const accounts, each, workers, rounds = 6, 100, 4, 50
	s := startWith(t, open, UniqueSpec("_id"))
	for i := range int32(accounts) {
		s.insert(doc(i, each))
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for range rounds {
				if err := s.transfer(rnd, accounts); err != nil && !errors.Is(err, storage.ErrConflict) {
					t.Errorf("transfer: %v", err)
				}
				if err := s.audit(accounts * each); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	equal(t, "open snapshots", Got(s.Stats()).OpenSnapshots, 0)
	s.reopen()
	s.must(s.audit(accounts * each))
}

func (s *session) transfer(rnd *rand.Rand, accounts int) error {
	txn, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer txn.Abort()
	c, err := txn.Collection(NS)
	if err != nil {
		return err
	}
	for _, amount := range []int32{-1, 1} {
		id := storage.RecordID(rnd.IntN(accounts) + 1)
		r, _ := Get(c, id)
		if err := Done(c.Update(id, doc(int32(id-1), r.Doc.Lookup("a").Int32()+amount), 2)); err != nil {
			return err
		}
	}
	return txn.Commit(ctx)
}

func (s *session) audit(want int32) error {
	txn, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer txn.Abort()
	c, err := txn.Collection(NS)
	if err != nil {
		return err
	}
	var sum int32
	err = c.Scan(storage.Range{}, func(r storage.Record) bool {
		sum += r.Doc.Lookup("a").Int32()
		return true
	})
	if err == nil && sum != want {
		err = fmt.Errorf("the sum is %d, want %d", sum, want)
	}
	return err
}
