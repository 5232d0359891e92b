package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// sqlOn runs statements in a schema, and returns the first column of the rows of the last one.
func sqlOn(t *testing.T, uri, schema, sql string) (column []string) {
	t.Helper()
	c, err := pgconn.Connect(ctx, uri)
	must(t, err)
	defer func() { _ = c.Close(ctx) }()
	results, err := c.Exec(ctx, `set search_path = "`+schema+`"; `+sql).ReadAll()
	must(t, err)
	for _, row := range results[len(results)-1].Rows {
		column = append(column, string(row[0]))
	}
	return column
}

// formatIn is the format of the tables of a schema, or 0 if there are none.
func formatIn(t *testing.T, uri, schema string) string {
	t.Helper()
	if len(sqlOn(t, uri, schema, `select 1 where to_regclass('meta') is not null`)) == 0 {
		return "0"
	}
	return strings.Join(append(sqlOn(t, uri, schema, `select format from meta`), "0")[:1], "")
}

// refused checks that the tables of a schema are refused with words that say why, each time,
// and that nothing was changed in them.
func refused(t *testing.T, uri, schema string, words ...string) {
	t.Helper()
	format := formatIn(t, uri, schema)
	for range 2 {
		e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
		if err == nil {
			_ = e.Close()
			t.Fatalf("not refused: %v", words)
		}
		for _, word := range append(words, schema, "ordinary tables") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the error does not say %q: %v", word, err)
			}
		}
	}
	if now := formatIn(t, uri, schema); now != format {
		t.Errorf("the format was %q and is %q", format, now)
	}
}

// TestOddTables: a table that is not an ordinary one is refused with its name and the reason,
// and is taken again when it is one.
func TestOddTables(t *testing.T) {
	t.Parallel()
	uri := pgtest.Own(t).URI("") // for roles and extensions
	for _, x := range []struct{ name, word, make, mend string }{
		{"unlogged", "kv (it is unlogged", `alter table kv set unlogged`, `alter table kv set logged`},
		{"view", "stats (it is a view", `alter table stats rename to was; create view stats as select * from was`, `drop view stats; alter table was rename to stats`},
		{"materialized", "catalog (it is a view", `alter table catalog rename to was; create materialized view catalog as select * from was`, `drop materialized view catalog; alter table was rename to catalog`},
		{"sequence", "snapshot (it is not a table", `alter table snapshot rename to was; create sequence snapshot`, `drop sequence snapshot; alter table was rename to snapshot`},
		{"partitioned", "kv (it is partitioned", `alter table kv rename to was; create table kv (like was including all) partition by hash (c); create table kv0 partition of kv for values with (modulus 1, remainder 0); insert into kv select * from was`, `drop table kv; alter table was rename to kv`},
		{"inherited", "claim (other tables inherit", `create table more () inherits (claim)`, `drop table more`},
		{"rule", "head (it has a rule", `create rule quiet as on update to head do instead nothing`, `drop rule quiet on head`},
		{"trigger", "lease (it has a trigger", `create function nothing() returns trigger language plpgsql as 'begin return null; end'; create trigger nothing before insert on lease for each row execute function nothing()`, `drop trigger nothing on lease; drop function nothing`},
		{"meta", "meta (it is unlogged", `alter table meta set unlogged`, `alter table meta set logged`},
		{"several", "kv (it is unlogged", `alter table kv set unlogged; alter table server set unlogged`, `alter table kv set logged; alter table server set logged`},
	} {
		t.Run(x.name, func(t *testing.T) {
			schema := pgtest.Schema(t.TempDir())
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
			sqlOn(t, uri, schema, x.make)
			refused(t, uri, schema, x.word)
			sqlOn(t, uri, schema, x.mend)
			e = open()
			must(t, insert(e, value.Int32(2)))
			must(t, e.Close())
		})
	}
}

// TestForeignTable: a table that is in another database is refused.
func TestForeignTable(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	uri, schema := server.URI(""), pgtest.Schema(t.TempDir())
	if len(sqlOn(t, uri, schema, `select 1 from pg_available_extensions where name = 'postgres_fdw'`)) == 0 {
		needs.Missing(t, "postgres_fdw")
	}
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	must(t, e.Close())
	host, port, _ := strings.Cut(server.Address(), ":")
	sqlOn(t, uri, schema, `create extension postgres_fdw; create server far foreign data wrapper postgres_fdw options (host '`+host+`', port '`+port+`', dbname 'postgres');
		create user mapping for postgres server far; alter table kv rename to near;
		create foreign table kv (c int4 not null, k bytea not null, v bytea not null, ver int8 not null) server far options (schema_name '`+schema+`', table_name 'near')`)
	if n := sqlOn(t, uri, schema, `select count(*) from kv`); n[0] != "0" {
		t.Errorf("the foreign table has %v rows", n)
	}
	refused(t, uri, schema, "kv (it is a foreign table")
}

// TestHiddenRows: row level security is refused where it acts on the server's role, and only
// there; a trigger that runs when a row is written already does not matter.
func TestHiddenRows(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	uri, schema := server.URI(""), pgtest.Schema(t.TempDir())
	sqlOn(t, uri, schema, `create role plain login; create schema "`+schema+`" authorization plain`)
	plain := strings.Replace(uri, "postgres@", "plain@", 1)
	open := func() error {
		e, err := postgres.Open(ctx, postgres.Options{URI: plain, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
		if err == nil {
			err = e.Update(ctx, func(tx storage.Tx) error { return nil })
			must(t, e.Close())
		}
		return err
	}
	must(t, open())
	sqlOn(t, uri, schema, `alter table kv enable row level security; create function seen() returns trigger language plpgsql as 'begin return null; end';
		create trigger seen after insert on kv for each row execute function seen()`)
	must(t, open()) // the owner sees all rows
	sqlOn(t, uri, schema, `alter table kv force row level security`)
	refused(t, plain, schema, "kv (row level security hides rows")
	sqlOn(t, uri, schema, `alter table kv no force row level security`)
	must(t, open())
}

// TestOldOddTable: tables of an older version are looked at before they are changed.
func TestOldOddTable(t *testing.T) {
	t.Parallel()
	uri, schema := pgtest.Own(t).URI(""), pgtest.Schema(t.TempDir())
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	must(t, e.Close())
	sqlOn(t, uri, schema, `drop table snapshot; update meta set format = format - 1; alter table kv set unlogged`)
	refused(t, uri, schema, "kv (it is unlogged")
	sqlOn(t, uri, schema, `alter table kv set logged`)
	e, err = postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	must(t, e.Close())
}

// TestCompression: large documents are compressed with lz4, where the database has it.
func TestCompression(t *testing.T) {
	t.Parallel()
	uri, schema := pgtest.URI(t), pgtest.Schema(t.TempDir())
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
	must(t, err)
	defer e.Close()
	create(t, e, ns, storagetest.UniqueSpec("_id"))
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(1), "a", value.String(strings.Repeat("a large document ", 1000))), 1)
		}
		return err
	}))
	known := sqlOn(t, uri, schema, `select 1 from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)`)
	if len(known) == 0 {
		needs.Missing(t, "a PostgreSQL with lz4")
	}
	got := sqlOn(t, uri, schema, `select pg_column_compression(v) from kv where length(v) > 10000`)
	if len(got) != 1 || got[0] != "lz4" {
		t.Errorf("compressed with %v", got)
	}
}
