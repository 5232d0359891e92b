package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/value"
)

// maxSilent is how long anybody may wait for a database that is silent: about 11 seconds, and what
// a busy machine adds.
const maxSilent = time.Minute

// ends returns the error of what must not wait until the network heals.
func ends(t *testing.T, what string, do func() error) error {
	t.Helper()
	begun, ended := clock.System().Now(), make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		t.Logf("%s ended after %v: %v", what, clock.System().Now().Sub(begun).Round(10*time.Millisecond), err)
		return err
	case <-clock.System().After(maxSilent):
		t.Fatalf("%s waits for a database that is silent", what)
		return nil
	}
}

// failsInCommit updates, and lets something happen just before the commit is sent.
func failsInCommit(ctx context.Context, e *postgres.Engine, id int32, happens func()) error {
	runs := 0
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(id), "a", value.Int32(1)), 1)
		}
		if runs++; runs == 2 { // the first run is a dry run
			happens()
		}
		return err
	})
}

// TestSilentDatabase: a network that loses everything in both directions, and ends no connection,
// makes reads and writes fail, also those that have no time limit and wait already. Then everything
// goes on.
func TestSilentDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until a database is taken for silent")
	}
	t.Parallel()
	db := pgtest.Own(t)
	p := newProxy(t, db.Address())
	e := at(t, db.URI(p.Addr().String()), nil)
	must(t, insert(e, value.Int32(1)))
	open, err := e.Begin(ctx)
	must(t, err)
	defer open.Abort()
	holds(t, open, "2 1 1")
	scan := func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return c.Scan(storage.Range{}, func(storage.Record) bool { return true })
	}
	waits := make(chan error, 2)
	err = ends(t, "a commit", func() error {
		return failsInCommit(ctx, e, 2, func() {
			p.swallows.Store(true)
			go func() { waits <- e.View(ctx, scan) }()
			go func() { waits <- scan(open) }()
		})
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a commit: %v", err)
	}
	for range cap(waits) {
		if err := ends(t, "a read", func() error { return <-waits }); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a read: %v", err)
		}
	}
	if err := ends(t, "an insert that begins now", func() error { return insert(e, value.Int32(3)) }); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("an insert: %v", err)
	}
	p.swallows.Store(false)
	p.lead(db.Address()) // what has lost something cannot go on
	for insert(e, value.Int32(4)) != nil {
		<-clock.System().After(100 * time.Millisecond)
	}
	if n := count(t, e); n != 2 { // neither commit got through
		t.Errorf("%d records, want 2", n)
	}
}

// TestUnknownOutcome: whoever waits for the outcome of a commit whose connection was lost does so
// for as long as the update may take.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	p := newProxy(t, db.Address())
	e := at(t, db.URI(p.Addr().String()), nil)
	short, end := context.WithTimeout(ctx, time.Second)
	defer end()
	err := ends(t, "a commit", func() error {
		return failsInCommit(short, e, 1, func() { p.lead("127.0.0.1:1") })
	})
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a commit: %v", err)
	}
	p.lead(db.Address())
	for insert(e, value.Int32(2)) != nil {
		<-clock.System().After(100 * time.Millisecond)
	}
	if n := count(t, e); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
}
