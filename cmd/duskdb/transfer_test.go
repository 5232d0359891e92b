package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/server"
)

func TestImportAndExport(t *testing.T) {
	t.Setenv("DUSKDB_PORT", "1") // concerns serve alone
	srv := serving(t, server.Config{
		Auth: true, RootUser: "root", RootPassword: "se@cret",
		Parameters: map[string]string{"scramSHA256IterationCount": "5000", "scramIterationCount": "5000"},
	})
	dir := seedDir(t, map[string]string{"c.csv": "_id,n.a\n1,x\n2,y\n", "bad.json": "{}\n{x}\n{}\n", "up.json": `{"_id":2,"n":{"a":"z"}}`,
		"array.json": `[{"_id":7}]`, "typed.csv": "_id.int32()\nx\n8\n", "names": "_id\n\n n.a\n", "filter": `{"_id": 1}`})
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
			{[]string{"import", "--uri", uri, "--fields", "a", in("up.json")}, 2},
			{[]string{"import", "--uri", uri, "--jsonArray", in("array.json"), "-c", "c"}, 0},
			{[]string{"import", "--uri", uri, "--jsonArray", in("up.json")}, 1},
			{[]string{"import", "--uri", uri, "--jsonArray", in("c.csv")}, 2},
			{[]string{"import", "--uri", uri, "--fields", "a", "--fieldFile", in("names"), in("c.csv")}, 2},
			{[]string{"import", "--uri", uri, "--drop", "--columnsHaveTypes", in("typed.csv"), "-c", "d"}, 1}, // one of two
			{[]string{"export", "--uri", uri, "-c", "d", "--pretty", "--jsonArray", "-o", in("pretty")}, 0},
			{[]string{"import", "--uri", uri, "--drop", "--columnsHaveTypes", "--parseGrace", "stop", in("typed.csv"), "-c", "d"}, 1},
			{[]string{"export", "--uri", uri, "-c", "d", "-o", in("none"), "--assertExists"}, 1},
			{[]string{"export", "--uri", uri, "-c", "d", "-o", in("none")}, 0},
			{[]string{"export", "--uri", uri, "-c", "c", "--query", "{}", "--queryFile", in("filter")}, 2},
			{[]string{"export", "--uri", uri, "-c", "c", "--queryFile", in("filter"), "--type", "csv", "--fieldFile", in("names"), "-o", in("one")}, 0},
			{[]string{"export", "--uri", uri, "-c", "c", "--type", "csv", "-f", "a", "--pretty"}, 2},
			{[]string{"export", "--host", srv.Addr(), "-u", "root", "-p", "se@cret", "--authenticationDatabase", "admin", "-d", "shop", "-c", "c", "-o", in("none2")}, 0},
			{[]string{"import", "--uri", "mongodb://root:wrong@" + srv.Addr(), in("up.json")}, 1},
			{[]string{"import", "--uri", uri + "&nonsense=1", in("up.json")}, 2},
			{[]string{"export", "--uri", uri, "-c", "c", "--type", "csv"}, 2},
			{[]string{"export", "--uri", uri, "-c", "c", "--query", "{"}, 2},
			{[]string{"export", "--uri", uri, "-c", "c", "--query", `{"_id":{"$lt":7}}`, "--type", "csv", "--fields", "_id,n.a", "-o", in("out")}, 0},
			{[]string{"backup", "--uri", uri, "--out", filepath.Join(t.TempDir(), "b")}, 0},
		}
		for _, s := range steps {
			if code := run(s.args); code != s.code {
				t.Errorf("%v exits with %d", s.args, code)
			}
		}
		for name, want := range map[string]string{
			"out": "_id,n.a\n1,x\n2,z\n", "one": "_id,n.a\n1,x\n", "none": "", "pretty": "[{\n\t\"_id\": 8\n}]\n",
		} {
			if got, err := os.ReadFile(in(name)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
	}
}

func TestRemoteAddress(t *testing.T) {
	tests := []struct {
		r    remote
		db   string
		want string // "": an error
	}{
		{remote{}, "", "mongodb://127.0.0.1:27017/"},
		{remote{URI: "mongodb://h/x"}, "y", "mongodb://h/x"},
		{remote{Host: "h"}, "", "mongodb://h:27017/"},
		{remote{Host: "h:1"}, "", "mongodb://h:1/"},
		{remote{Host: "h", Port: 2}, "", "mongodb://h:2/"},
		{remote{Host: "::1", Port: 2}, "", "mongodb://[::1]:2/"},
		{remote{Host: "[::1]:3"}, "", "mongodb://[::1]:3/"},
		{remote{Port: 2}, "", "mongodb://127.0.0.1:2/"},
		{remote{User: "u@", Password: "p:"}, "", "mongodb://u%40:p%3A@127.0.0.1:27017/?authSource=admin"},
		{remote{User: "u", Password: "p"}, "shop", "mongodb://u:p@127.0.0.1:27017/?authSource=shop"},
		{remote{User: "u", Password: "p", AuthDB: "admin"}, "shop", "mongodb://u:p@127.0.0.1:27017/?authSource=admin"},
		{remote{Host: "h:1", Port: 2}, "", ""},
		{remote{URI: "mongodb://h", Port: 2}, "", ""},
		{remote{Password: "p"}, "", ""},
	}
	for _, tt := range tests {
		if got, err := tt.r.address(tt.db); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: %q, %v; want %q", tt.r, got, err, tt.want)
		}
	}
}
