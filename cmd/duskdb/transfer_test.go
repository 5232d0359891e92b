package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/server"
)

func TestImportAndExport(t *testing.T) {
	srv, err := server.New(server.Config{
		Auth: true, RootUser: "root", RootPassword: "se@cret",
		Parameters: map[string]string{"scramSHA256IterationCount": "5000", "scramIterationCount": "5000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	dir := seedDir(t, map[string]string{"c.csv": "_id,n.a\n1,x\n2,y\n", "bad.json": "{}\n{x}\n{}\n", "up.json": `{"_id":2,"n":{"a":"z"}}`})
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, uri := range []string{
		"mongodb://root:se%40cret@" + srv.Addr() + "/shop?authSource=admin",
		"mongodb://root:se%40cret@" + srv.Addr() + "/shop?authSource=admin&authMechanism=SCRAM-SHA-1",
	} {
		steps := []struct {
			args []string
			code int
		}{
			{[]string{"import", "--uri", uri, "--drop", in("c.csv")}, 0},
			{[]string{"import", "--uri", uri, "-c", "c", "--upsertFields", "_id", "--file", in("up.json")}, 0},
			{[]string{"import", "--uri", uri, in("bad.json")}, 1},
			{[]string{"import", "--uri", uri, in("missing.json")}, 1},
			{[]string{"import", "--uri", uri, "--fields", "a", in("up.json")}, 1},
			{[]string{"import", "--uri", "mongodb://root:wrong@" + srv.Addr(), in("up.json")}, 1},
			{[]string{"import", "--uri", uri + "&nonsense=1", in("up.json")}, 1},
			{[]string{"export", "--uri", uri, "-c", "c", "--type", "csv"}, 1},
			{[]string{"export", "--uri", uri, "-c", "c", "--query", "{"}, 1},
			{[]string{"export", "--uri", uri, "-c", "c", "--query", `{"_id":{"$gt":0}}`, "--type", "csv", "--fields", "_id,n.a", "-o", in("out")}, 0},
			{[]string{"backup", "--uri", uri, "--out", filepath.Join(t.TempDir(), "b")}, 0},
		}
		for _, s := range steps {
			if code := run(s.args); code != s.code {
				t.Errorf("%v exits with %d", s.args, code)
			}
		}
		got, err := os.ReadFile(in("out"))
		if err != nil || string(got) != "_id,n.a\n1,x\n2,z\n" {
			t.Errorf("exported %q, %v", got, err)
		}
	}
}
