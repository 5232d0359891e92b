package bunt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// history is a log file with the states that it went through.
type history struct {
	files  []logFile
	log    []byte // the files one after the other
	states []state
}

// logFile is a file of a log.
type logFile struct {
	name string
	data []byte
}

// state is what the engine showed when the log had a size.
type state struct {
	size int
	dump string
}

// at is the newest state whose commit is whole in a log of n bytes.
func (h *history) at(n int) string {
	dump := ""
	for _, s := range h.states {
		if s.size <= n {
			dump = s.dump
		}
	}
	return dump
}

// readFiles reads the files of the log in a directory, in their order.
func readFiles(tb testing.TB, dir string) (files []logFile) {
	tb.Helper()
	base := filepath.Join(dir, logName)
	numbers, err := numbersOf(base)
	must(tb, err)
	for _, n := range append([]uint32{0}, numbers...) {
		b, err := os.ReadFile(segmentPath(base, n))
		must(tb, err)
		files = append(files, logFile{filepath.Base(segmentPath(base, n)), b})
	}
	return files
}

func joined(files []logFile) (log []byte) {
	for _, f := range files {
		log = append(log, f.data...)
	}
	return log
}

// split divides a log, or its beginning, as it was in files.
func split(log []byte, like []logFile) (files []logFile) {
	for _, f := range like {
		n := min(len(f.data), len(log))
		if n == 0 && len(files) > 0 {
			break
		}
		files = append(files, logFile{f.name, log[:n]})
		log = log[n:]
	}
	return files
}

// readLog reads the log in a directory.
func readLog(tb testing.TB, dir string) []byte { return joined(readFiles(tb, dir)) }

// openFiles opens a directory with just these files of a log.
func openFiles(tb testing.TB, files []logFile, opts Options) (*Engine, string, error) {
	tb.Helper()
	dir, err := os.MkdirTemp(tb.TempDir(), "")
	must(tb, err)
	for _, f := range files {
		must(tb, os.WriteFile(filepath.Join(dir, f.name), f.data, 0o600))
	}
	opts.Path, opts.Indexer = dir, storagetest.Indexer{}
	e, err := Open(opts)
	return e, dir, err
}

// makeHistory runs random Updates and notes the state after each.
func makeHistory(tb testing.TB, rt *rapid.T, updates int) *history {
	dir := tb.TempDir()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, CompactMinBytes: -1})
	if err != nil {
		tb.Fatal(err)
	}
	h := &history{}
	note := func() {
		h.states = append(h.states, state{len(readLog(tb, dir)), storagetest.Dump(e)})
	}
	note()
	model := storagetest.NewModel()
	for i := range updates {
		e.maintenance.Lock() // no sweeping between a commit and its note
		ops := storagetest.DrawOps(rt, model, 10)
		err := e.Update(ctx, func(tx storage.Tx) error {
			for _, o := range ops {
				if model.Apply(o) == nil {
					if err := storagetest.Apply(tx, o); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		note()
		e.maintenance.Unlock()
		if i%3 == 0 {
			if err := e.Sync(ctx); err != nil {
				rt.Fatal(err)
			}
		}
		if i == updates/2 && rapid.Bool().Draw(rt, "compact") {
			if err := e.Compact(ctx); err != nil {
				rt.Fatal(err)
			}
			h.states = nil
			note()
		}
	}
	if err := e.Close(); err != nil {
		rt.Fatal(err)
	}
	h.files = readFiles(tb, dir)
	h.log = joined(h.files)
	return h
}

// openLog opens a directory with just this log.
func openLog(tb testing.TB, log []byte) (*Engine, string, error) {
	tb.Helper()
	return openFiles(tb, []logFile{{logName, log}}, Options{})
}

// TestCrash cuts the log at random bytes: what is opened is the state after
// the last commit that is whole, and it can be written to.
func TestCrash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := makeHistory(t, rt, 12)
		for range 12 {
			n := rapid.IntRange(h.states[0].size, len(h.log)).Draw(rt, "cut")
			checkCut(t, h, n)
		}
	})
}

// TestCrashEveryByte cuts a short log at every byte.
func TestCrashEveryByte(t *testing.T) {
	h := makeExample(t)
	for n := range len(h.log) + 1 {
		checkCut(t, h, n)
	}
}

func checkCut(t *testing.T, h *history, n int) {
	t.Helper()
	e, dir, err := openFiles(t, split(h.log[:n], h.files), Options{})
	if err != nil {
		t.Fatalf("cut to %d of %d bytes: %v", n, len(h.log), err)
	}
	defer os.RemoveAll(dir)
	defer e.Close()
	want := h.at(n)
	if got := storagetest.Dump(e); got != want {
		t.Fatalf("cut to %d of %d bytes: state is\n%s\nwant\n%s", n, len(h.log), got, want)
	}
	err = e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(storage.Namespace{DB: "after", Coll: "crash"}, nil, nil)
		return err
	})
	if err != nil {
		t.Fatalf("cut to %d bytes: write: %v", n, err)
	}
}

