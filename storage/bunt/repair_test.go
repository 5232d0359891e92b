package bunt

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// openRepaired opens a directory with just this log, repairing it.
func openRepaired(tb testing.TB, log []byte) (*Engine, string) {
	tb.Helper()
	return openRepairedWith(tb, log)
}

// openRepairedWith is openRepaired with indexes for what is adopted.
func openRepairedWith(tb testing.TB, log []byte, orphans ...storage.IndexSpec) (*Engine, string) {
	tb.Helper()
	dir, err := os.MkdirTemp(tb.TempDir(), "")
	must(tb, err)
	must(tb, os.WriteFile(filepath.Join(dir, logName), log, 0o600))
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: true, OrphanIndexes: orphans})
	must(tb, err)
	return e, dir
}

// TestRepairEveryByte changes each byte of a log in turn. A repair loses at
// most the commits that the byte belongs to, keeps the damaged file, and
// leaves a log that opens without it.
func TestRepairEveryByte(t *testing.T) {
	h := makeExample(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	repaired := 0
	for n := range h.log {
		log := bytes.Clone(h.log)
		log[n] ^= byte(1 + rnd.IntN(255))
		if e, dir, err := openLog(t, log); err == nil {
			must(t, e.Close())
			must(t, os.RemoveAll(dir))
			continue
		} else if damage := (*DamageError)(nil); !errors.As(err, &damage) || damage.Offset > int64(n) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
		e, dir := openRepaired(t, log)
		r := e.Repaired()
		if r == nil || r.LostCommits > 1 || r.Offset > int64(n) {
			t.Fatalf("byte %d changed: %+v", n, r)
		}
		if kept, err := os.ReadFile(r.Kept); err != nil || !bytes.Equal(kept, log) {
			t.Fatalf("the damaged file was not kept: %v", err)
		}
		want := storagetest.Dump(e)
		must(t, e.Close())
		again := openAt(t, dir)
		if got := storagetest.Dump(again); got != want || again.Repaired() != nil {
			t.Fatalf("byte %d changed: reopened\n%s\nwant\n%s", n, got, want)
		}
		must(t, again.Close())
		must(t, os.RemoveAll(dir))
		repaired++
	}
	t.Logf("%d of %d changed bytes needed a repair", repaired, len(h.log))
}

// TestRepairMiddle loses one commit in the middle: what it wrote is gone, all
// else is there.
func TestRepairMiddle(t *testing.T) {
	h := makeExample(t)
	i := len(h.states) - 2
	log := bytes.Clone(h.log)
	clear(log[h.states[i-1].size:h.states[i].size])
	e, _ := openRepaired(t, log)
	defer e.Close()
	r := e.Repaired()
	if r.LostCommits != 1 || r.LostBytes != int64(h.states[i].size-h.states[i-1].size) || r.Offset != int64(h.states[i-1].size) {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.String(), "lost 1 commits") {
		t.Error(r.String())
	}
	dump := storagetest.Dump(e)
	must(t, e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storage.Namespace{DB: "db", Coll: "c"})
		if err == nil && storagetest.Got(c.Count()) != 6 { // two of each commit, one commit lost
			t.Errorf("%d records:\n%s", storagetest.Got(c.Count()), dump)
		}
		return err
	}))
}

// TestRepairConflicts loses the commit that removed a document whose _id was
// used again later: the later document wins.
func TestRepairConflicts(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	insert := func(v string) {
		must(t, inColl(e, ns, func(c storage.Collection) error {
			_, err := c.Insert(value.NewDoc("_id", value.Int32(1), "v", value.String(v)), 1)
			return err
		}))
	}
	insert("old")
	from := len(readLog(t, dir))
	must(t, inColl(e, ns, func(c storage.Collection) error { return storagetest.Done(c.Delete(1)) }))
	to := len(readLog(t, dir))
	insert("new")
	must(t, e.Close())
	log := readLog(t, dir)
	log[(from+to)/2] ^= 1
	e, dir = openRepaired(t, log)
	if n := e.Repaired().LostRecords; n != 1 {
		t.Errorf("%d records dropped", n)
	}
	if dump := storagetest.Dump(e); strings.Contains(dump, "old") || !strings.Contains(dump, "new") {
		t.Errorf("state is\n%s", dump)
	}
	must(t, e.Close())
	must(t, openAt(t, dir).Close())
}

// TestRepairNothing: a log without a complete commit is left alone.
func TestRepairNothing(t *testing.T) {
	dir := t.TempDir()
	garbage := []byte(strings.Repeat("hello ", 200))
	must(t, os.WriteFile(filepath.Join(dir, logName), garbage, 0o600))
	var damage *DamageError
	if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: true}); !errors.As(err, &damage) {
		t.Fatalf("error %v", err)
	}
	if !bytes.Equal(readLog(t, dir), garbage) {
		t.Error("the file was changed")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 { // the log and the lock
		t.Errorf("files that were not removed: %v", files)
	}
}

func TestLockNamesProcess(t *testing.T) {
	dir := t.TempDir()
	openAt(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, lockName))
	must(t, err)
	f, err := os.Open(filepath.Join(dir, lockName))
	must(t, err)
	defer f.Close()
	if owner := datadir.Owner(f); owner != " (process "+strings.TrimSpace(string(b))+")" || len(b) < 2 {
		t.Errorf("lock file %q, owner %q", b, owner)
	}
}

// FuzzSalvage: no file makes a repair fail but by an error, and what it
// leaves opens.
func FuzzSalvage(f *testing.F) {
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, logName), b, 0o600))
		e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: true})
		if err != nil {
			return
		}
		must(t, e.Close())
		e, err = Open(Options{Path: dir, Indexer: storagetest.Indexer{}})
		must(t, err)
		must(t, e.Close())
	})
}
