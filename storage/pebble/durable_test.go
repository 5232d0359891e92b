package pebble

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// copied copies the files of a directory as a crash of the process leaves them.
func copied(tb testing.TB, dir string) string {
	tb.Helper()
	to, err := os.MkdirTemp(tb.TempDir(), "")
	must(tb, err)
	must(tb, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	}))
	return to
}

// logFile is the only log of an engine that has not filled one.
func logFile(tb testing.TB, dir string) string {
	tb.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, filesName, "*.log"))
	if err != nil || len(logs) != 1 {
		tb.Fatalf("logs %v, %v", logs, err)
	}
	return logs[0]
}

// state is what the engine showed when the log had a size.
type state struct {
	size int64
	dump string
}

// makeHistory runs random Updates and notes the state after each.
func makeHistory(tb testing.TB, rt *rapid.T, updates int) (dir string, states []state) {
	live := tb.TempDir()
	defer os.RemoveAll(live)
	e := opened(tb, live)
	defer e.Close()
	note := func() {
		info, err := os.Stat(logFile(tb, live))
		must(tb, err)
		states = append(states, state{info.Size(), storagetest.Dump(e)})
	}
	note()
	model := storagetest.NewModel()
	for range updates {
		ops := storagetest.DrawOps(rt, model, 10)
		must(tb, e.Update(ctx, func(tx storage.Tx) error {
			for _, o := range ops {
				if model.Apply(o) == nil {
					if err := storagetest.Apply(tx, o); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		note()
	}
	return copied(tb, live), states
}

// TestTornLog cuts the log at random bytes: what is opened is the state after
// the last commit that is whole, and it can be written to. A log that is whole
// has all that was acknowledged, although nobody has synced or closed it. Each
// directory is removed at once: an engine reserves tens of megabytes for its log.
func TestTornLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, states := makeHistory(t, rt, 12)
		defer os.RemoveAll(dir)
		last := states[len(states)-1]
		for _, cut := range []int64{last.size, rapid.Int64Range(0, last.size).Draw(rt, "cut"), rapid.Int64Range(0, last.size).Draw(rt, "cut")} {
			torn := copied(t, dir)
			must(t, os.Truncate(logFile(t, torn), cut))
			want := states[0].dump
			for _, s := range states {
				if s.size <= cut {
					want = s.dump
				}
			}
			e := opened(t, torn)
			if got := storagetest.Dump(e); got != want {
				rt.Fatalf("log of %d bytes cut to %d:\n%s\nwant\n%s", last.size, cut, got, want)
			}
			must(t, e.Update(ctx, func(tx storage.Tx) error {
				_, err := tx.Create(storage.Namespace{DB: "after", Coll: "crash"}, nil, nil)
				return err
			}))
			must(t, e.Close())
			must(t, os.RemoveAll(torn))
		}
	})
}

// childVar names the directory in which the process that is killed works.
const childVar = "DUSKDB_TEST_PEBBLE_CHILD"

// TestKilled: what a process has acknowledged is there after a kill.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(childVar); dir != "" {
		insertForEver(t, dir)
	}
	dir, have := t.TempDir(), int64(0)
	for round := range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), childVar+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines, acknowledged := bufio.NewScanner(out), int64(0)
		for lines.Scan() && acknowledged < have+500 {
			if _, err := fmt.Sscanf(lines.Text(), "stored %d", &acknowledged); err != nil {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		e := openAt(t, dir)
		must(t, e.View(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err != nil {
				return err
			}
			have = storagetest.Got(c.Count())
			st := storagetest.Got(c.IndexStats("_id"))
			n := int64(0)
			err = c.ScanRecords("_id", storage.KeyRange{}, func(_ []byte, r storage.Record) bool {
				n++
				return r.Doc.Lookup("_id").Int64() == n
			})
			if have < acknowledged || st.Entries != have || n != have {
				t.Fatalf("round %d: %d records, %d entries, %d read, %d acknowledged", round, have, st.Entries, n, acknowledged)
			}
			return err
		}))
		must(t, e.Close())
	}
}

// insertForEver inserts growing numbers and acknowledges them.
func insertForEver(t *testing.T, dir string) {
	e := openAt(t, dir)
	for {
		var n int64
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			c, err := tx.Collection(storagetest.NS)
			if err != nil {
				c, err = tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
			}
			if err != nil {
				return err
			}
			n = storagetest.Got(c.Count()) + 1
			_, err = c.Insert(value.NewDoc("_id", value.Int64(n), "s", value.String(strings.Repeat("x", 300))), 1)
			return err
		}))
		fmt.Println("stored", n)
	}
}

// TestBackup: a backup can be opened and has the state, and it overwrites nothing.
func TestBackup(t *testing.T) {
	e := openAt(t, t.TempDir())
	seed(t, e, 0, 500)
	dir := filepath.Join(t.TempDir(), "backup")
	b, err := e.Backup(ctx, dir)
	must(t, err)
	if b.Collections != 1 || b.Records != 500 || b.Bytes < 500 {
		t.Errorf("backup %+v", b)
	}
	if _, err := e.Backup(ctx, dir); err == nil {
		t.Error("a backup was overwritten")
	}
	want := storagetest.Dump(e)
	seed(t, e, 500, 10)
	if got := storagetest.Dump(openAt(t, dir)); got != want {
		t.Errorf("the backup has\n%s\nwant\n%s", got, want)
	}
}

// TestSyncAfterBackup: a backup has a copy of the log, but the one that is synced later is
// the engine's.
func TestSyncAfterBackup(t *testing.T) {
	var synced atomic.Pointer[string]
	dir := t.TempDir()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Fault: func(step, path string) error {
		if step == "sync" {
			synced.Store(&path)
		}
		return nil
	}})
	must(t, err)
	defer e.Close()
	seed(t, e, 0, 10)
	_, err = e.Backup(ctx, filepath.Join(t.TempDir(), "backup"))
	must(t, err)
	synced.Store(nil)
	seed(t, e, 10, 1)
	must(t, e.Sync(ctx))
	if path := synced.Load(); path == nil || *path != logFile(t, dir) {
		t.Errorf("it has synced %v", path)
	}
}

// TestBackupLostItsLog: a backup says which log it lacks.
func TestBackupLostItsLog(t *testing.T) {
	e := openAt(t, t.TempDir())
	seed(t, e, 0, 10)
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := e.Backup(ctx, dir)
	must(t, err)
	name := logFile(t, dir)
	must(t, os.Remove(name))
	for what, err := range map[string]error{"check": func() error { _, err := Check(dir, storagetest.Indexer{}); return err }(),
		"restore": func() error { _, err := Restore(dir, t.TempDir(), storagetest.Indexer{}); return err }()} {
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// seed inserts n documents into the collection of the tests.
func seed(tb testing.TB, e *Engine, from, n int) {
	tb.Helper()
	must(tb, insert(e, from, n))
}

func insert(e *Engine, from, n int) error {
	return e.Update(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if err != nil {
			c, err = tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("a")})
		}
		for i := from; i < from+n && err == nil; i++ {
			_, err = c.Insert(value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(i*7919%1000)), "s", value.String(strings.Repeat("x", 150))), 1)
		}
		return err
	})
}
