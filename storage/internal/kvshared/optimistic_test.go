package kvshared

import (
	"errors"
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestBackoff: after a failure two commits take the lock, then twice as many each time, up
// to a limit; each success halves that.
func TestBackoff(t *testing.T) {
	t.Parallel()
	var b backoff
	skipped := func() (n int) {
		for ; !b.allows(); n++ {
		}
		return n
	}
	if n := skipped(); n != 0 {
		t.Errorf("%d commits take the lock at the beginning", n)
	}
	for _, want := range []int{2, 4, 8, 16, 32, 64, 128, 256, 256} {
		b.failed()
		if n := skipped(); n != want {
			t.Errorf("%d commits take the lock, want %d", n, want)
		}
	}
	b.succeeded()
	b.succeeded()
	b.failed()
	if n := skipped(); n != 128 {
		t.Errorf("after two successes %d commits take the lock", n)
	}
}

// commitTrips are the trips of a commit.
type commitTrips struct{ attempt, lock, commit int }

// commits counts the trips of an update, and resets the back-off before it.
func commits(t *testing.T, e *Engine, s *server, do func() error) commitTrips {
	t.Helper()
	e.writer.backoff = backoff{}
	s.set(func() { clear(s.trips) })
	must(t, do())
	return commitTrips{s.trips["attempt"], s.trips["lock"], s.trips["commit"]}
}

// TestWaysToCommit: which updates do without the lock.
func TestWaysToCommit(t *testing.T) {
	t.Parallel()
	watched := storage.Namespace{DB: "db", Coll: "watched"}
	d := newDatabase()
	e, s := d.open(t, "e", func(o *kv.Options) {
		o.Watched = func(ns storage.Namespace) bool { return ns == watched }
	})
	prepared(t, e)
	must(t, e.Update(e.life, func(tx storage.Tx) error {
		_, err := tx.Create(watched, nil, nil)
		return err
	}))
	alone, locked, tried := commitTrips{1, 0, 0}, commitTrips{0, 1, 1}, commitTrips{1, 1, 1}
	check := func(what string, want commitTrips, do func() error) {
		t.Helper()
		if got := commits(t, e, s, do); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	change := func(fn func(c storage.Collection) error) func() error { return func() error { return e.change(fn) } }
	check("an insert", alone, change(insertDoc(100, 1)))
	check("an update", alone, change(incremented(2)))
	check("an update of what is in the cache", alone, change(incremented(1)))
	check("a delete", alone, change(remove(100)))
	check("a scan and an insert", alone, change(sumInto(101)))
	check("a ranged delete", alone, change(deleteBelow(1)))
	check("no change", commitTrips{}, change(func(c storage.Collection) error {
		_, _, err := c.Find("_id", keyOf(2))
		return err
	}))
	check("no change, but statistics are used", commitTrips{0, 1, 0}, change(func(c storage.Collection) error { _, err := c.Count(); return err }))
	check("a new index", locked, func() error {
		return e.Update(e.life, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("c")) })
	})
	check("a collection that others keep", locked, func() error {
		return e.UpdateShared(e.life, func(tx storage.Tx) error {
			c, err := tx.Collection(watched)
			if err == nil {
				_, err = c.Insert(document(1, 1), 1)
			}
			return err
		})
	})
	check("two collections, of which one is only counted", locked, func() error {
		return e.UpdateShared(e.life, func(tx storage.Tx) error {
			w, err := tx.Collection(watched)
			if err == nil {
				_, err = w.Count()
			}
			c, cerr := tx.Collection(ns)
			if err == nil && cerr == nil {
				_, err = c.Insert(document(102, 1), 1)
			}
			return errors.Join(err, cerr)
		})
	})
	s.set(func() {
		s.fail = func(trip string) error {
			if trip == "attempt" {
				return ErrMoved
			}
			return nil
		}
	})
	check("an attempt that fails", tried, change(insertDoc(103, 1)))
	e.writer.backoff.failed()
	if n := s.counted("attempt", func() { must(t, e.change(insertDoc(104, 1))) }); n != 0 {
		t.Errorf("%d attempts while it backs off", n)
	}
	s.set(func() { s.fail = nil })
	e2, _ := d.open(t, "e2")
	txn, err := e2.Begin(t.Context())
	must(t, err)
	c, err := txn.Collection(ns)
	must(t, err)
	_, err = c.Insert(document(900, 1), 1)
	must(t, err)
	check("beside a transaction of another server", tried, change(insertDoc(105, 1)))
	txn.Abort()
}

// TestConditions: what a commit without the lock lets the database check.
func TestConditions(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	e, s := d.open(t, "e")
	prepared(t, e)
	for _, tt := range []struct {
		name string
		none int // unique keys that must be free
		fn   func(c storage.Collection) error
	}{
		{"a key behind all others", 0, insertDoc(1000, 1)},
		{"a key between others", 1, insertDoc(500, 1)},
		{"two keys between others", 2, func(c storage.Collection) error {
			return errors.Join(insertDoc(501, 1)(c), insertDoc(502, 1)(c))
		}},
		{"an update that keeps the key", 0, incremented(2)},
	} {
		s.set(func() { s.attempt = nil })
		must(t, e.change(tt.fn))
		c := s.attempt
		if c == nil || len(c.None) != tt.none || len(c.Stats) != 1 {
			t.Errorf("%s: %+v, want %d keys to be free and the statistics of one collection", tt.name, c, tt.none)
		}
	}
}

// TestGroupWithFailures: of updates that are committed together, one that fails takes
// nothing with it, with the lock and without.
func TestGroupWithFailures(t *testing.T) {
	t.Parallel()
	for _, backOff := range []bool{false, true} {
		e, s := newDatabase().open(t, "e")
		prepared(t, e)
		if backOff {
			e.writer.backoff.left = 100
		}
		token := <-e.writer.token
		errs := make(chan error)
		for _, fn := range []func(storage.Collection) error{
			insertDoc(50, 1),
			func(c storage.Collection) error {
				return errors.Join(insertDoc(51, 1)(c), errors.New("no"))
			},
			insertDoc(2, 1), // a duplicate
			insertDoc(52, 1),
		} {
			go func() { errs <- e.change(fn) }()
		}
		for e.writer.queue.Waiting() < 4 {
			runtime.Gosched()
		}
		e.writer.token <- token
		failed := 0
		for range 4 {
			if <-errs != nil {
				failed++
			}
		}
		got := e.counters(t)
		if _, ok := got[51]; failed != 2 || ok || got[50] != 1 || got[52] != 1 || len(got) != 6 {
			t.Errorf("backing off %v: %d have failed, the documents are %v", backOff, failed, got)
		}
		if n := s.trips["commit"]; n > 3 { // creating it, and the group in one or two
			t.Errorf("backing off %v: %d commits", backOff, n)
		}
	}
}