// makeExample is a history of a few commits, all kinds of keys among them.
func makeExample(t *testing.T) *history {
	dir := t.TempDir()
	e := openAt(t, dir)
	h := &history{}
	note := func() {
		h.states = append(h.states, state{len(readLog(t, dir)), storagetest.Dump(e)})
	}
	note()
	ns := storage.Namespace{DB: "db", Coll: "c"}
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(ns, nil, []storage.IndexSpec{storagetest.UniqueSpec("_id")})
		return err
	}))
	note()
	for i := range int32(4) {
		must(t, inColl(e, ns, func(c storage.Collection) error {
			for k := range int32(3) {
				if _, err := c.Insert(value.NewDoc("_id", value.Int32(i*10+k)), 1); err != nil {
					return err
				}
			}
			return storagetest.Done(c.Delete(storagetest.Got(c.LastID())))
		}))
		note()
		must(t, e.Sync(ctx))
	}
	must(t, e.Close())
	h.files = readFiles(t, dir)
	h.log = joined(h.files)
	return h
}

// TestDamage changes bytes of a log that was closed in order. Nothing that
// had been synced is lost silently: the log is refused, or only the closing
// group is gone.
func TestDamage(t *testing.T) {
	h := makeExample(t)
	whole := h.states[len(h.states)-1]
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range h.log {
		log := append([]byte(nil), h.log...)
		log[n] ^= byte(1 + rnd.IntN(255))
		e, dir, err := openLog(t, log)
		if err == nil {
			got := storagetest.Dump(e)
			_ = e.Close()
			if n < whole.size {
				t.Fatalf("byte %d of %d changed, and the log was opened", n, len(log))
			}
			if got != whole.dump {
				t.Fatalf("byte %d of %d changed: state is\n%s", n, len(log), got)
			}
		} else if n >= whole.size {
			t.Fatalf("byte %d after the last commit changed: %v", n, err)
		} else if now := readLog(t, dir); string(now) != string(log) {
			t.Fatal("a refused log was changed")
		}
		_ = os.RemoveAll(dir)
	}
}

// TestTornMachine: after a crash of the machine, what was never synced may be
// anything: zeros, or missing in the middle. It is cut off from there.
func TestTornMachine(t *testing.T) {
	h := makeUnsynced(t)
	last := len(h.states) - 1
	for i := 1; i <= last; i++ {
		from, to := h.states[i-1].size, h.states[i].size
		log := append([]byte(nil), h.log...)
		clear(log[from:to])
		e, _, err := openLog(t, log)
		must(t, err)
		if got := storagetest.Dump(e); got != h.states[i-1].dump {
			t.Fatalf("commit %d lost: state is\n%s\nwant\n%s", i, got, h.states[i-1].dump)
		}
		if want := int64(len(log) - from); storagetest.Got(e.Stats()).RecoveredCut != want {
			t.Fatalf("commit %d lost: cut %d, want %d", i, storagetest.Got(e.Stats()).RecoveredCut, want)
		}
		must(t, e.Close())
	}
}

// makeUnsynced is a history of which only the header was ever synced.
func makeUnsynced(t *testing.T) *history {
	dir := t.TempDir()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, JournalInterval: 1 << 60})
	must(t, err)
	h := &history{}
	note := func() {
		h.states = append(h.states, state{len(readLog(t, dir)), storagetest.Dump(e)})
	}
	note()
	for i := range 6 {
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			_, err := tx.Create(storage.Namespace{DB: "db", Coll: fmt.Sprint(i)}, nil, nil)
			return err
		}))
		note()
	}
	h.files = readFiles(t, dir) // before Close syncs
	h.log = joined(h.files)
	must(t, e.Close())
	return h
}

func TestForeignFiles(t *testing.T) {
	set := "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\nb\r\n"
	cases := []struct {
		name, log string
		ok        bool
	}{
		{"empty", "", true},
		{"zeros", strings.Repeat("\x00", 100), true},
		{"half a header", "*3\r\n$3\r\nset\r\n$1\r\nh\r\n$22\r\nduskdb", true},
		{"text", strings.Repeat("hello ", 200), false},
		{"another BuntDB file", strings.Repeat(set, 50), false},
		{"zeros, long", strings.Repeat("\x00", 1000), false},
	}
	for _, c := range cases {
		e, dir, err := openLog(t, []byte(c.log))
		if (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.name, err)
		}
		if err == nil {
			must(t, e.Close())
		} else if string(readLog(t, dir)) != c.log {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

// command is what BuntDB writes for a group.
func command(group []byte) []byte {
	return fmt.Appendf(nil, "%s$%d\r\n%s\r\n", groupCommand, len(group), group)
}

// FuzzScan: no file makes the scanner fail otherwise than by an error, and
// what it accepts is whole groups.
func FuzzScan(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("*3\r\n$3\r\nset\r\n$1\r\na\r\n$99999999\r\nb\r\n"))
	j := &journal{header: header{nonce: 7}, synced: func() uint64 { return 0 }}
	var log []byte
	for _, ops := range [][]op{{{kind: opHeader, value: header{nonce: 7, next: 1}.encode()}}, {{kind: opRecord, num: 1, id: 300, value: "x"}, {kind: opCatalog, num: 300, del: true}}} {
		must(f, j.encode(ops))
		j.seq++
		log = append(log, command(j.buf)...)
	}
	f.Add(log)
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := scanFile(bytes.NewReader(b), nil, nil)
		if err != nil {
			return
		}
		if !found.header && found.good > 0 || found.good+found.cut > int64(len(b)) {
			t.Fatalf("found %+v in %d bytes", found, len(b))
		}
		again, err := scanFile(bytes.NewReader(b[:found.good]), nil, nil)
		if err != nil || again.cut != 0 || again.seq != found.seq || again.good != found.good {
			t.Fatalf("scanned again: %+v, %v", again, err)
		}
	})
}
