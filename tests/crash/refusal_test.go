package crash

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// refuses starts a server that must exit with an error, and returns its output.
func refuses(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	p := launch(tb, dir, args...)
	defer p.Kill()
	text, err := p.Out.ReadString('\n') // the first line of a server that listens
	if err != nil && err != io.EOF {
		tb.Fatal(err)
	}
	if text != "" {
		p.Kill()
		tb.Fatalf("started with %v: %s%s", args, text, p.Stderr.String())
	}
	if err := p.Wait(); err == nil {
		tb.Fatalf("ended without an error: %s", p.Stderr.String())
	}
	return p.Stderr.String()
}

func check(dir string) (text string, sound bool) {
	out, err := exec.Command(binary, "check", "--dbpath", dir).CombinedOutput()
	return string(out), err == nil
}

// loaded creates a data directory with n documents in crash.c, and an index, of a server
// that was compacted and stopped properly.
func loaded(tb testing.TB, n int32, args ...string) string {
	tb.Helper()
	dir := written(tb, n, args...)
	p := start(tb, dir, args...)
	c, err := dial(p.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	c.must(tb, "compact", value.String("c"))
	_ = c.Close()
	p.Stop(tb)
	return dir
}

// written is loaded without the compaction.
func written(tb testing.TB, n int32, args ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	p := start(tb, dir, args...)
	c, err := dial(p.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	key := value.NewDoc("key", value.Document(value.NewDoc("k", value.Int32(1))), "name", value.String("k_1"))
	c.must(tb, "createIndexes", value.String("c"), "indexes", value.NewArray(value.Document(key)))
	for from := int32(0); from < n; from += 100 {
		var docs []value.Value
		for id := from; id < from+100; id++ {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(id), "k", value.Int32(id), "s", value.String("document"))))
		}
		c.must(tb, "insert", value.String("c"), "documents", value.NewArray(docs...))
	}
	p.Stop(tb)
	return dir
}

// filesOf skips a test that changes files of one engine if the tests run with another.
func filesOf(tb testing.TB, name string) {
	tb.Helper()
	if engine != name {
		tb.Skipf("damages files of the storage engine %s; the tests run with %s", name, engine)
	}
}

// TestLogLostItsEnd: a truncated log of a server that was stopped properly is refused,
// also by check; with --repair the server starts with the rest.
func TestLogLostItsEnd(t *testing.T) {
	filesOf(t, "bunt")
	dir := written(t, 3000)
	if text, sound := check(dir); !sound || strings.Contains(text, "not closed properly") {
		t.Errorf("check: %s", text)
	}
	path := filepath.Join(dir, "duskdb.bunt")
	shorten(t, path, 6)
	if text, sound := check(dir); sound || !strings.Contains(text, "has lost its end") || !strings.Contains(text, "not closed properly") {
		t.Errorf("check: %s", text)
	}
	if text := refuses(t, dir); !strings.Contains(text, "has lost its end") || !strings.Contains(text, "--repair") {
		t.Errorf("refused with %s", text)
	}
	p := start(t, dir, "--repair")
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n == 0 || n >= 3000 {
		t.Errorf("%d documents are left", n)
	}
	c.must(t, "insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(-1)))))
	_ = c.Close()
	p.Kill()
	if text, sound := check(dir); !sound || !strings.Contains(text, "not closed properly") {
		t.Errorf("check after a kill: %s", text)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text := refuses(t, dir); !strings.Contains(text, "missing or empty") {
			t.Errorf("refused with %s", text)
		}
		_ = os.Remove(path)
	}
}

// shorten cuts a file to a part of its size.
func shorten(tb testing.TB, path string, parts int64) {
	tb.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()/parts)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// TestBaseLostItsEnd: a log that was compacted is refused if its first file is truncated, or
// missing; with --repair the server starts with the rest.
func TestBaseLostItsEnd(t *testing.T) {
	filesOf(t, "bunt")
	dir := loaded(t, 3000)
	path := filepath.Join(dir, "duskdb.bunt")
	shorten(t, path, 3)
	if text, sound := check(dir); sound || !strings.Contains(text, "is damaged at byte") {
		t.Errorf("check: %s", text)
	}
	if text := refuses(t, dir); !strings.Contains(text, "is damaged at byte") || !strings.Contains(text, "--repair") {
		t.Errorf("refused with %s", text)
	}
	p := start(t, dir, "--repair")
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n == 0 || n >= 3000 {
		t.Errorf("%d documents are left", n)
	}
	c.must(t, "compact", value.String("c"))
	_ = c.Close()
	p.Stop(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if text := refuses(t, dir); !strings.Contains(text, "duskdb.bunt is missing") || !strings.Contains(text, "--repair") {
		t.Errorf("refused with %s", text)
	}
}

// TestDamagedNames flips a bit in the first catalog entry of a compacted collection: the
// collection stays, with its index, and the report says what is lost.
func TestDamagedNames(t *testing.T) {
	filesOf(t, "bunt")
	dir := loaded(t, 20_000)
	path := filepath.Join(dir, "duskdb.bunt")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), "k_1")] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := refuses(t, dir); !strings.Contains(text, "--repair") {
		t.Errorf("refused with %s", text)
	}
	log := filepath.Join(t.TempDir(), "log")
	p := start(t, dir, "--repair", "--logpath", log)
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n := c.must(t, "count", value.String("c"), "hint", value.String("k_1")).Lookup("n").SafeInt64()
	if n < 18_000 || n == 20_000 {
		t.Errorf("%d documents are left", n)
	}
	_ = c.Close()
	p.Stop(t)
	logged, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"log": string(logged), "stderr": p.Stderr.String()} {
		if !strings.Contains(text, "crash.c: ") || !strings.Contains(text, " documents are missing") {
			t.Errorf("%s: %s", where, text)
		}
	}
}

// TestForeignDirectory: the directory of a mongod is refused, and left alone.
func TestForeignDirectory(t *testing.T) {
	localData(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "WiredTiger.wt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--repair"}} {
		if text := refuses(t, dir, args...); !strings.Contains(text, "WiredTiger.wt") || !strings.Contains(text, "mongodump") {
			t.Errorf("refused with %s", text)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("the directory has the files %v", files)
	}
}
