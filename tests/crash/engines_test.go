package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// contents is every file of a directory with its bytes.
func contents(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// wantUntouched compares the files of a directory with those of before.
func wantUntouched(tb testing.TB, dir string, before map[string]string) {
	tb.Helper()
	after := contents(tb, dir)
	for name, b := range before {
		if after[name] != b {
			tb.Errorf("%s was changed", name)
		}
		delete(after, name)
	}
	delete(after, filepath.Join(dir, "duskdb.lock"))
	for name := range after {
		tb.Errorf("%s was made", name)
	}
}

// TestRefusedDirectories: the server says what it found in a directory that it
// cannot use and what to do, and changes nothing, also with --repair.
func TestRefusedDirectories(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		says  []string
	}{
		{"mongod", map[string]string{"WiredTiger": "WiredTiger", "WiredTiger.wt": "x", "storage.bson": "x", "mongod.lock": ""}, []string{"MongoDB", "WiredTiger, WiredTiger.wt, storage.bson, mongod.lock", "mongodump", "--dbpath"}},
		{"storage.bson", map[string]string{"storage.bson": "x"}, []string{"MongoDB", "storage.bson"}},
		{"PostgreSQL", map[string]string{"PG_VERSION": "15"}, []string{"PostgreSQL", "PG_VERSION"}},
		{"RocksDB", map[string]string{"CURRENT": "MANIFEST-000001"}, []string{"RocksDB", "CURRENT"}},
		{"newer format", map[string]string{"duskdb.bunt": "duskdb-bunt-9\n"}, []string{"format 9", "newer version of DuskDB"}},
		{"other engine", map[string]string{"duskdb.pebble": "duskdb-pebble-2\n"}, []string{"storage engine pebble (duskdb.pebble)", "--storageEngine pebble", "duskdb copy pebble:"}},
		{"unfinished restore", map[string]string{"duskdb.copying": "restore\n", "duskdb.bunt": ""}, []string{"unfinished restore", "duskdb restore"}},
		{"unfinished copy", map[string]string{"duskdb.copying": "copy\n", "duskdb.bunt": ""}, []string{"unfinished copy", "duskdb copy"}},
		{"unfinished copy or restore", map[string]string{"duskdb.copying": "", "duskdb.bunt": ""}, []string{"unfinished copy or restore", "once more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := contents(t, dir)
			for _, args := range [][]string{{"--storageEngine", "bunt"}, {"--storageEngine", "bunt", "--repair"}, {"--storageEngine", "wiredTiger"}} {
				text := refuses(t, dir, args...)
				for _, s := range tt.says {
					if !strings.Contains(text, s) {
						t.Errorf("%v: %q is not in %s", args, s, text)
					}
				}
			}
			if tt.name != "newer format" { // which is found by opening the log, under the lock
				wantUntouched(t, dir, before)
			}
		})
	}
}

// TestRefusedByPebble: the same for the directory of the default engine, and
// for one that a newer version made.
func TestRefusedByPebble(t *testing.T) {
	dir := loaded(t, 100, "--storageEngine", "bunt")
	before := contents(t, dir)
	for _, args := range [][]string{{"--storageEngine", "pebble"}, {"--storageEngine", "pebble", "--repair"}} {
		text := refuses(t, dir, args...)
		for _, s := range []string{"storage engine bunt (duskdb.bunt, duskdb.state)", "--storageEngine bunt", "duskdb copy bunt:"} {
			if !strings.Contains(text, s) {
				t.Errorf("%v: %q is not in %s", args, s, text)
			}
		}
	}
	wantUntouched(t, dir, before)
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, "duskdb.pebble"), []byte("duskdb-pebble-7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before = contents(t, newer)
	for _, args := range [][]string{{"--storageEngine", "pebble"}, {"--storageEngine", "pebble", "--repair"}} {
		if text := refuses(t, newer, args...); !strings.Contains(text, "has format 7, and this version of DuskDB reads formats up to") || strings.Contains(text, "--repair") || !strings.Contains(text, "newer version of DuskDB") {
			t.Errorf("%v: %s", args, text)
		}
	}
	if text, sound := check(newer); sound || !strings.Contains(text, "newer version of DuskDB") {
		t.Errorf("check: %s", text)
	}
	wantUntouched(t, newer, before)
}

// TestFileForDirectory: --dbpath names a file.
func TestFileForDirectory(t *testing.T) {
	localData(t)
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--repair"}} {
		if text := refuses(t, path, args...); !strings.Contains(text, "is a file, and should be a directory") {
			t.Errorf("refused with %s", text)
		}
	}
	if text, sound := check(path); sound || !strings.Contains(text, "is a file") {
		t.Errorf("check: %s", text)
	}
}

