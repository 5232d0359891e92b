package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

var ns = storage.Namespace{DB: "db", Coll: "c"}

func create(tb testing.TB, e *Engine, specs ...storage.IndexSpec) {
	tb.Helper()
	must(tb, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(ns, nil, specs)
		return err
	}))
}

func fill(tb testing.TB, e *Engine, n int) {
	tb.Helper()
	must(tb, inColl(e, ns, func(c storage.Collection) error {
		for i := range n {
			if _, err := c.Insert(value.NewDoc("_id", value.Int32(int32(i))), 1); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Path: t.TempDir()}, {Indexer: storagetest.Indexer{}}} {
		if e, err := Open(o); err == nil {
			_ = e.Close()
			t.Errorf("opened with %+v", o)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(Options{Path: file, Indexer: storagetest.Indexer{}}); err == nil {
		t.Error("opened a file as directory")
	}
}

func TestMemory(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 10)
	must(t, e.Sync(ctx))
	must(t, e.Compact(ctx))
	if s := storagetest.Got(e.Stats()); s.Persistent || s.FileBytes != 0 || s.Commits != 2 {
		t.Errorf("stats %+v", s)
	}
	must(t, e.Close())
	if e = openAt(t, Memory); storagetest.Dump(e) != "" {
		t.Error("a memory engine kept something")
	}
}

// TestLock: one process at a time; the error names the directory. The test
// runs itself as the other process.
func TestLock(t *testing.T) {
	if dir := os.Getenv("DUSKDB_TEST_LOCK"); dir != "" {
		_, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}})
		fmt.Println("locked:", errors.Is(err, storage.ErrLocked) && strings.Contains(err.Error(), dir))
		return
	}
	dir := t.TempDir()
	e := openAt(t, dir)
	other := func() string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLock$", "-test.v")
		cmd.Env = append(os.Environ(), "DUSKDB_TEST_LOCK="+dir)
		out, err := cmd.CombinedOutput()
		must(t, err)
		return string(out)
	}
	if out := other(); !strings.Contains(out, "locked: true") {
		t.Errorf("while open: %s", out)
	}
	if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("in the same process: %v", err)
	}
	must(t, e.Close())
	if out := other(); !strings.Contains(out, "locked: false") {
		t.Errorf("when closed: %s", out)
	}
}

// TestBackgroundSync: a write that nobody syncs is synced after the journal
// interval, and an idle engine syncs nothing.
func TestBackgroundSync(t *testing.T) {
	c := clock.NewManual(time.UnixMilli(0))
	e, err := Open(Options{Path: t.TempDir(), Clock: c, Indexer: storagetest.Indexer{}})
	must(t, err)
	defer e.Close()
	for i := range int64(3) {
		must(t, e.Update(ctx, func(tx storage.Tx) error {
			_, err := tx.Create(storage.Namespace{DB: "db", Coll: fmt.Sprint(i)}, nil, nil)
			return err
		}))
		c.WaitForTimers(1)
		must(t, c.Advance(DefaultJournalInterval-1))
		if n := storagetest.Got(e.Stats()).Syncs; n != i {
			t.Fatalf("%d syncs before the interval, want %d", n, i)
		}
		done := e.sync.synced.Load()
		must(t, c.Advance(1))
		for e.sync.synced.Load() == done {
			if run := e.sync.current(); run != nil {
				<-run.done
			}
		}
	}
}

// current is the sync under way.
func (s *syncer) current() *syncRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// TestGroupedSync: many writers that wait share few syncs.
func TestGroupedSync(t *testing.T) {
	e := openAt(t, t.TempDir())
	create(t, e)
	var wg sync.WaitGroup
	const writers, rounds = 8, 20
	for range writers {
		wg.Go(func() {
			for range rounds {
				err := inColl(e, ns, func(c storage.Collection) error {
					_, err := c.Insert(bigger, 1)
					return err
				})
				before := e.sync.last.Load()
				if err := errors.Join(err, e.Sync(ctx)); err != nil {
					t.Error(err)
				}
				if now := e.sync.synced.Load(); now < before {
					t.Errorf("synced up to %d, want %d", now, before)
				}
			}
		})
	}
	wg.Wait()
	if n := storagetest.Got(e.Stats()).Syncs; n > writers*rounds+2 {
		t.Errorf("%d syncs", n)
	}
}

var bigger = value.NewDoc("s", value.String(strings.Repeat("x", 300)))

// TestDropped: the records of dropped and truncated collections are gone also after
// reopening, even if new collections have their names, and a compaction leaves nothing of
// them in the log.
func TestDropped(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 1500)
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.Drop(ns) }))
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 700)
	must(t, inColl(e, ns, func(c storage.Collection) error { return c.Truncate() }))
	fill(t, e, 5)
	want := storagetest.Dump(e)
	for range 2 {
		must(t, e.Close())
		e = openAt(t, dir)
		if got := storagetest.Dump(e); got != want {
			t.Fatalf("state is\n%s\nwant\n%s", got, want)
		}
	}
	must(t, e.Compact(ctx))
	must(t, e.Close())
	records := 0
	_, err := scanFile(bytes.NewReader(readLog(t, dir)), nil, func(ops []op) error {
		for _, o := range ops {
			if o.kind == opRecord {
				records++
			}
		}
		return nil
	})
	must(t, err)
	if records != 5 {
		t.Errorf("%d records in the log, want 5", records)
	}
}

// TestCompactWhileWriting: writes, drops and syncs during a compaction of the log are not
// lost.
func TestCompactWhileWriting(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 5000)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range int32(2) {
		wg.Go(func() {
			for i := int32(0); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := churn(e, w, i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 5 {
		must(t, e.Compact(ctx))
	}
	close(stop)
	wg.Wait()
	want := storagetest.Dump(e)
	must(t, e.Close())
	e = openAt(t, dir)
	if got := storagetest.Dump(e); got != want {
		t.Error("the state is another one after reopening")
	}
}

// churn inserts, updates, deletes, creates, drops and syncs.
func churn(e *Engine, w, i int32) error {
	other := storage.Namespace{DB: "db", Coll: fmt.Sprint("w", w)}
	err := inColl(e, ns, func(c storage.Collection) error {
		id, err := c.Insert(value.NewDoc("_id", value.Int32(10_000+w*1_000_000+i)), 1)
		if err != nil {
			return err
		}
		if i%2 == 0 {
			return storagetest.Done(c.Delete(id))
		}
		return storagetest.Done(c.Update(1+storage.RecordID(i)%5000, value.NewDoc("_id", value.Int32(i%5000), "i", value.Int32(i)), 2))
	})
	return errors.Join(err,
		e.Update(ctx, func(tx storage.Tx) error {
			if i%2 == 1 {
				return tx.Drop(other)
			}
			c, err := tx.Create(other, nil, nil)
			if err == nil {
				_, err = c.Insert(bigger, 1)
			}
			return err
		}),
		e.Sync(ctx))
}

// TestInterruptedCompact: a crash in a compaction leaves a new log that was not renamed;
// it is removed.
func TestInterruptedCompact(t *testing.T) {
	dir := t.TempDir()
	temp := filepath.Join(dir, tempName)
	must(t, os.WriteFile(temp, []byte("half a log"), 0o600))
	e := openAt(t, dir)
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished log still exists: %v", err)
	}
	create(t, e)
}
