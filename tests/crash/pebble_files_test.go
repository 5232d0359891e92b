package crash

import (
	varint "encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/value"
)

// pebbleArgs are a server whose tables in memory are small, so that it has several logs.
func pebbleArgs(args ...string) []string {
	return append([]string{"--storageEngine", "pebble", "--cacheSize", "32MB"}, args...)
}

// killedLogs is a directory with n documents, inserted a hundred at a time, as kill -9 leaves
// it.
func killedLogs(t *testing.T, n int32) (dir string, logs []string) {
	t.Helper()
	dir = t.TempDir()
	p := start(t, dir, pebbleArgs()...)
	c := connect(t, p)
	c.must(t, "createIndexes", value.String("c"), "indexes", value.NewArray(doc(`{"key": {"k": 1}, "name": "k_1"}`)))
	text := value.String(strings.Repeat("document", 50))
	for from := int32(0); from < n; from += 100 {
		var docs []value.Value
		for id := from; id < from+100; id++ {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(id), "k", value.Int32(-id), "s", text)))
		}
		c.must(t, "insert", value.String("c"), "documents", value.NewArray(docs...))
	}
	c.must(t, "fsync", value.Int32(1), "$db", value.String("admin"))
	p.Kill()
	logs, err := filepath.Glob(filepath.Join(dir, "pebble", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	slices.Sort(logs)
	return dir, logs
}

// another copies a directory.
func another(tb testing.TB, dir string) string {
	tb.Helper()
	to := filepath.Join(tb.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return to
}

// wantPrefix checks that a server has the first documents, and all that depends on them, and returns
// their number.
func wantPrefix(tb testing.TB, c *client, n int64) int64 {
	tb.Helper()
	last := c.must(tb, "find", value.String("c"), "sort", doc(`{"_id": -1}`), "limit", value.Int32(1), "projection", doc(`{"_id": 1}`)).
		Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0)
	if last.IsMissing() {
		return 0
	}
	have := last.Doc().Lookup("_id").SafeInt64() + 1
	for _, field := range []string{"_id", "k"} {
		counted := c.must(tb, "count", value.String("c"), "query", value.Document(value.NewDoc(field, doc(`{"$type": "int"}`)))).Lookup("n").SafeInt64()
		if counted != have || have > n {
			tb.Errorf("%d documents by %s, the last is number %d of %d", counted, field, have, n)
		}
	}
	if r := c.must(tb, "validate", value.String("c")); !r.Lookup("valid").Truthy() || r.Lookup("nrecords").SafeInt64() != have {
		tb.Errorf("validate: %s", r)
	}
	return have
}

// TestLogIsGone removes each log of a killed server in turn: the server does not start and
// names it, or had no need of it.
func TestLogIsGone(t *testing.T) {
	filesOf(t, "bunt") // once in CI
	const n = 35_000
	full, logs := killedLogs(t, n)
	refused := 0
	for _, path := range logs {
		dir := another(t, full)
		gone := filepath.Join(dir, "pebble", filepath.Base(path))
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		text, sound := check(dir)
		if sound {
			c := connect(t, start(t, dir, pebbleArgs()...))
			if have := wantPrefix(t, c, n); have != n {
				t.Errorf("without %s, %d documents are served", gone, have)
			}
			continue
		}
		refused++
		for _, said := range []string{text, refuses(t, dir, pebbleArgs()...)} {
			if !strings.Contains(said, "the log "+gone+" is missing") || !strings.Contains(said, "duskdb restore") {
				t.Errorf("without %s: %s", gone, said)
			}
		}
		delete(before, filepath.Join(dir, "duskdb.lock"))
		wantUntouched(t, dir, before)
	}
	if refused == 0 {
		t.Errorf("none of %v was missed", logs)
	}
}

var lostCommits = regexp.MustCompile(`is damaged at byte [0-9]+: its last ([0-9]+ commits are|commit is) lost`)

// TestLogDamageIsSaid flips bytes of the last log of a killed server: it starts with the
// commits before that, and says how many are lost, in its log and to clients.
func TestLogDamageIsSaid(t *testing.T) {
	filesOf(t, "bunt") // once in CI
	const n = 2000
	full, logs := killedLogs(t, n)
	last := filepath.Base(logs[len(logs)-1])
	info, err := os.Stat(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int64{1, 3, 7} {
		dir := another(t, full)
		path := filepath.Join(dir, "pebble", last)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[info.Size()*part/8] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if text, sound := check(dir); sound || !lostCommits.MatchString(text) {
			t.Errorf("check: %s", text)
		}
		p := start(t, dir, pebbleArgs()...)
		c := connect(t, p)
		have := wantPrefix(t, c, n)
		want := (n - have) / 100
		warnings := c.must(t, "getLog", value.String("startupWarnings"), "$db", value.String("admin")).String()
		p.Stop(t)
		for where, text := range map[string]string{"log": p.Stderr.String(), "getLog": warnings} {
			m := lostCommits.FindStringSubmatch(text)
			if m == nil || !strings.Contains(text, last) {
				t.Errorf("%s: %s", where, text)
				continue
			}
			if !strings.Contains(text, filepath.Join(dir, "duskdb.pebble.damaged-")) {
				t.Errorf("%s does not say where the end is kept: %s", where, text)
			}
			if lost, err := strconv.ParseInt(strings.Fields(m[1] + " 1")[0], 10, 64); err == nil && lost < want {
				t.Errorf("%s says that %d commits are lost, and at least %d are", where, lost, want)
			}
		}
		if text, sound := check(dir); !sound || !strings.Contains(text, "kept: "+filepath.Join(dir, "duskdb.pebble.damaged-")) {
			t.Errorf("check after the start: %s", text)
		}
	}
}

// TestValidateFindsWhatCheckFinds damages a table of a server that has started before it
// reads the table: validate and check name the damage, in one line.
func TestValidateFindsWhatCheckFinds(t *testing.T) {
	filesOf(t, "bunt") // once in CI
	dir := loaded(t, 3000, pebbleArgs()...)
	tables, err := filepath.Glob(filepath.Join(dir, "pebble", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		flip(t, table)
	}
	text, sound := check(dir)
	if sound || strings.Contains(text, "carrier") {
		t.Errorf("check: %s", text)
	}
	c := connect(t, start(t, dir, pebbleArgs()...))
	for _, full := range []bool{false, true} {
		r := c.must(t, "validate", value.String("c"), "full", value.Bool(full))
		found := r.Lookup("errors").Doc().Index(0).Str()
		if r.Lookup("valid").Truthy() || !strings.Contains(found, ".sst is damaged") || strings.ContainsAny(found, "<\n") {
			t.Errorf("validate: %s", r)
		}
	}
	_, err = c.run("find", value.String("c"), "batchSize", value.Int32(5000))
	if err == nil || !strings.Contains(err.Error(), "DataCorruptionDetected") || strings.Contains(err.Error(), "carrier") {
		t.Errorf("find: %v", err)
	}
}

// TestMarkerIsDamaged changes and removes the file that names the engine: server and check
// say the same, and how to get it back.
func TestMarkerIsDamaged(t *testing.T) {
	filesOf(t, "bunt") // once in CI
	full := written(t, 100, pebbleArgs()...)
	const text = "duskdb-pebble-2\n"
	for at := -1; at < len(text); at++ {
		dir := another(t, full)
		marker := filepath.Join(dir, "duskdb.pebble")
		damaged, err := []byte(text), os.Remove(marker)
		if at >= 0 {
			damaged[at] ^= 1
			err = os.WriteFile(marker, damaged, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		says := []string{marker + " is damaged", "one line: duskdb-pebble-2"}
		if at < 0 {
			says[0] = marker + " is missing"
		}
		checked, _ := check(dir)
		for who, said := range map[string]string{"check": checked, "the server": refuses(t, dir, pebbleArgs()...)} {
			for _, s := range says {
				if !strings.Contains(said, s) || strings.Contains(said, "newer version") {
					t.Errorf("%s, marker %q: %s", who, damaged, said)
				}
			}
		}
		if at < 0 {
			if said := refuses(t, dir, "--storageEngine", "bunt"); !strings.Contains(said, "data of the storage engine pebble") {
				t.Errorf("another engine: %s", said)
			}
		}
		if err := os.WriteFile(marker, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, sound := check(dir); !sound {
			t.Errorf("mended: %s", text)
		}
	}
}

// TestWrongCounts: validate and check find a collection that counts more documents than it
// has.
func TestWrongCounts(t *testing.T) {
	filesOf(t, "bunt") // once in CI
	dir := written(t, 1000, pebbleArgs()...)
	miscount(t, filepath.Join(dir, "pebble"), "crash", "c", 7)
	const says = "1000 documents and counts 1007"
	if text, sound := check(dir); sound || !strings.Contains(text, says) {
		t.Errorf("check: %s", text)
	}
	c := connect(t, start(t, dir, pebbleArgs()...))
	for _, full := range []bool{false, true} {
		r := c.must(t, "validate", value.String("c"), "full", value.Bool(full))
		if r.Lookup("valid").Truthy() || !strings.Contains(r.Lookup("errors").String(), says) {
			t.Errorf("validate: %s", r)
		}
	}
}

// miscount adds to the number of documents that a collection counts, in the files of an engine
// that is closed.
func miscount(tb testing.TB, dir, db, coll string, by uint64) {
	tb.Helper()
	d, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatColumnarBlocks, Logger: silent{}})
	if err != nil {
		tb.Fatal(err)
	}
	it, err := d.NewIter(&pebble.IterOptions{LowerBound: []byte("c"), UpperBound: []byte("d")})
	if err != nil {
		tb.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if entry := value.Doc(it.Value()); entry.Lookup("db").Str() != db || entry.Lookup("coll").Str() != coll {
			continue
		}
		key := append([]byte("s"), it.Key()[1:]...)
		row, closer, err := d.Get(key)
		if err != nil {
			tb.Fatal(err)
		}
		_, n := varint.Uvarint(row) // the last id
		count, m := varint.Uvarint(row[n:])
		counted := append(varint.AppendUvarint(slices.Clone(row[:n]), count+by), row[n+m:]...)
		if err := errors.Join(closer.Close(), d.Set(key, counted, pebble.Sync)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(it.Close(), d.Close()); err != nil {
		tb.Fatal(err)
	}
}

// silent drops messages.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(f string, args ...any) {
	panic(fmt.Sprintf(f, args...))
}
