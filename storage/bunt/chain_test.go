package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// eachStart makes every start of an engine go on in a new file.
var eachStart = Options{maxReopened: 1, CompactMinBytes: -1}

// openChained opens a directory whose log goes on in a new file.
func openChained(tb testing.TB, dir string) *Engine {
	tb.Helper()
	opts := eachStart
	opts.Path, opts.Indexer = dir, storagetest.Indexer{}
	e, err := Open(opts)
	must(tb, err)
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// insertOne inserts a document into the collection of the tests.
func insertOne(e *Engine, id int) error {
	return inColl(e, ns, func(c storage.Collection) error {
		_, err := c.Insert(value.NewDoc("_id", value.Int32(int32(id))), 1)
		return err
	})
}

// makeChained is a history in four files, in its directory.
func makeChained(t *testing.T) (*history, string) {
	dir, h := t.TempDir(), &history{}
	for start := range 4 {
		e := openChained(t, dir)
		note := func() { h.states = append(h.states, state{len(readLog(t, dir)), storagetest.Dump(e)}) }
		if start == 0 {
			note()
			create(t, e, storagetest.UniqueSpec("_id"))
		}
		note()
		for i := range 3 {
			must(t, insertOne(e, 10*start+i))
			note()
		}
		must(t, e.Close())
	}
	h.files = readFiles(t, dir)
	h.log = joined(h.files)
	if len(h.files) != 4 {
		t.Fatalf("%d files", len(h.files))
	}
	return h, dir
}

// TestChainCut cuts the last of several files at every byte.
func TestChainCut(t *testing.T) {
	h, _ := makeChained(t)
	for n := len(h.log) - len(h.files[3].data); n <= len(h.log); n++ {
		checkCut(t, h, n)
	}
}

// TestChainDamage changes bytes of several files: as TestDamage does with one.
func TestChainDamage(t *testing.T) {
	h, _ := makeChained(t)
	whole := h.states[len(h.states)-1]
	begin := 0
	for i, f := range h.files {
		for n := range f.data {
			files := append([]logFile(nil), h.files...)
			files[i].data = bytes.Clone(f.data)
			files[i].data[n] ^= 0x15
			e, dir, err := openFiles(t, files, eachStart)
			switch {
			case err == nil && begin+n < whole.size:
				t.Fatalf("byte %d of %s changed, and the log was opened", n, f.name)
			case err == nil:
				if got := storagetest.Dump(e); got != whole.dump {
					t.Fatalf("byte %d of %s changed: state is\n%s", n, f.name, got)
				}
				must(t, e.Close())
			case !bytes.Equal(readLog(t, dir), joined(files)):
				t.Fatal("a refused log was changed")
			case begin+n < whole.size && !strings.Contains(err.Error(), f.name) && !strings.Contains(err.Error(), "newer version"):
				t.Fatalf("byte %d of %s changed: %v", n, f.name, err)
			}
			must(t, os.RemoveAll(dir))
		}
		begin += len(f.data)
	}
}

// TestChainMissing: a log of which a file is missing is refused, and named; a repair keeps
// the rest.
func TestChainMissing(t *testing.T) {
	h, _ := makeChained(t)
	for i := range 3 {
		files := append(append([]logFile(nil), h.files[:i]...), h.files[i+1:]...)
		_, dir, err := openFiles(t, files, eachStart)
		if err == nil || !strings.Contains(err.Error(), h.files[i].name+" is missing") {
			t.Errorf("without %s: %v", h.files[i].name, err)
		}
		if r, err := Check(dir, storagetest.Indexer{}); err == nil && r.Sound() {
			t.Errorf("without %s: sound", h.files[i].name)
		}
		opts := eachStart
		opts.Repair = true
		e, _, err := openFiles(t, files, opts)
		must(t, err)
		if n := strings.Count(storagetest.Dump(e), " @1 "); n != 9 || e.Repaired().LostCommits == 0 {
			t.Errorf("without %s: %d documents, %+v", h.files[i].name, n, e.Repaired())
		}
		must(t, e.Close())
	}
}

// TestChainLostItsEnd: the state file shows that the last file is missing.
func TestChainLostItsEnd(t *testing.T) {
	h, dir := makeChained(t)
	must(t, os.Remove(filepath.Join(dir, h.files[3].name)))
	_, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}})
	if short := (*ShortLogError)(nil); !errors.As(err, &short) {
		t.Errorf("error %v", err)
	}
}

