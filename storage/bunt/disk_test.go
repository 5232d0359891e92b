package bunt

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// failing is a disk on which chosen steps fail.
type failing struct {
	mu    sync.Mutex
	calls int64 // since the choice was made
	hits  int
	when  func(n int64, step string) bool
}

// choose says which steps fail from now on; with nil no step fails.
func (f *failing) choose(when func(n int64, step string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.when = 0, when
}

func (f *failing) fault() func(step, path string) error {
	return func(step, path string) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls++
		if f.when != nil && f.when(f.calls, step) {
			f.hits++
			return &os.PathError{Op: step, Path: path, Err: syscall.EIO}
		}
		return nil
	}
}

func openFailing(t *testing.T, dir string, f *failing) *Engine {
	t.Helper()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, JournalInterval: 1 << 60, CompactMinBytes: -1, Fault: f.fault()})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func put(e *Engine, id int32) error {
	return inColl(e, ns, func(c storage.Collection) error {
		_, err := c.Insert(value.NewDoc("_id", value.Int32(id)), int64(id))
		return err
	})
}

// TestCompactFails lets each step of a compaction fail in turn, and takes a
// copy of the directory at that moment, as a crash would leave it. Nothing is
// lost, neither for the engine nor for one that opens the copy.
func TestCompactFails(t *testing.T) {
	for n := int64(1); ; n++ {
		dir, f := t.TempDir(), &failing{}
		e := openFailing(t, dir, f)
		create(t, e, storagetest.UniqueSpec("_id"))
		fill(t, e, 20)
		must(t, e.Sync(ctx))
		want := storagetest.Dump(e)
		crash, failed := "", ""
		f.choose(func(at int64, step string) bool {
			if at != n {
				return false
			}
			failed = step
			crash = copyDir(t, dir)
			return true
		})
		err := e.Compact(ctx)
		f.choose(nil)
		if crash == "" {
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("a compaction has %d steps that can fail", n-1)
			return
		}
		if !errors.Is(err, syscall.EIO) && (failed != "state" || err != nil) { // which is only noted
			t.Fatalf("step %d: error %v", n, err)
		}
		if got := storagetest.Dump(e); got != want {
			t.Fatalf("step %d: state is\n%s", n, got)
		}
		if got := storagetest.Dump(openAt(t, crash)); got != want {
			t.Fatalf("step %d: after a crash the state is\n%s", n, got)
		}
		must(t, e.Compact(ctx))
		must(t, put(e, 100))
		must(t, e.Sync(ctx))
		want = storagetest.Dump(e)
		must(t, e.Close())
		if got := storagetest.Dump(openAt(t, dir)); got != want {
			t.Fatalf("step %d: reopened\n%s", n, got)
		}
	}
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		must(t, copyFile(filepath.Join(dir, f.Name()), filepath.Join(to, f.Name())))
	}
	return to
}

// TestWriteFails: a write that fails leaves no trace, and the next may
// succeed.
func TestWriteFails(t *testing.T) {
	dir, f := t.TempDir(), &failing{}
	e := openFailing(t, dir, f)
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, put(e, 1))
	before := storagetest.Dump(e)
	f.choose(func(_ int64, step string) bool { return step == "write" })
	if err := put(e, 2); !errors.Is(err, syscall.EIO) || errors.Is(err, ErrBroken) {
		t.Fatalf("error %v", err)
	}
	if got := storagetest.Dump(e); got != before {
		t.Fatalf("state is\n%s", got)
	}
	f.choose(nil)
	must(t, put(e, 2))
}

// TestRewritesFailedLog: after a failed sync the engine rewrites the log, without
// anybody asking, and writes go on.
func TestRewritesFailedLog(t *testing.T) {
	dir, f := t.TempDir(), &failing{}
	e := openFailing(t, dir, f)
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, put(e, 1))
	f.choose(func(n int64, step string) bool { return step == "sync" && n == 1 })
	if err := e.Sync(ctx); !errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	for i := 0; put(e, 2) != nil; i++ {
		if i > 1e7 {
			t.Fatal("the log was not rewritten")
		}
	}
	must(t, e.Sync(ctx))
	want := storagetest.Dump(e)
	must(t, e.Close())
	if got := storagetest.Dump(openAt(t, dir)); got != want {
		t.Fatalf("reopened\n%s\nwant\n%s", got, want)
	}
}

// TestFaults is a long random run with faults and crashes: whatever was
// acknowledged by Sync is there after each crash, and the engine and its
// model agree all the time.
func TestFaults(t *testing.T) {
	faults, crashes := 0, 0
	for seed := range uint64(20) {
		rnd, dice := rand.New(rand.NewPCG(seed, 7)), rand.New(rand.NewPCG(seed, 8))
		some := func(int64, string) bool { return dice.IntN(20) == 0 }
		dir, f := t.TempDir(), &failing{}
		e := openFailing(t, dir, f)
		create(t, e, storagetest.UniqueSpec("_id"))
		must(t, e.Sync(ctx))
		f.choose(some)
		synced, next := 0, int32(0)
		for range 300 {
			switch n := rnd.IntN(20); {
			case n < 12:
				before := count(t, e)
				err := put(e, next)
				if got := count(t, e); err != nil && got != before || err == nil && got != before+1 {
					t.Fatalf("seed %d: %d records, there were %d: %v", seed, got, before, err)
				}
				if err == nil {
					next++
				}
			case n < 17:
				have := count(t, e)
				if e.Sync(ctx) == nil {
					synced = have
				}
			case n < 19:
				_ = e.Compact(ctx) // also rewrites the log
			default:
				f.choose(nil)
				e.maintenance.Lock() // a copy is no snapshot: no healing while it is made
				want := storagetest.Dump(e)
				crash := copyDir(t, dir)
				e.maintenance.Unlock()
				_ = e.Close()
				dir, e = crash, openFailing(t, crash, f)
				if got := storagetest.Dump(e); got != want || count(t, e) < synced {
					t.Fatalf("seed %d: after a crash\n%s\nwant\n%s", seed, got, want)
				}
				f.choose(some)
				crashes++
			}
		}
		f.choose(nil)
		_ = e.Close() // fails if the last sync did
		faults += f.hits
	}
	t.Logf("%d faults, %d crashes", faults, crashes)
}

func count(t *testing.T, e *Engine) (n int) {
	t.Helper()
	must(t, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(ns)
		if err == nil {
			n = int(storagetest.Got(c.Count()))
		}
		return err
	}))
	return n
}

// TestRenameFailsAndDoes: a rename may be done although it reports an error. The
// engine does not go on with a log that is no longer in the directory.
func TestRenameFailsAndDoes(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, CompactMinBytes: -1, Fault: func(step, path string) error {
		if step != "rename" {
			return nil
		}
		return errors.Join(os.Rename(path, filepath.Join(dir, logName)), &os.PathError{Op: step, Path: path, Err: syscall.EIO})
	}})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 20)
	must(t, e.Compact(ctx))
	must(t, put(e, 100))
	must(t, e.Sync(ctx))
	want := storagetest.Dump(e)
	e.maintenance.Lock()
	crash := copyDir(t, dir)
	e.maintenance.Unlock()
	if got := storagetest.Dump(openAt(t, crash)); got != want {
		t.Errorf("after a crash\n%s\nwant\n%s", got, want)
	}
}
