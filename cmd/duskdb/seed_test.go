package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// seeded starts a server as duskdb --initdb does, and returns it unstarted.
func seeded(t *testing.T, s *serveCmd, cfg server.Config) (*server.Server, error) {
	t.Helper()
	cfg.DBPath = s.DBPath
	cfg.Parameters = map[string]string{"scramSHA256IterationCount": "5000", "scramIterationCount": "5000"}
	found, err := s.findSeeds(zerolog.Nop())
	if err != nil {
		return nil, err
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	return srv, found.plant(srv, &cfg, zerolog.Nop())
}

// count asks a server for the number of documents.
func count(t *testing.T, srv *server.Server, cfg server.Config, db, coll string) int64 {
	t.Helper()
	conn := transfer.NewConn(srv.Dial())
	defer conn.Close()
	if cfg.Auth {
		if err := conn.Login("admin", cfg.RootUser, cfg.RootPassword, ""); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := conn.Run(value.NewDoc("count", value.String(coll), "$db", value.String(db)))
	if err != nil {
		t.Fatal(err)
	}
	return reply.Lookup("n").Int64()
}

func seedDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSeeds(t *testing.T) {
	t.Setenv("MONGO_INITDB_DATABASE", "shop")
	dir := seedDir(t, map[string]string{"a.json": `[{"_id":1},{"_id":2}]`, "b.ndjson": "{}\n{}\n{}\n", "README": "x", "c.sh": "exit 1"})
	for _, path := range []string{server.Memory, filepath.Join(t.TempDir(), "data")} {
		for _, cfg := range []server.Config{{}, {Auth: true, RootUser: "root", RootPassword: "secret"}} {
			s := &serveCmd{DBPath: path, InitDB: dir}
			if cfg.Auth && path != server.Memory {
				s.DBPath += "-auth"
			}
			srv, err := seeded(t, s, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := count(t, srv, cfg, "shop", "a"), count(t, srv, cfg, "shop", "b"); a != 2 || b != 3 {
				t.Errorf("%s: %d and %d documents", s.DBPath, a, b)
			}
			if path == server.Memory {
				continue
			}
			if err := srv.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if srv, err = seeded(t, s, cfg); err != nil { // the second start imports nothing
				t.Fatal(err)
			}
			if b := count(t, srv, cfg, "shop", "b"); b != 3 {
				t.Errorf("%d documents after a second start", b)
			}
		}
	}
}

func TestBadSeeds(t *testing.T) {
	s := &serveCmd{DBPath: filepath.Join(t.TempDir(), "data"), InitDB: seedDir(t, map[string]string{"a.json": "{}\n{x}\n"})}
	srv, err := seeded(t, s, server.Config{})
	if err == nil || !strings.Contains(err.Error(), "a.json: line 2: ") {
		t.Errorf("got %v", err)
	}
	if err := srv.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := seeded(t, s, server.Config{}); err == nil || !strings.Contains(err.Error(), "an earlier start failed") {
		t.Errorf("the next start says %v", err)
	}
	if _, err := seeded(t, &serveCmd{DBPath: server.Memory, InitDB: s.InitDB}, server.Config{Auth: true}); err == nil {
		t.Error("seeds are imported without a login")
	}
}

func TestNoSeeds(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "missing")} {
		if _, err := seeded(t, &serveCmd{DBPath: filepath.Join(t.TempDir(), "d"), InitDB: dir}, server.Config{}); err != nil {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// Files of the directory are read as duskdb import reads them: spaces around the fields of CSV
// do not count, and a .bson file has the whole name of its collection.
func TestSeedsAreReadAsImports(t *testing.T) {
	dir := seedDir(t, map[string]string{"c.csv": "a, b\n1, 2\n", "a+b.c.bson": string(value.NewDoc("_id", value.Int32(1)))})
	srv, err := seeded(t, &serveCmd{InitDB: dir, DBPath: server.Memory}, server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	conn := transfer.NewConn(srv.Dial())
	defer conn.Close()
	reply, err := conn.Run(value.NewDoc("count", value.String("c"), "query", value.Document(value.NewDoc("a", value.Int32(1), "b", value.Int32(2))), "$db", value.String("test")))
	if err != nil || reply.Lookup("n").SafeInt64() != 1 {
		t.Errorf("%s, %v", reply, err)
	}
	if n := count(t, srv, server.Config{}, "test", "a b.c"); n != 1 {
		t.Errorf("%d documents of the .bson file", n)
	}
	if _, err := seeded(t, &serveCmd{InitDB: seedDir(t, map[string]string{"system.buckets.w.bson": ""}), DBPath: server.Memory}, server.Config{}); err == nil {
		t.Error("buckets are imported as a collection")
	}
}
