package postgres_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// lacking starts a proxy that changes statements on their way, so that the database answers
// as one that lacks something. It returns the URI of the proxy.
func lacking(t *testing.T, change func(sql string) string) string {
	t.Helper()
	u, err := url.Parse(pgtest.URI(t))
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	to := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, db); _ = client.Close() }()
			go func() { _ = changed(db, client, change); _ = db.Close() }()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

// changed copies the messages of a client, with other statements.
func changed(to io.Writer, from io.Reader, change func(string) string) error {
	header := make([]byte, 5)
	for kind := 0; ; kind = 1 { // the first message has no byte of its kind
		if _, err := io.ReadFull(from, header[:4+kind]); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[kind:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		if kind == 1 && (header[0] == 'P' || header[0] == 'Q') {
			at := 0
			if header[0] == 'P' { // behind the name
				at = bytes.IndexByte(body, 0) + 1
			}
			end := at + bytes.IndexByte(body[at:], 0)
			body = append(append(bytes.Clone(body[:at]), change(string(body[at:end]))...), body[end:]...)
			binary.BigEndian.PutUint32(header[1:], uint32(len(body)+4))
		}
		if _, err := to.Write(append(header[:4+kind:4+kind], body...)); err != nil {
			return err
		}
	}
}

// unsupported is a statement that fails as those do which a database does not support.
const unsupported = `do $$ begin raise feature_not_supported; end $$`

// without makes statements fail that begin with one of some words.
func without(words ...string) func(string) string {
	return func(sql string) string {
		for _, word := range words {
			if strings.HasPrefix(sql, word) {
				return unsupported
			}
		}
		return sql
	}
}

// TestLacking: a database that lacks what the engine needs is refused before anything is made
// in it, with what it says that it is and with all that it lacks.
func TestLacking(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(string) string
		words  []string
	}{
		"division": {func(sql string) string {
			sql = strings.ReplaceAll(sql, "7::int8 / 2::int8", "7::numeric / 2::int8")
			return strings.ReplaceAll(sql, "select version()", "select 'OtherDB v7.1 on x86_64'::text")
		}, []string{"(OtherDB v7.1) lacks", "division of whole numbers"}},
		"order": {func(sql string) string { return strings.ReplaceAll(sql, `'\x7f'::bytea`, `'\x81'::bytea`) },
			[]string{"(PostgreSQL ", "strings of bytes"}},
		"isolation": {func(sql string) string { return strings.ReplaceAll(sql, "repeatable read", "read committed") },
			[]string{"transactions that read one state"}},
		"several": {func(sql string) string {
			if strings.Contains(sql, "lateral") || strings.Contains(sql, "version()") {
				return unsupported
			}
			return strings.ReplaceAll(sql, "isolation level repeatable read", "as one likes")
		}, []string{"does not say what it is", "lateral queries", "transactions that read one state"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := pgtest.Schema(t.TempDir())
			e, err := postgres.Open(ctx, postgres.Options{URI: lacking(t, x.change), Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
			if err == nil {
				_ = e.Close()
				t.Fatal("not refused")
			}
			for _, word := range x.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not say %q: %v", word, err)
				}
			}
			if n := sqlOn(t, pgtest.URI(t), "public", `select count(*) from pg_namespace where nspname = '`+schema+`'`); n[0] != "0" {
				t.Error("the schema was made")
			}
		})
	}
}

// TestUnknownStatement: a database that does not know one of the engine's statements is
// refused, with the statement's error.
func TestUnknownStatement(t *testing.T) {
	t.Parallel()
	uri := lacking(t, func(sql string) string { return strings.ReplaceAll(sql, "skip locked", "skip what is locked") })
	e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: pgtest.Schema(t.TempDir()), Indexer: storagetest.Indexer{}, Logger: t.Logf})
	if err == nil {
		_ = e.Close()
		t.Fatal("not refused")
	}
	for _, word := range []string{"(PostgreSQL ", "lacks what the engine needs", "syntax error", "what"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

// TestFaster: a database without notifications, names of states and settings of the planner
// has everything that correctness needs.
func TestFaster(t *testing.T) {
	t.Parallel()
	uri := lacking(t, without("listen", "notify", "select pg_export_snapshot", "set enable_seqscan", "set tcp_keepalives", "set lock_timeout"))
	schema := pgtest.Schema(t.TempDir())
	var list [2]*postgres.Engine
	for i := range list {
		e, err := postgres.Open(ctx, postgres.Options{URI: uri, Schema: schema, Indexer: storagetest.Indexer{}, Logger: t.Logf})
		must(t, err)
		t.Cleanup(func() { must(t, e.Close()) })
		list[i] = e
	}
	create(t, list[0], ns, storagetest.UniqueSpec("_id"))
	must(t, insert(list[1], value.Int32(1)))
	must(t, insert(list[0], value.Int32(2)))
	first, number, err := list[0].BeginNumbered(ctx, numbers(1))
	must(t, err)
	defer first.Abort()
	second, err := list[1].BeginAt(ctx, number)
	must(t, err)
	holds(t, second, "1 2 1 2")
	second.Abort()
	must(t, insert(list[1], value.Int32(3)))
	holds(t, first, "1 2 1 2")
	if txn, err := list[1].BeginAt(ctx, number); !errors.Is(err, storage.ErrNoSnapshot) {
		if err == nil {
			txn.Abort()
		}
		t.Errorf("a state of before is read without its name: %v", err)
	}
	storagetest.RunSome(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine { return openOn(tb, uri, dir, ix) }, "Catalog", "Records", "Unique", "CommitStamps", "Scan")
}
