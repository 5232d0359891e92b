package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// filled starts a server on a directory with something of every kind in it.
func filled(t *testing.T, engine string) *server.Server {
	t.Helper()
	srv := serving(t, server.Config{DBPath: t.TempDir(), StorageEngine: engine, MemoryLimit: "none"})
	c := connect(t, srv.URI())
	run := func(text string) { t.Helper(); mustRun(t, c, value.MustJSON(text)) }
	run(`{"create": "sessions", "documentTtl": {"default": 600}, "$db": "shop"}`)
	run(`{"create": "q", "messageQueue": {"defaultMessageTimeToLive": 600}, "$db": "shop"}`)
	run(`{"mqSend": "q", "messages": [{"body": 1}, {"body": 2}], "$db": "shop"}`)
	run(`{"mqReceive": "q", "$db": "shop"}`)
	run(`{"create": "series", "timeseries": {"timeField": "t", "metaField": "m"}, "$db": "shop"}`)
	run(`{"insert": "series", "documents": [{"t": {"$date": "2026-01-01T00:00:00Z"}, "m": 1, "v": 2}], "$db": "shop"}`)
	run(`{"create": "view", "viewOn": "sessions", "pipeline": [], "$db": "shop"}`)
	run(`{"create": "empty", "$db": "shop"}`)
	run(`{"createIndexes": "sessions", "indexes": [{"key": {"user": 1}, "name": "user_1", "unique": true}], "$db": "shop"}`)
	text := strings.Repeat("x", 100_000)
	for i := range int32(40) { // four chunks
		d := value.NewDoc("_id", value.Int32(i), "user", value.Int32(i), "s", value.String(text))
		mustRun(t, c, value.NewDoc("insert", value.String("sessions"), "documents", value.NewArray(value.Document(d)), "$db", value.String("shop")))
	}
	big := value.NewDoc("_id", value.Int32(100), "user", value.Int32(100), "s", value.String(strings.Repeat("y", 16<<20-200)))
	mustRun(t, c, value.NewDoc("insert", value.String("sessions"), "documents", value.NewArray(value.Document(big)), "$db", value.String("shop")))
	return srv
}

