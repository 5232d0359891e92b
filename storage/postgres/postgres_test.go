package postgres_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
)

var ctx = context.Background()

func open(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
	return openOn(tb, pgtest.URI(tb), dir, ix)
}

func openOn(tb testing.TB, uri, dir string, ix storage.Indexer) storage.Engine {
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(dir), Indexer: ix, Logger: tb.Logf, PoolSize: 8})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	without := []string{compaction}
	if !needs.CI() {
		without = append(without, "ScanResumed", "IndexBuild") // tens of thousands of round trips
	}
	storagetest.RunBut(t, open, without...)
}

// compaction is the part of the suite that needs a database of its own: while anybody reads
// a state of before, in any schema, PostgreSQL keeps what was there.
const compaction = "SyncAndCompact"

func TestCompaction(t *testing.T) {
	t.Parallel()
	uri := pgtest.Own(t).URI("")
	open := func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine { return openOn(tb, uri, dir, ix) }
	storagetest.RunSome(t, open, compaction)
	storagetest.RunSome(t, rerunning(open), compaction)
}

// TestMain makes the simulation shorter, as each of its steps is a few round trips, and runs
// more tests at a time than there are processors, as most of them wait.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("rapid.checks", "4")
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
