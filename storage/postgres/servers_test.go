package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// ns is a collection of the tests.
var ns = storage.Namespace{DB: "db", Coll: "coll"}

// servers opens engines over one schema, as several servers do.
func servers(tb testing.TB, n int) []*postgres.Engine {
	tb.Helper()
	return serversIn(tb, pgtest.Schema(tb.TempDir()), n)
}

// serversIn is servers with a given schema.
func serversIn(tb testing.TB, schema string, n int) []*postgres.Engine {
	tb.Helper()
	uri := pgtest.URI(tb)
	list := make([]*postgres.Engine, n)
	var wg sync.WaitGroup
	for i := range list {
		wg.Go(func() { // they make the tables at the same time
			var err error
			list[i], err = postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: tb.Logf, PoolSize: 6, Watched: func(ns storage.Namespace) bool { return ns.DB == "admin" }})
			if err != nil {
				tb.Error(err)
			}
		})
	}
	wg.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
	for _, e := range list {
		tb.Cleanup(func() { _ = e.Close() })
	}
	return list
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func create(tb testing.TB, e storage.Engine, ns storage.Namespace, indexes ...storage.IndexSpec) {
	tb.Helper()
	must(tb, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(ns, nil, indexes)
		return err
	}))
}

// spread is several servers as one engine: each operation runs on another one, so
// that what the contract promises of one engine is asked of all together.
type spread struct {
	*postgres.Engine
	all []*postgres.Engine
}

func (s spread) any() *postgres.Engine { return s.all[rand.IntN(len(s.all))] }

func (s spread) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.any().View(ctx, fn)
}

func (s spread) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.any().Update(ctx, fn)
}

func (s spread) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	return s.any().UpdateShared(ctx, fn)
}

func (s spread) Begin(ctx context.Context) (storage.Txn, error) { return s.any().Begin(ctx) }

func (s spread) Close() error {
	var errs []error
	for _, e := range s.all {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// TestSpread: the guarantees of one engine hold for the same data on three
// servers.
func TestSpread(t *testing.T) {
	t.Parallel()
	open := func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		var s spread
		for range 3 {
			s.all = append(s.all, open(tb, dir, ix).(*postgres.Engine))
		}
		s.Engine = s.all[0]
		return s
	}
	storagetest.RunSome(t, open, "Catalog", "CatalogErrors", "Records", "Unique", "Rollback", "FailedOperation",
		"Snapshot", "SnapshotConflicts", "SnapshotKeys", "SnapshotOrder", "Concurrent", "Transfers", "Linearizable", "Shared", "SharedFailure")
}

// TestCounters: increments on three servers are all there, in single documents and
// in the statistics.
func TestCounters(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	create(t, all[0], ns, storagetest.UniqueSpec("_id"))
	must(t, all[0].Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(0), "n", value.Int32(0)), 1)
		}
		return err
	}))
	const workers, rounds = 4, 15
	var wg sync.WaitGroup
	for i, e := range all {
		for w := range workers {
			wg.Go(func() {
				for r := range rounds {
					err := e.UpdateShared(ctx, func(tx storage.Tx) error {
						c, err := tx.Collection(ns)
						if err != nil {
							return err
						}
						rec, _, err := c.Get(1)
						if err != nil {
							return err
						}
						if _, err = c.Update(1, value.NewDoc("_id", value.Int32(0), "n", value.Int32(rec.Doc.Lookup("n").Int32()+1)), 1); err != nil {
							return err
						}
						_, err = c.Insert(value.NewDoc("_id", value.String(fmt.Sprint(i, w, r))), 1)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	for i, e := range all {
		must(t, e.View(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err != nil {
				return err
			}
			rec, _, err := c.Get(1)
			n, cerr := c.Count()
			if got := rec.Doc.Lookup("n").Int32(); got != 3*workers*rounds || n != int64(got)+1 {
				t.Errorf("server %d: the counter is %d and there are %d records after %d updates", i, got, n, 3*workers*rounds)
			}
			return errors.Join(err, cerr)
		}))
	}
}

// TestUniqueOnAll: of inserts of one key on several servers one succeeds.
func TestUniqueOnAll(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	create(t, all[0], ns, storagetest.UniqueSpec("_id"))
	const keys = 40
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for _, e := range all {
		for range 3 {
			wg.Go(func() {
				for k := range int32(keys) {
					err := e.UpdateShared(ctx, func(tx storage.Tx) error {
						c, err := tx.Collection(ns)
						if err == nil {
							_, err = c.Insert(value.NewDoc("_id", value.Int32(k)), 1)
						}
						return err
					})
					var dup *storage.DuplicateKeyError
					switch {
					case err == nil:
						won.Add(1)
					case errors.As(err, &dup):
						lost.Add(1)
					default:
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if won.Load() != keys || lost.Load() != 5*keys {
		t.Errorf("%d inserts of %d keys succeeded, %d failed", won.Load(), keys, lost.Load())
	}
}

// TestCatalogOnAll: what one server changes in the catalog, and in a collection that
// the others keep, they know when the change has returned.
func TestCatalogOnAll(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	users := storage.Namespace{DB: "admin", Coll: "system.users"}
	create(t, all[0], users, storagetest.UniqueSpec("_id"))
	for i := range 12 {
		a, b := all[i%3], all[(i+1)%3]
		create(t, a, ns, storagetest.UniqueSpec("_id"))
		exists := func(want bool) {
			t.Helper()
			err := b.View(ctx, func(tx storage.Tx) error { _, err := tx.Collection(ns); return err })
			if want != (err == nil) || err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Fatalf("round %d: the other server: %v, want it to exist: %v", i, err, want)
			}
		}
		exists(true)
		must(t, a.Update(ctx, func(tx storage.Tx) error { return tx.CreateIndex(ns, storagetest.Spec("a")) }))
		must(t, b.View(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil && c.Info().Index("a") == nil {
				t.Errorf("round %d: the other server has no index a", i)
			}
			return err
		}))
		before, err := b.Stamp(users)
		must(t, err)
		must(t, a.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(users)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(int32(i))), 1)
			}
			return err
		}))
		if after, err := b.Stamp(users); err != nil || after == before {
			t.Errorf("round %d: the stamp of the users on the other server stays %d (%v)", i, after, err)
		}
		must(t, a.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
		exists(false)
	}
}

// TestNews: a commit on one server is reported to the other.
func TestNews(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	create(t, all[0], ns, storagetest.UniqueSpec("_id"))
	for i := range int32(5) {
		select {
		case <-all[1].Changes():
		default:
		}
		must(t, all[0].Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(ns)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(i)), 1)
			}
			return err
		}))
		select {
		case <-all[1].Changes():
		case <-clock.System().After(5 * time.Second):
			t.Fatalf("commit %d is not reported", i)
		}
	}
}

// TestLeases: one server has a job, and another one gets it when that ends.
func TestLeases(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	if !all[0].Lease("job") || all[1].Lease("job") {
		t.Fatal("the lease is not the first server's alone")
	}
	must(t, all[0].Close())
	for begun := clock.System().Now(); !all[1].Lease("job"); {
		if clock.System().Now().Sub(begun) > 10*time.Second {
			t.Fatal("the lease does not pass to the other server")
		}
		<-clock.System().After(50 * time.Millisecond)
	}
}