func connect(t *testing.T, uri string) *transfer.Conn {
	t.Helper()
	c, err := transfer.Dial(uri, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func mustRun(t *testing.T, c *transfer.Conn, command value.Doc) value.Doc {
	t.Helper()
	reply, err := c.Run(command)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// hashes are the hashes of all collections by dbHash, which must be equal for equal data.
func hashes(t *testing.T, uri string) string {
	t.Helper()
	c := connect(t, uri)
	h := mustRun(t, c, value.MustJSON(`{"dbHash": 1, "$db": "shop"}`))
	list := mustRun(t, c, value.MustJSON(`{"listCollections": 1, "$db": "shop"}`)).Lookup("cursor").Doc().Lookup("firstBatch")
	indexes := mustRun(t, c, value.MustJSON(`{"listIndexes": "sessions", "$db": "shop"}`)).Lookup("cursor").Doc().Lookup("firstBatch")
	return h.Lookup("collections").String() + list.String() + indexes.String()
}

// A backup that is sent is the state of its beginning: writes meanwhile are not in it. It can
// be restored into a directory of either engine.
func TestBackupToStdout(t *testing.T) {
	binary := built(t)
	for _, engines := range [][2]string{{"bunt", "pebble"}, {"pebble", "bunt"}} {
		t.Run(engines[0], func(t *testing.T) {
			srv := filled(t, engines[0])
			want := hashes(t, srv.URI())
			var backup bytes.Buffer
			writes := &during{w: &backup, do: func() {
				c := connect(t, srv.URI())
				mustRun(t, c, value.MustJSON(`{"delete": "sessions", "deletes": [{"q": {}, "limit": 0}], "$db": "shop"}`))
				mustRun(t, c, value.MustJSON(`{"insert": "empty", "documents": [{"_id": 1}], "$db": "shop"}`))
			}}
			if err := transfer.Backup(connect(t, srv.URI()), writes); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "data")
			cmd := exec.CommandContext(t.Context(), binary, "restore", "-", "--dbpath", dir, "--storageEngine", engines[1])
			cmd.Stdin = bytes.NewReader(backup.Bytes())
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), dir+": ") {
				t.Fatalf("%v\n%s", err, out)
			}
			copied, err := server.New(server.Config{DBPath: dir, StorageEngine: engines[1], MemoryLimit: "none", Parameters: map[string]string{"ttlMonitorEnabled": "false"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = copied.Close(context.Background()) }()
			if err := copied.Start(); err != nil {
				t.Fatal(err)
			}
			if got := hashes(t, copied.URI()); got != want {
				t.Errorf("the copy is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// during calls a function after the first write.
type during struct {
	w  io.Writer
	do func()
}

func (d *during) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if d.do != nil {
		d.do()
		d.do = nil
	}
	return n, err
}

// A backup that was cut off or changed is refused, and the directory is no data directory; a
// second attempt with the whole of it succeeds.
func TestCutBackupIsRefused(t *testing.T) {
	srv := filled(t, "bunt")
	var backup bytes.Buffer
	if err := transfer.Backup(connect(t, srv.URI()), &backup); err != nil {
		t.Fatal(err)
	}
	whole := backup.Bytes()
	dir := filepath.Join(t.TempDir(), "data")
	restore := func(b []byte) error {
		_, err := server.RestoreStream(t.Context(), bytes.NewReader(b), "bunt", dir, func(int64) {})
		return err
	}
	changed := bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	for name, tt := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":             {nil, "cut off"},
		"half":                {whole[:len(whole)/2], "cut off"},
		"all but a byte":      {whole[:len(whole)-1], "cut off"},
		"no last document":    {whole[:bytes.LastIndex(whole, []byte("\x03end\x00"))-4], "cut off"},
		"a bit":               {changed, "damaged"},
		"something behind":    {append(bytes.Clone(whole), 0), "damaged"},
		"no backup":           {[]byte("hello, world: this is some text"), "damaged"},
		"some other document": {value.NewDoc("a", value.Int32(1)), "no backup of DuskDB"},
		"a newer one":         {value.NewDoc("duskdbBackup", value.Int32(2)), "newer version"},
	} {
		if err := restore(tt.b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := server.New(server.Config{DBPath: dir}); err == nil {
		t.Error("a server takes an unfinished copy")
	}
	if err := restore(whole); err != nil {
		t.Fatal(err)
	}
	if report, err := server.Check(dir); err != nil || !report.Sound() {
		t.Errorf("%v, %+v", err, report)
	}
	if err := restore(whole); err == nil {
		t.Error("restored over data")
	}
}

// When the reader of the pipe ends, so does the backup, with an error; the server forgets
// the cursor with the connection.
func TestBackupIntoBrokenPipe(t *testing.T) {
	needs.Program(t, "sh", "head")
	srv := filled(t, "bunt")
	script := `{ "$DUSKDB" backup --uri "$URI" --out -; echo "status $?" >&2; } | head -c 1000 >/dev/null`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env = append(os.Environ(), "DUSKDB="+built(t), "URI="+srv.URI())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "status ") || strings.Contains(string(out), "status 0") {
		t.Errorf("%v\n%s", err, out)
	}
	// The next command on a new connection comes after the end of that one was seen.
	c := connect(t, srv.URI())
	for range 1000 {
		open := mustRun(t, c, value.MustJSON(`{"serverStatus": 1, "$db": "admin"}`)).Lookup("metrics").Doc().Lookup("cursor").Doc().Lookup("open").Doc().Lookup("total")
		if open.SafeInt64() == 0 {
			return
		}
	}
	t.Error("the cursor of the backup stays open")
}
