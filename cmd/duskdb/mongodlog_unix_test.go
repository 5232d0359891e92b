//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// A server writes all of its log in mongod's form, from its first line to its last, and
// getLog has the same lines.
func TestServerLogsAsMongod(t *testing.T) {
	path, port := filepath.Join(t.TempDir(), "mongod.log"), strconv.Itoa(freeport.For(t))
	cmd := exec.Command(built(t), "--port", port, "--dbpath", t.TempDir(), "--logFormat", "mongod", "--logpath", path, "--slowms", "0", "--exit-with-stdin")
	if _, err := cmd.StdinPipe(); err != nil { // for a program that waits, it prints where it listens
		t.Fatal(err)
	}
	srv := proc.Start(t, cmd)
	conn, err := transfer.Dial("mongodb://127.0.0.1:"+port, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`,
		`{"find": "c", "filter": {"a": 1}, "$db": "test"}`,
		`{"update": "c", "updates": [{"q": {"a": 1}, "u": {"$set": {"b": 1}}}], "$db": "test"}`,
	} {
		if _, err := conn.Run(value.MustJSON(text)); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := conn.Run(value.MustJSON(`{"getLog": "global", "$db": "admin"}`))
	if err != nil {
		t.Fatal(err)
	}
	for v := range reply.Lookup("log").Doc().Values() {
		parseMongodLine(t, v.Str())
	}
	conn.Close()
	srv.Stop(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int][]mongodFields{}
	for line := range strings.Lines(string(text)) {
		f := parseMongodLine(t, strings.TrimSpace(line))
		seen[f.ID] = append(seen[f.ID], f)
	}
	for _, id := range []int{4615611, 23016, 22943, 22944, 51803, 23377, 23138, 20565} {
		if len(seen[id]) == 0 {
			t.Errorf("no line with the id %d in\n%s", id, text)
		}
	}
	kinds := map[string]string{}
	for _, f := range seen[51803] {
		command, _ := f.Attr["command"].(map[string]any)
		if f.Attr["ns"] == "test.c" && command["find"] != nil {
			kinds["find"] = f.C
			if f.Attr["planSummary"] != "COLLSCAN" || f.Attr["docsExamined"] != 1.0 || f.Attr["durationMillis"] == nil || !strings.HasPrefix(f.Ctx, "conn") || f.Attr["type"] != "command" {
				t.Errorf("%+v", f)
			}
		}
		if f.Attr["type"] == "update" {
			kinds["update"] = f.C
		}
	}
	if kinds["find"] != "COMMAND" || kinds["update"] != "WRITE" {
		t.Errorf("components of the slow operations: %v", kinds)
	}
}
