package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// find returns the field a of a document, as find by _id does.
func find(ctx context.Context, e *postgres.Engine, id int32) (a int32, found bool, err error) {
	err = e.ViewBriefly(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		rec, ok, err := c.Find("_id", value.AppendKey(nil, value.Int32(id)))
		if found = ok; ok {
			a = rec.Doc.Lookup("a").Int32()
		}
		return err
	})
	return a, found, err
}

// TestReadsTogether: reads that share trips get their own documents as they were acknowledged,
// while documents change, go and come back under the same _id, reads are given up, and the
// database ends connections.
func TestReadsTogether(t *testing.T) {
	t.Parallel()
	uri := pgtest.Own(t, "-c", "fsync=off").URI("") // connections of others must not end
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf, PoolSize: 4})
	must(t, err)
	defer e.Close()
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	const docs, readers, each = 16, 24, 60
	var acknowledged, begun [docs]atomic.Int32
	for id := range int32(docs) {
		must(t, insert(e, value.Int32(id)))
		acknowledged[id].Store(1)
		begun[id].Store(1)
	}
	admin, err := pgconn.Connect(ctx, uri)
	must(t, err)
	defer func() { _ = admin.Close(ctx) }()
	stop := make(chan struct{})
	var writer, wg sync.WaitGroup
	writer.Go(func() {
		for n := int32(0); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			id := n % docs
			begun[id].Add(1)
			change := func() error { return increment(e, id) }
			if n/docs%3 == 2 {
				change = func() error { return replaced(e, id) }
			}
			if err := change(); err != nil {
				t.Error(err)
			}
			acknowledged[id].Add(1)
			if n%(5*docs) == 4*docs {
				if _, err := admin.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'duskdb' and query not like '%vacuum%'").ReadAll(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for r := range readers {
		wg.Go(func() {
			for i := range each {
				id := int32((r + i) % docs)
				ctx, cancel := context.WithCancel(ctx)
				if i%10 == 9 {
					go cancel()
				}
				least := acknowledged[id].Load()
				a, found, err := find(ctx, e, id)
				most := begun[id].Load()
				cancel()
				switch {
				case errors.Is(err, context.Canceled) && i%10 == 9, errors.Is(err, storage.ErrUnavailable):
				case err != nil:
					t.Error(err)
				case !found || a < least || a > most:
					t.Errorf("document %d: %v, %d, want %d to %d", id, found, a, least, most)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	writer.Wait()
}

// replaced deletes a document and inserts it again, with one added to the field a.
func replaced(e storage.Sharer, id int32) error {
	return e.UpdateShared(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		rec, ok, err := c.Find("_id", value.AppendKey(nil, value.Int32(id)))
		if err == nil && ok {
			_, err = c.Delete(rec.ID)
		}
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(id), "a", value.Int32(rec.Doc.Lookup("a").Int32()+1)), 2)
		}
		return err
	})
}
