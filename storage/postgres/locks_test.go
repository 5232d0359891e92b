package postgres_test

import (
	"errors"
	"strconv"
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

// holding opens snapshot transactions that have read, so that each keeps a lock on the tables.
func holding(tb testing.TB, e storage.Engine, n int) (list []storage.Txn) {
	tb.Helper()
	for range n {
		txn, err := e.Begin(ctx)
		must(tb, err)
		tb.Cleanup(txn.Abort)
		c, err := txn.Collection(ns)
		must(tb, err)
		must(tb, c.Scan(storage.Range{}, func(storage.Record) bool { return true }))
		list = append(list, txn)
	}
	return list
}

// Somebody who wants a table for himself waits for the transactions and snapshots that are
// open, and everybody waits for him: the transactions end, on each server, and all others go
// on.
func TestExclusiveLock(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t, "-c", "fsync=off")
	uri, schema := own.URI(""), pgtest.Schema(t.TempDir())
	var servers []*postgres.Engine
	for range 2 {
		e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
		must(t, err)
		t.Cleanup(func() { _ = e.Close() })
		servers = append(servers, e)
	}
	create(t, servers[0], ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	must(t, insert(servers[0], value.Int32(1)))
	for _, command := range []string{"vacuum full " + schema + ".kv", "reindex table " + schema + ".kv", "cluster " + schema + ".kv using kv_pkey", "alter table " + schema + ".kv set (fillfactor = 90)"} {
		var held []storage.Txn
		for _, e := range servers {
			held = append(held, holding(t, e, 3)...)
		}
		admin, err := pgconn.Connect(ctx, uri)
		must(t, err)
		began := clock.System().Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := admin.Exec(ctx, command).ReadAll(); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		})
		for i, e := range servers {
			wg.Go(func() {
				if count(t, e) == 0 {
					t.Error("nothing is there")
				}
				if err := insert(e, value.String(command+string(rune('a'+i)))); err != nil && !errors.Is(err, storage.ErrUnavailable) {
					t.Errorf("%s: insert: %v", command, err)
				}
			})
		}
		wg.Wait()
		took := clock.System().Now().Sub(began)
		if took > 10*time.Second {
			t.Errorf("%s stopped the servers for %v", command, took)
		}
		t.Logf("%s: everybody went on after %v", command, took.Round(100*time.Millisecond))
		ended := 0
		for _, txn := range held {
			c, err := txn.Collection(ns)
			if err == nil {
				err = c.Scan(storage.Range{}, func(storage.Record) bool { return true })
			}
			if err != nil {
				ended++
			}
		}
		if ended == 0 && took > 3*time.Second {
			t.Errorf("%s: no transaction ended", command)
		}
		_ = admin.Close(ctx)
	}
}

// A server has no more connections than its pool, its open transactions, and a few.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t, "-c", "fsync=off")
	uri, schema := own.URI(""), pgtest.Schema(t.TempDir())
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, PoolSize: 4, Snapshots: 3, Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	create(t, e, ns, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	holding(t, e, 3)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			for range 20 {
				count(t, e)
			}
		})
	}
	admin, err := pgconn.Connect(ctx, uri)
	must(t, err)
	defer func() { _ = admin.Close(ctx) }()
	most := 0
	for range 30 {
		r := admin.ExecParams(ctx, "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()", nil, nil, nil, nil).Read()
		must(t, r.Err)
		n, err := strconv.Atoi(string(r.Rows[0][0]))
		must(t, err)
		most = max(most, n)
	}
	wg.Wait()
	if most > 4+3+4 {
		t.Errorf("%d connections were open", most)
	}
	t.Logf("at most %d connections", most)
}