// TestChainRepair: a repair of damage in any of several files loses one commit, keeps all
// damaged files, and leaves one sound file.
func TestChainRepair(t *testing.T) {
	h, _ := makeChained(t)
	for i, f := range h.files {
		files := append([]logFile(nil), h.files...)
		files[i].data = bytes.Clone(f.data)
		at := bytes.LastIndex(f.data[:len(f.data)-60], groupCommand) + len(groupCommand) + headSize + 8
		files[i].data[at] ^= 1
		opts := eachStart
		opts.Repair = true
		e, dir, err := openFiles(t, files, opts)
		must(t, err)
		if r := e.Repaired(); r == nil || r.LostCommits != 1 {
			t.Errorf("%s: %+v", f.name, r)
		}
		want := storagetest.Dump(e)
		must(t, e.Close())
		for _, f := range files {
			if kept, err := os.ReadFile(filepath.Join(dir, f.name+".damaged-1")); err != nil || !bytes.Equal(kept, f.data) {
				t.Errorf("%s was not kept: %v", f.name, err)
			}
		}
		again := openChained(t, dir)
		if got := storagetest.Dump(again); got != want || again.Repaired() != nil {
			t.Errorf("%s: opened again\n%s\nwant\n%s", f.name, got, want)
		}
		must(t, again.Close())
	}
}

// TestSmallFileIsOpenedAgain: many starts do not make many files.
func TestSmallFileIsOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		e := openAt(t, dir)
		if i == 0 {
			create(t, e, storagetest.UniqueSpec("_id"))
		}
		must(t, insertOne(e, i))
		must(t, e.Close())
	}
	if files := readFiles(t, dir); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
}

// TestCompactionInterrupted: whenever a compaction is interrupted, the log is whole, and what
// it leaves is removed by the next start.
func TestCompactionInterrupted(t *testing.T) {
	_, dir := makeChained(t)
	var crashes []string
	var steps []string
	opts := eachStart
	opts.Path, opts.Indexer = dir, storagetest.Indexer{}
	opening := true
	opts.Fault = func(step, path string) error {
		if !opening {
			crashes, steps = append(crashes, copyDir(t, dir)), append(steps, step+" "+filepath.Base(path))
		}
		return nil
	}
	e, err := Open(opts)
	must(t, err)
	opening = false
	want := storagetest.Dump(e)
	for range 2 {
		must(t, e.Compact(ctx))
	}
	crashes, steps = append(crashes, copyDir(t, dir)), append(steps, "done")
	opening = true
	must(t, e.Close())
	for i, crash := range crashes {
		e := openChained(t, crash)
		if got := storagetest.Dump(e); got != want {
			t.Errorf("interrupted at %s: state is\n%s", steps[i], got)
		}
		must(t, e.Compact(ctx))
		must(t, e.Close())
		if files := readFiles(t, crash); len(files) != 2 {
			t.Errorf("interrupted at %s: %d files are left", steps[i], len(files))
		}
		if r, err := Check(crash, storagetest.Indexer{}); err != nil || !r.Sound() {
			t.Errorf("interrupted at %s: %v, %v", steps[i], r, err)
		}
	}
	if len(crashes) < 10 {
		t.Errorf("only %d steps", len(crashes))
	}
}

