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

// TestDamagedLog flips a bit in the middle of the data of a server: it does
// not start, says where, and with --repair keeps all but the commit that was
// hit.
func TestDamagedLog(t *testing.T) {
	filesOf(t, "bunt")
	dir := t.TempDir()
	p := start(t, dir)
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	durable := value.Document(value.NewDoc("j", value.Bool(true)))
	for id := range int32(100) {
		d := value.Document(value.NewDoc("_id", value.Int32(id), "s", value.String("document")))
		c.must(t, "insert", value.String("c"), "documents", value.NewArray(d), "writeConcern", durable)
	}
	_ = c.Close()
	p.Kill()
	flip(t, filepath.Join(dir, "duskdb.bunt"))
	if out, err := exec.Command(binary, "check", "--dbpath", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "damaged at byte") {
		t.Errorf("check: %v\n%s", err, out)
	}
	refused := launch(t, dir)
	if _, err := io.ReadAll(refused.Out); err != nil {
		t.Fatal(err)
	}
	err = refused.Wait()
	if text := refused.Stderr.String(); err == nil || !strings.Contains(text, "damaged at byte") || !strings.Contains(text, "--repair") {
		t.Fatalf("started with damaged data: %v\n%s", err, text)
	}
	p = start(t, dir, "--repair")
	if c, err = dial(p.Addr()); err != nil {
		t.Fatal(err)
	}
	if n := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64(); n != 99 {
		t.Errorf("%d documents are left", n)
	}
	warnings := c.must(t, "getLog", value.String("startupWarnings"), "$db", value.String("admin")).String()
	if !strings.Contains(warnings, "lost 1 commits") {
		t.Errorf("warnings: %s", warnings)
	}
	_ = c.Close()
	p.Kill()
	if kept, _ := filepath.Glob(filepath.Join(dir, "*.damaged-*")); len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
	start(t, dir)
}

// TestTableIsGone removes a table of a server with the storage engine pebble: it
// does not start, says what is missing and what to do, and leaves the rest as it is,
// also with --repair.
func TestTableIsGone(t *testing.T) {
	dir := loaded(t, 1000, "--storageEngine", "pebble")
	tables, err := filepath.Glob(filepath.Join(dir, "pebble", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	name := strings.TrimSuffix(filepath.Base(tables[0]), ".sst")
	for _, args := range [][]string{{"--storageEngine", "pebble"}, {"--storageEngine", "pebble", "--repair"}} {
		text := refuses(t, dir, args...)
		if !strings.Contains(text, "damaged or incomplete") || !strings.Contains(text, name) || !strings.Contains(text, "duskdb restore") {
			t.Errorf("%v: %s", args, text)
		}
		if strings.Contains(text, "--repair has changed nothing") != (len(args) == 3) {
			t.Errorf("%v: %s", args, text)
		}
	}
	if text, sound := check(dir); sound || !strings.Contains(text, name) {
		t.Errorf("check: %s", text)
	}
	delete(before, filepath.Join(dir, "duskdb.lock"))
	wantUntouched(t, dir, before)
}

// flip changes a bit in the middle of the document in the middle of a file.
func flip(tb testing.TB, path string) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	at := strings.Index(string(b[len(b)/2:]), "document")
	if at < 0 {
		tb.Fatal("no document to damage")
	}
	b[len(b)/2+at] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
}
