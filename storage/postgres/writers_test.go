package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// increment adds one to the field a of a document.
func increment(e storage.Sharer, id int32) error {
	return updateByID(e, id, func(d value.Doc) value.Doc {
		return value.NewDoc("_id", value.Int32(id), "a", value.Int32(d.Lookup("a").Int32()+1))
	})
}

// updateByID does what an update command does.
func updateByID(e storage.Sharer, id int32, change func(value.Doc) value.Doc) error {
	return e.UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		rec, ok, err := c.Find("_id", value.AppendKey(nil, value.Int32(id)))
		if err == nil && !ok {
			err = fmt.Errorf("there is no document %d", id)
		}
		if err == nil {
			_, err = c.Update(rec.ID, change(rec.Doc), 2)
		}
		return err
	})
}

// lockTrips is how often the lock of the head was asked for.
func lockTrips(t *testing.T, e *postgres.Engine) int64 { return tripsOf(t, e, "lock") }

// tripsOf is the number of trips of a kind.
func tripsOf(t *testing.T, e *postgres.Engine, kind string) int64 {
	t.Helper()
	st, err := e.ClusterStats(ctx)
	must(t, err)
	for _, trip := range st.Trips {
		if trip.Kind == kind {
			return trip.Count
		}
	}
	t.Fatal("there is no such kind of trips")
	return 0
}

// TestWritersOfOneServer: many writers of one server to the same documents, of which each also has
// an entry in an index that changes, lose nothing and do without the lock: what another
// one of them has written since is known.
func TestWritersOfOneServer(t *testing.T) {
	t.Parallel()
	e, err := postgres.Open(ctx, postgres.Options{URI: pgtest.URI(t), Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	defer e.Close()
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	const docs, writers, each = 3, 12, 20
	for id := range int32(docs) {
		must(t, insert(e, value.Int32(id)))
	}
	before := lockTrips(t, e)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := increment(e, int32(w+i)%docs); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := lockTrips(t, e) - before; n > writers*each/10 {
		t.Errorf("%d updates asked for the lock %d times", writers*each, n)
	}
	sum := int32(0)
	must(t, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return c.Scan(storage.Range{}, func(r storage.Record) bool { sum += r.Doc.Lookup("a").Int32(); return true })
	}))
	if want := int32(docs + writers*each); sum != want { // insert stores a one
		t.Errorf("the counters have %d together, want %d", sum, want)
	}
}

// TestWriterTrips: updates of one document again and again are one trip each, and see what
// another server writes in between.
func TestWriterTrips(t *testing.T) {
	t.Parallel()
	schema := pgtest.Schema(t.TempDir())
	var trips atomic.Int64
	e, err := postgres.Open(ctx, postgres.Options{URI: pgtest.URI(t), Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf, Trips: func() { trips.Add(1) }})
	must(t, err)
	defer e.Close()
	create(t, e, ns, storagetest.UniqueSpec("_id"))
	must(t, insert(e, value.Int32(1)))
	lowest, updates := int64(1<<30), int32(0)
	for range 5 { // a heartbeat may come between
		before := trips.Load()
		must(t, increment(e, 1))
		updates++
		lowest = min(lowest, trips.Load()-before)
	}
	if lowest != 1 {
		t.Errorf("an update of a document that was written lately takes %d trips, want 1", lowest)
	}
	other := serversIn(t, schema, 1)[0]
	for range 3 {
		must(t, increment(other, 1))
		must(t, increment(e, 1))
		updates += 2
	}
	must(t, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		rec, _, err := c.Find("_id", value.AppendKey(nil, value.Int32(1)))
		if got := rec.Doc.Lookup("a").Int32(); got != 1+updates {
			t.Errorf("the counter is %d, want %d", got, 1+updates)
		}
		return err
	}))
}