// TestCompactionBesideWriters: what is written while a compaction runs is in the log behind it,
// wherever it is interrupted.
func TestCompactionBesideWriters(t *testing.T) {
	_, dir := makeChained(t)
	type crash struct{ dir, want, step string }
	var crashes []crash
	var e *Engine
	n, compacting := 1000, false
	opts := eachStart
	opts.Path, opts.Indexer = dir, storagetest.Indexer{}
	opts.Fault = func(step, path string) error {
		if !compacting || step == "write" || step == "sync" || step == "open" {
			return nil // the lock of the store may be held
		}
		compacting = false
		n++
		err := insertOne(e, n)
		crashes = append(crashes, crash{copyDir(t, dir), storagetest.Dump(e), step + " " + filepath.Base(path)})
		compacting = true
		return err
	}
	var err error
	e, err = Open(opts)
	must(t, err)
	defer e.Close()
	for range 3 {
		compacting = true
		must(t, e.Compact(ctx))
		compacting = false
		must(t, insertOne(e, 5000+n))
		crashes = append(crashes, crash{copyDir(t, dir), storagetest.Dump(e), "done"})
	}
	for _, c := range crashes {
		again := openChained(t, c.dir)
		if got := storagetest.Dump(again); got != c.want {
			t.Errorf("interrupted at %s: state is\n%s\nwant\n%s", c.step, got, c.want)
		}
		must(t, again.Close())
	}
	if len(crashes) < 6 {
		t.Errorf("only %d interruptions", len(crashes))
	}
}

// TestFailedCompactions: after compactions that fail the log is whole, and the next one that
// succeeds removes the files that they have left.
func TestFailedCompactions(t *testing.T) {
	dir := t.TempDir()
	fails := true
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, CompactMinBytes: -1, Fault: func(step, path string) error {
		if fails && step == "rename" {
			return &os.PathError{Op: step, Path: path, Err: syscall.ENOSPC}
		}
		return nil
	}})
	must(t, err)
	create(t, e, storagetest.UniqueSpec("_id"))
	for i := range 4 {
		must(t, insertOne(e, i))
		if err := e.Compact(ctx); !noSpace(err) {
			t.Fatalf("error %v", err)
		}
	}
	must(t, insertOne(e, 9))
	want := storagetest.Dump(e)
	must(t, e.Sync(ctx))
	if got := storagetest.Dump(openChained(t, copyDir(t, dir))); got != want {
		t.Errorf("opened\n%s\nwant\n%s", got, want)
	}
	fails = false
	must(t, e.Compact(ctx))
	must(t, e.Close())
	if files := readFiles(t, dir); len(files) != 2 {
		t.Errorf("%d files are left", len(files))
	}
	if got := storagetest.Dump(openChained(t, dir)); got != want {
		t.Errorf("opened\n%s\nwant\n%s", got, want)
	}
}

// TestChainCopies: a check reads all files, and a restored directory has them all.
func TestChainCopies(t *testing.T) {
	h, dir := makeChained(t)
	want := h.states[len(h.states)-1].dump
	r, err := Check(dir, storagetest.Indexer{})
	must(t, err)
	if !r.Sound() || r.Unclosed || r.Bytes != int64(len(h.log)) || r.Collections[0].Records != 12 {
		t.Errorf("check: %+v", r)
	}
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(dir, to, storagetest.Indexer{}); err != nil {
		t.Fatal(err)
	}
	if got := storagetest.Dump(openAt(t, to)); got != want {
		t.Errorf("restored\n%s\nwant\n%s", got, want)
	}
}

// TestNumberOf: only files that the engine numbers are files of the log.
func TestNumberOf(t *testing.T) {
	for name, want := range map[string]uint32{
		"log.1": 1, "log.27": 27, "log": 0, "log.": 0, "log.0": 0, "log.01": 0, "log.new": 0, "log.damaged-1": 0, "log.1.damaged-1": 0,
		"other.1": 0, fmt.Sprint("log.", uint64(1)<<32): 0, "log.-1": 0, "log.+1": 0,
	} {
		if got := numberOf("log", name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestHeaderBytes: a file without commits has the size that recovery takes for that of a torn
// one at most.
func TestHeaderBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), logName)
	j, err := createJournal(path, nil, header{number: 1, after: 1 << 60}, 1<<60)
	must(t, err)
	must(t, j.close())
	st, err := os.Stat(path)
	must(t, err)
	if st.Size() != headerBytes {
		t.Errorf("%d bytes, want %d", st.Size(), headerBytes)
	}
}