// TestDirectoryInUse: a second server, check and copy report that another process has the
// data.
func TestDirectoryInUse(t *testing.T) {
	localData(t)
	dir := t.TempDir()
	start(t, dir)
	for _, args := range [][]string{nil, {"--repair"}} {
		if text := refuses(t, dir, args...); !strings.Contains(text, "in use by another process (process ") || !strings.Contains(text, "--shutdown") {
			t.Errorf("refused with %s", text)
		}
	}
	if text, sound := check(dir); sound || !strings.Contains(text, "in use by another process") {
		t.Errorf("check: %s", text)
	}
	to := filepath.Join(t.TempDir(), "to")
	if text, ok := duskdb("copy", engine+":"+dir, "bunt:"+to); ok || !strings.Contains(text, "in use by another process") {
		t.Errorf("copy: %s", text)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("the target was made")
	}
}

// duskdb runs a command and returns all that it prints.
func duskdb(args ...string) (text string, ok bool) {
	out, err := exec.Command(binary, args...).CombinedOutput()
	return string(out), err == nil
}

// TestCopy: a copy has everything, down to the token of a locked message and of a change
// stream, and continues where the original was.
func TestCopy(t *testing.T) {
	for _, engines := range enginePairs() {
		t.Run(engines[0]+" to "+engines[1], func(t *testing.T) {
			testCopy(t, directory(engines[0], t.TempDir()), directory(engines[1], filepath.Join(t.TempDir(), "deep", "copy")))
		})
	}
}

// enginePairs are all ways from one engine to another, and to itself.
func enginePairs() (pairs [][2]string) {
	for _, from := range storageEngines {
		for _, to := range storageEngines {
			pairs = append(pairs, [2]string{from, to})
		}
	}
	return pairs
}

// storageEngines are the engines that the tests run with.
var storageEngines = []string{"bunt", "pebble"}

// place is where an engine has its data.
type place struct {
	engine, dir string
	name        string   // for duskdb copy
	args        []string // arguments of a server
}

func directory(engine, dir string) place {
	return place{engine: engine, dir: dir, name: engine + ":" + dir, args: []string{"--storageEngine", engine, "--replSet", "rs"}}
}

func testCopy(t *testing.T, from, to place) {
	p := start(t, from.dir, from.args...)
	c := connect(t, p)
	c.must(t, "create", value.String("jobs"), "messageQueue", doc(`{"lockDuration": "PT60S", "maxDeliveryCount": 1}`))
	c.must(t, "createIndexes", value.String("c"), "indexes", value.NewArray(
		doc(`{"key": {"k": 1}, "name": "k_1", "unique": true}`), doc(`{"key": {"tags": 1}, "name": "tags_1"}`),
		doc(`{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 3600}`)))
	opened := c.must(t, "aggregate", value.String("c"), "pipeline", value.NewArray(doc(`{"$changeStream": {}}`)), "cursor", doc(`{}`))
	resume := opened.Lookup("cursor").Doc().Lookup("postBatchResumeToken")
	for i := range int32(3000) {
		d := value.NewDoc("_id", value.Int32(i), "k", value.Int32(i), "tags", value.NewArray(value.Int32(i%7), value.String("x")))
		if i%500 == 499 {
			c.must(t, "delete", value.String("c"), "deletes", value.NewArray(doc(`{"q": {"k": {"$mod": [3, 1]}}, "limit": 0}`)))
		}
		c.must(t, "insert", value.String("c"), "documents", value.NewArray(value.Document(d)))
	}
	for range 5 {
		c.must(t, "mqSend", value.String("jobs"), "messages", value.NewArray(doc(`{"task": "resize"}`)))
	}
	receive := func() (message value.Doc, token value.Value) {
		reply := c.must(t, "mqReceive", value.String("jobs"), "maxMessages", value.Int32(1))
		message = reply.Lookup("messages").Doc().Index(0).Doc()
		return message, message.Lookup("_mq").Doc().Lookup("lockToken").Clone()
	}
	_, refused := receive()
	c.must(t, "mqAbandon", value.String("jobs"), "lockToken", refused) // a dead letter, after one delivery
	message, token := receive()
	c.must(t, "createUser", value.String("eve"), "pwd", value.String("secret"), "roles", value.NewArray())
	hash := c.must(t, "dbHash", value.Int32(1)).Lookup("collections").Doc()
	docs := c.all(t, "c")
	_ = c.Close()
	p.Stop(t)

	before := contents(t, from.dir)
	if text, ok := duskdb("copy", from.name, to.name); !ok || !strings.Contains(text, "the copy is equal to the original") {
		t.Fatalf("copy: %s", text)
	}
	if from.engine == "bunt" {
		delete(before, filepath.Join(from.dir, "duskdb.lock")) // which has the number of the process
		wantUntouched(t, from.dir, before)
	}
	if text, ok := duskdb("copy", from.name, to.name); ok || !strings.Contains(text, "is not empty") {
		t.Errorf("copied twice: %s", text)
	}
	if to.engine != "postgres" {
		if text, sound := check(to.dir); !sound || !strings.Contains(text, "storage engine "+to.engine) {
			t.Errorf("check: %s", text)
		}
	}
	p = start(t, to.dir, to.args...)
	c = connect(t, p)
	if got := c.must(t, "dbHash", value.Int32(1)).Lookup("collections").Doc(); got.String() != hash.String() {
		t.Errorf("hashes are %s, want %s", got, hash)
	}
	if got := c.all(t, "c"); !slices.EqualFunc(got, docs, func(a, b value.Doc) bool { return a.String() == b.String() }) {
		t.Error("the documents differ")
	}
	if text := c.must(t, "mqStats", value.String("jobs")).String(); !strings.Contains(text, "active: 3, locked: 1,") || !strings.Contains(text, "deadLettered: 1,") {
		t.Errorf("the queue is %s", text)
	}
	if text := c.must(t, "listIndexes", value.String("c")).String(); !strings.Contains(text, "expireAfterSeconds: 3600") || !strings.Contains(text, "unique: true") || !strings.Contains(text, "tags_1") {
		t.Errorf("the indexes are %s", text)
	}
	if _, err := c.run("mqComplete", value.String("jobs"), "lockToken", token); err != nil {
		t.Errorf("the lock of %s is lost: %v", message, err)
	}
	events := c.must(t, "aggregate", value.String("c"), "pipeline", value.NewArray(value.Document(value.NewDoc("$changeStream", value.Document(value.NewDoc("resumeAfter", resume))))), "cursor", doc(`{"batchSize": 10}`))
	if first := events.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc(); first.Lookup("operationType").Str() != "insert" || first.Lookup("documentKey").Doc().Lookup("_id").SafeInt64() != 0 {
		t.Errorf("the stream goes on with %s", first)
	}
	if got := c.must(t, "usersInfo", value.String("eve")); got.Lookup("users").Doc().Index(0).IsMissing() {
		t.Errorf("users: %s", got)
	}
}

