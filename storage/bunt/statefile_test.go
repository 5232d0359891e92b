package bunt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// closedDir is a directory whose engine was closed in order, with n documents.
func closedDir(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	for i := range n {
		must(t, put(e, int32(i)))
	}
	must(t, e.Close())
	return dir
}

func cutLog(t *testing.T, dir string, size int64) {
	t.Helper()
	must(t, os.Truncate(filepath.Join(dir, logName), size))
}

// TestLogLostItsEnd cuts a log that was closed in order at each byte. It is
// refused and left as it is, check calls it a problem, restore refuses it; a
// repair goes on with the commits that are whole, and says what is lost.
func TestLogLostItsEnd(t *testing.T) {
	dir := closedDir(t, 2)
	whole := readLog(t, dir)
	for n := int64(0); n < int64(len(whole)); n++ {
		cut := copyDir(t, dir)
		cutLog(t, cut, n)
		_, err := Open(Options{Path: cut, Indexer: storagetest.Indexer{}})
		var short *ShortLogError
		if !errors.As(err, &short) || short.Noted != int64(len(whole)) || short.Known != 5 {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if !bytes.Equal(readLog(t, cut), whole[:n]) {
			t.Fatalf("%d bytes: the log was changed", n)
		}
		r, err := Check(cut, storagetest.Indexer{})
		if err != nil || r.Sound() || !r.Unclosed || !strings.Contains(r.Problems[0], short.Error()) {
			t.Fatalf("%d bytes: check: %+v, %v", n, r, err)
		}
		if _, err := Restore(cut, filepath.Join(t.TempDir(), "to"), storagetest.Indexer{}); err == nil {
			t.Fatalf("%d bytes: restored", n)
		}
		e, err := Open(Options{Path: cut, Indexer: storagetest.Indexer{}, Repair: true})
		if short.Bytes == 0 {
			if !errors.As(err, &short) || !strings.Contains(err.Error(), "missing or empty") || !strings.Contains(err.Error(), stateName) {
				t.Fatalf("%d bytes: repair: %v", n, err)
			}
			continue
		}
		must(t, err)
		if got := e.Repaired(); got == nil || got.LostCommits != int64(short.Known-short.Commits) || got.Unknown < got.LostCommits-1 || got.Offset != short.Bytes {
			t.Fatalf("%d bytes: %+v", n, got)
		}
		must(t, e.Close())
		must(t, openAt(t, cut).Close())
	}
}

// TestLogIsMissing: a directory whose log is missing is refused; the engine creates no
// new log in it.
func TestLogIsMissing(t *testing.T) {
	for name, dir := range map[string]string{"closed": closedDir(t, 1), "killed": killedDir(t)} {
		must(t, os.Remove(filepath.Join(dir, logName)))
		for _, repair := range []bool{false, true} {
			var short *ShortLogError
			if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: repair}); !errors.As(err, &short) {
				t.Errorf("%s: opened: %v", name, err)
			}
		}
		if _, err := Check(dir, storagetest.Indexer{}); err == nil {
			t.Errorf("%s: sound", name)
		}
		must(t, os.Remove(filepath.Join(dir, stateName)))
		openAt(t, dir)
	}
}

// killedDir is a directory as a killed process leaves it.
func killedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	e := openAt(t, dir)
	e.maintenance.Lock() // a copy is no snapshot
	defer e.maintenance.Unlock()
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, put(e, 1))
	return copyDir(t, dir)
}

// TestCrashIsNoLoss: the state file never makes the engine refuse the log of a crash:
// with a part of what was not synced, or with the state of the log before, or with a
// state file that was not finished.
func TestCrashIsNoLoss(t *testing.T) {
	dir := closedDir(t, 2)
	before := readFile(t, dir, stateName)
	e := openAt(t, dir)
	e.maintenance.Lock()
	must(t, put(e, 10))
	must(t, put(e, 11))
	grown := copyDir(t, dir)
	e.maintenance.Unlock()
	for n := int64(len(readLog(t, grown))); n >= parsed(t, before).bytes; n-- {
		torn := copyDir(t, grown)
		cutLog(t, torn, n)
		must(t, openAt(t, torn).Close())
	}
	must(t, e.Compact(ctx))
	if bytes.Equal(readFile(t, dir, stateName), before) {
		t.Error("a compaction does not note the new log")
	}
	compacted := copyDir(t, dir)
	must(t, os.WriteFile(filepath.Join(compacted, stateName), before, 0o600)) // a crash between the two
	must(t, openAt(t, compacted).Close())
	for n := range before {
		torn := copyDir(t, grown)
		must(t, os.WriteFile(filepath.Join(torn, stateName), before[:n], 0o600))
		must(t, openAt(t, torn).Close())
	}
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return b
}

func parsed(t *testing.T, b []byte) logState {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, stateName), b, 0o600))
	s, err := readState(dir)
	must(t, err)
	if s.bytes == 0 || s.String() != string(b) {
		t.Fatalf("state file %q is read as %+v", b, s)
	}
	return s
}

// TestCheckTellsUnclosed: the end of a log shows whether it was closed in order.
func TestCheckTellsUnclosed(t *testing.T) {
	for dir, unclosed := range map[string]bool{closedDir(t, 3): false, killedDir(t): true} {
		r, err := Check(dir, storagetest.Indexer{})
		if err != nil || !r.Sound() || r.Unclosed != unclosed {
			t.Errorf("%+v, %v, want unclosed %v", r, err, unclosed)
		}
	}
}

// TestBackupIsGuarded: a backup that has lost its end is not taken for whole, nor is a
// directory restored from it.
func TestBackupIsGuarded(t *testing.T) {
	e := openAt(t, t.TempDir())
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 100)
	backup, to := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "to")
	_, err := e.Backup(ctx, backup)
	must(t, err)
	r, err := Restore(backup, to, storagetest.Indexer{})
	if err != nil || r.Unclosed {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, dir := range []string{backup, to} {
		cutLog(t, dir, int64(len(readLog(t, dir))/2))
		if r, err := Check(dir, storagetest.Indexer{}); err != nil || r.Sound() {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
