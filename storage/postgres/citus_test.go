package postgres_test

import (
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestCitus: over a database with Citus ordinary tables work, and those that it distributes
// are refused until they are ordinary again.
func TestCitus(t *testing.T) {
	t.Parallel()
	if len(sqlOn(t, pgtest.URI(t), "public", `select 1 from pg_available_extensions where name = 'citus'`)) == 0 {
		t.Skip("Citus is not installed")
	}
	server := pgtest.Own(t, "-c", "shared_preload_libraries=citus", "-c", "max_prepared_transactions=100")
	uri, schema := server.URI(""), pgtest.Schema(t.TempDir())
	sqlOn(t, uri, "public", `create extension citus`)
	sqlOn(t, uri, "public", `select citus_set_coordinator_host('127.0.0.1'), citus_set_node_property('127.0.0.1', current_setting('port')::int, 'shouldhaveshards', true)`)
	open := func() *postgres.Engine {
		t.Helper()
		e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
		must(t, err)
		return e
	}
	e := open()
	create(t, e, ns, storagetest.UniqueSpec("_id"))
	must(t, insert(e, value.Int32(1)))
	must(t, e.Close())
	for _, x := range []struct{ distribute, word string }{
		{`select create_distributed_table('kv', 'c', shard_count => 2)`, "kv (Citus distributes it"},
		{`select create_distributed_table('kv', 'k', shard_count => 2)`, "kv (Citus distributes it"},
		{`select create_reference_table('kv')`, "kv (Citus distributes it"},
	} {
		sqlOn(t, uri, schema, x.distribute)
		refused(t, uri, schema, x.word)
		sqlOn(t, uri, schema, `select undistribute_table('kv')`)
	}
	e = open()
	if got := storagetest.Dump(e); got == "" {
		t.Error("the data are gone")
	}
	must(t, insert(e, value.Int32(2)))
	must(t, e.Close())

	sqlOn(t, uri, "public", `alter database postgres set citus.enable_schema_based_sharding = on`)
	schema = pgtest.Schema(t.TempDir())
	refused(t, uri, schema, "meta (Citus distributes it")
}