func connect(tb testing.TB, p *proc.Server) *client {
	tb.Helper()
	c, err := dial(p.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// TestCopyInterrupted: the server refuses the target of a copy that was killed, and the
// next copy replaces it.
func TestCopyInterrupted(t *testing.T) {
	source := loaded(t, 20_000, "--storageEngine", "bunt")
	for _, to := range storageEngines {
		t.Run(to, func(t *testing.T) {
			target := t.TempDir()
			cut := false
			for range 20 {
				cmd := exec.Command(binary, "copy", "bunt:"+source, to+":"+target)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for !cut {
					if _, err := os.Stat(filepath.Join(target, "duskdb.copying")); err == nil {
						cut = true
					} else if cmd.ProcessState != nil {
						break
					}
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				if _, err := os.Stat(filepath.Join(target, "duskdb.copying")); err == nil {
					break
				}
				t.Fatal("the copy was not marked")
			}
			for _, args := range [][]string{{"--storageEngine", to}, {"--storageEngine", to, "--repair"}} {
				if text := refuses(t, target, args...); !strings.Contains(text, "unfinished copy") {
					t.Errorf("refused with %s", text)
				}
			}
			if text, sound := check(target); sound || !strings.Contains(text, "unfinished copy") {
				t.Errorf("check: %s", text)
			}
			if err := os.WriteFile(filepath.Join(target, "left"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if text, ok := duskdb("copy", "bunt:"+source, to+":"+target); !ok {
				t.Fatalf("copy: %s", text)
			}
			if _, err := os.Stat(filepath.Join(target, "left")); err == nil {
				t.Error("the files of the interrupted copy still exist")
			}
			c := connect(t, start(t, target, "--storageEngine", to))
			if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != 20_000 {
				t.Errorf("%d documents", n)
			}
		})
	}
}

// TestCopyRefused: sources and targets that cannot be used.
func TestCopyRefused(t *testing.T) {
	source, full := loaded(t, 100, "--storageEngine", "bunt"), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct{ from, to, says string }{
		{"bunt:" + missing, "bunt:" + t.TempDir(), "no such file"},
		{"bunt:" + full, "bunt:" + t.TempDir(), "has no data of DuskDB"},
		{"bunt:" + source, "bunt:" + full, "is not empty (notes)"},
		{"bunt:" + source, "bunt:" + source, "cannot be copied into itself"},
		{"bunt:" + source, "bunt:" + filepath.Join(full, "notes"), "is a file"},
		{source, "bunt:" + missing, "must be bunt:DIR"},
		{"bunt:" + source, "wiredTiger:" + missing, "must be bunt:DIR"},
		{"bunt::memory:", "bunt:" + missing, "in memory"},
	} {
		if text, ok := duskdb("copy", tt.from, tt.to); ok || !strings.Contains(text, tt.says) {
			t.Errorf("%s to %s: %s", tt.from, tt.to, text)
		}
		if _, err := os.Stat(missing); err == nil {
			t.Errorf("%s to %s: the target was made", tt.from, tt.to)
		}
	}
	if files, _ := os.ReadDir(full); len(files) != 1 {
		t.Errorf("the target has the files %v", files)
	}
}
