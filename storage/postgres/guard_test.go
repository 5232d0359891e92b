package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// beside opens another engine over the schema of one that at has opened.
func beside(tb testing.TB, uri, schema string) *postgres.Engine {
	tb.Helper()
	return impatient(tb, uri, schema, 0)
}

// impatient is beside for a server that loses the lock of the head when it is silent for
// a while.
func impatient(tb testing.TB, uri, schema string, silence time.Duration) *postgres.Engine {
	tb.Helper()
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: tb.Logf, Silence: silence})
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// moves makes the state one that servers do not know, so that a commit which is tried
// without the lock fails, and the run that follows has the lock.
func moves(tb testing.TB, uri, schema string) {
	tb.Helper()
	c, err := pgconn.Connect(ctx, uri)
	must(tb, err)
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, "update "+schema+".head set ver = ver + 1").ReadAll()
	must(tb, err)
}

// maxHindered is how long others may be hindered by a server that has stopped: 10
// seconds, and what a busy machine adds.
const maxHindered = 25 * time.Second

// TestStoppedInCommit: a server that stops while it has the lock of the head loses it,
// and its commit happens once when it goes on.
func TestStoppedInCommit(t *testing.T) {
	t.Parallel()
	uri, schema := pgtest.URI(t), pgtest.Schema(t.TempDir())
	a, b := impatient(t, uri, schema, 500*time.Millisecond), beside(t, uri, schema)
	create(t, a, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	locked, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	runs, stopped := 0, make(chan error, 1)
	go func() {
		stopped <- a.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(1), "a", value.Int32(1)), 1)
			}
			if runs++; runs == 2 { // the first run is a dry run, the second one tries without the lock
				moves(t, uri, schema)
			}
			if runs == 3 {
				once.Do(func() { close(locked) })
				<-goOn
			}
			return err
		})
	}()
	<-locked
	begun := clock.System().Now()
	must(t, insert(b, value.Int32(2)))
	if took := clock.System().Now().Sub(begun); took > maxHindered {
		t.Errorf("the other server was hindered for %v", took)
	} else {
		t.Logf("the other server was hindered for %v", took)
	}
	close(goOn)
	if err := <-stopped; err != nil && !errors.Is(err, storage.ErrUnavailable) {
		t.Error(err)
	} else if err != nil {
		must(t, insert(a, value.Int32(1)))
	}
	if n := count(t, b); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

// TestLongCommit: an update that works for longer than a server may be silent keeps the
// lock.
func TestLongCommit(t *testing.T) {
	if testing.Short() {
		t.Skip("it works for four seconds")
	}
	t.Parallel()
	uri, schema := pgtest.URI(t), pgtest.Schema(t.TempDir())
	e, runs := impatient(t, uri, schema, 2*time.Second), 0
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		if runs++; runs == 2 { // the first run is a dry run, the second one tries without the lock
			moves(t, uri, schema)
		}
		c, err := tx.Collection(ns)
		for i := 0; err == nil && i < 8; i++ {
			if runs > 2 {
				<-clock.System().After(500 * time.Millisecond)
			}
			_, err = c.Insert(value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(1)), 1)
		}
		return err
	}))
	if n := count(t, e); runs != 3 || n != 8 {
		t.Errorf("%d runs, %d records", runs, n)
	}
}

// TestStoppedInMessage: a server stops in the middle of a message, while it has the lock.
func TestStoppedInMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until a server is taken for stopped")
	}
	t.Parallel()
	uri, schema := pgtest.URI(t), pgtest.Schema(t.TempDir())
	e := beside(t, uri, schema)
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	other, err := pgconn.Connect(ctx, uri)
	must(t, err)
	defer func() { _ = other.Close(ctx) }()
	_, err = other.Exec(ctx, "begin; select * from "+schema+".head for update").ReadAll()
	must(t, err)
	_, err = other.Conn().Write([]byte{'Q', 0, 0, 1, 0, 's', 'e'})
	must(t, err)
	begun := clock.System().Now()
	must(t, insert(e, value.Int32(1)))
	if took := clock.System().Now().Sub(begun); took > maxHindered {
		t.Errorf("a commit was hindered for %v", took)
	}
}

// TestForgottenInCommit: a server that was forgotten by the others, and does not know
// whether its commit has happened, does not commit again.
func TestForgottenInCommit(t *testing.T) {
	t.Parallel()
	t.Run("without the lock", func(t *testing.T) { forgottenInCommit(t, 2) })
	t.Run("under the lock", func(t *testing.T) { forgottenInCommit(t, 3) })
}

func forgottenInCommit(t *testing.T, last int) {
	t.Parallel()
	db := pgtest.Own(t)
	p, schema := newProxy(t, db.Address()), pgtest.Schema(t.TempDir())
	e := beside(t, db.URI(p.Addr().String()), schema)
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	runs := 0
	err := e.Update(ctx, func(tx storage.Tx) error {
		if runs++; runs < last && runs > 1 {
			moves(t, db.URI(""), schema)
		}
		if runs == last {
			must(t, db.Exec("delete from "+schema+".server"))
			p.lose.Store(1)
		}
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(1), "a", value.Int32(1)), 1)
		}
		return err
	})
	p.lose.Store(0)
	if err != nil && !errors.Is(err, storage.ErrUnavailable) { // nil if a beat came between
		t.Errorf("a commit of unknown outcome: %v", err)
	}
	if n := count(t, e); n != 1 || runs != last {
		t.Errorf("%d records, want 1; the update ran %d times", n, runs)
	}
}

// TestFormerPrimary: a database that lacks what a server has seen is neither read nor
// written, though it would take writes; nor is a standby.
func TestFormerPrimary(t *testing.T) {
	t.Parallel()
	db := pgtest.Own(t)
	other := db.Standby(t)
	p, schema := newProxy(t, db.Address()), pgtest.Schema(t.TempDir())
	e := beside(t, db.URI(p.Addr().String()), schema)
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	must(t, insert(e, value.Int32(1)))
	away := func(what string) {
		t.Helper()
		p.lead(other.Address())
		defer p.lead(db.Address())
		err := e.View(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				_, err = c.Count()
			}
			return err
		})
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s is read: %v", what, err)
		}
		short, end := context.WithTimeout(ctx, time.Second)
		defer end()
		err = e.Update(short, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(100)), 1)
			}
			return err
		})
		if !errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s is written to: %v", what, err)
		}
	}
	away("a standby")
	must(t, db.Exec("alter system reset synchronous_standby_names"))
	must(t, db.Exec("select pg_reload_conf()"))
	must(t, other.Promote())
	must(t, insert(e, value.Int32(2)))
	away("a former primary")
	must(t, insert(e, value.Int32(3)))
	if n := count(t, e); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}
