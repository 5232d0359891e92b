package pebble

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// blocked is a disk on which no table can be made, so that logs stay.
func blocked(step, path string) error {
	if step == "create" && strings.HasSuffix(path, ".sst") {
		return errOnPurpose
	}
	return nil
}

// openLogging opens an engine whose small tables in memory fill many logs. The messages
// of the engine are appended to logged, which may be nil.
func openLogging(path string, fault func(step, path string) error, logged *[]string) (*Engine, error) {
	return Open(Options{
		Path: path, Indexer: storagetest.Indexer{}, CacheBytes: 32 << 20, Fault: fault,
		Logger: func(format string, args ...any) {
			if logged != nil {
				*logged = append(*logged, fmt.Sprintf(format, args...))
			}
		},
	})
}

// fillLogs is a directory as a kill leaves it, with several logs that are not in tables, and the
// states after each commit.
func fillLogs(t *testing.T) (dir string, states []string) {
	t.Helper()
	live := t.TempDir()
	e, err := openLogging(live, nil, nil)
	must(t, err)
	defer e.Close()
	var stuck atomic.Bool
	e.store.fs.fault = func(step, path string) error {
		if stuck.Load() {
			return blocked(step, path)
		}
		return nil
	}
	states = append(states, brief(t, e))
	add := func(n int) {
		must(t, insert(e, 100*n, 100))
		states = append(states, brief(t, e))
	}
	for n := range 30 {
		if add(n); n == 10 {
			must(t, e.Compact(ctx))
		}
	}
	stuck.Store(true)
	for n := 30; len(logs(t, live)) < 4; n++ {
		add(n)
		// The failure of a flush refuses writes, which is not what is tested.
		e.store.trouble.flush.Store(nil)
	}
	must(t, e.Sync(ctx))
	dir = copied(t, live)
	stuck.Store(false)
	return dir, states
}

// logs are the logs of a directory that are not in tables.
func logs(tb testing.TB, dir string) (paths []string) {
	tb.Helper()
	numbers, err := logsFrom(filepath.Join(dir, filesName), 0)
	must(tb, err)
	for _, n := range numbers {
		paths = append(paths, filepath.Join(dir, filesName, logName(n)))
	}
	return paths
}

// brief is a state in few words.
func brief(tb testing.TB, e *Engine) string {
	tb.Helper()
	text, err := inBrief(e)
	must(tb, err)
	return text
}

func inBrief(e *Engine) (text string, err error) {
	err = e.View(ctx, func(tx storage.Tx) error {
		c, err := tx.Collection(storagetest.NS)
		if errors.Is(err, storage.ErrNotFound) {
			text = "nothing"
			return nil
		}
		if err != nil {
			return err
		}
		n, sum := 0, int64(0)
		err = c.Scan(storage.Range{}, func(r storage.Record) bool {
			n, sum = n+1, sum*31+int64(r.Doc.Lookup("_id").Int32())
			return true
		})
		if err != nil {
			return err
		}
		entries := 0
		err = c.ScanIndex("a", storage.KeyRange{}, func([]byte, storage.RecordID) bool { entries++; return true })
		text = fmt.Sprintf("%d records, sum %d, %d entries, counts %d", n, sum, entries, storagetest.Got(c.Count()))
		return err
	})
	return text, err
}

// TestLogsGone removes the logs that are not in tables, one by one and in pairs: the engine
// names those that are gone. Without its note, it names the gap.
func TestLogsGone(t *testing.T) {
	full, states := fillLogs(t)
	paths := logs(t, full)
	for i := range paths {
		for k := i; k < len(paths); k++ {
			for _, noted := range []bool{true, false} {
				dir := copied(t, full)
				var names []string
				for _, at := range slices.Compact([]int{i, k}) {
					names = append(names, filepath.Base(paths[at]))
					must(t, os.Remove(filepath.Join(dir, filesName, names[len(names)-1])))
				}
				says := names
				if !noted {
					must(t, os.Remove(filepath.Join(dir, filesName, noteName)))
					says = []string{"commits are missing be"}
					if k == len(paths)-1 && i >= k-1 { // the last ones: what is left looks whole
						says = nil
					}
				}
				wantLogs(t, dir, states, says)
				must(t, os.RemoveAll(dir))
			}
		}
	}
}

// wantLogs opens a directory, which must be refused with all of some words, also by Check;
// none: it must have a state of before.
func wantLogs(t *testing.T, dir string, states []string, says []string) {
	t.Helper()
	before := filesOf(t, dir)
	if _, err := Check(dir, storagetest.Indexer{}); len(says) > 0 && !refusedWith(err, says) {
		t.Errorf("check: %v, want %q", err, says)
	}
	e, err := openLogging(dir, nil, nil)
	if err == nil {
		if got := brief(t, e); len(says) > 0 || !slices.Contains(states, got) {
			t.Errorf("opened with %s, want %q", got, says)
		}
		must(t, e.Close())
		return
	}
	if !refusedWith(err, says) {
		t.Errorf("refused with %v, want %q", err, says)
	}
	wantSame(t, before, filesOf(t, dir), "an open that failed")
}

func refusedWith(err error, says []string) bool {
	var damage *DamageError
	return errors.As(err, &damage) && len(says) > 0 && !slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(err.Error(), s) })
}

// TestDamageWalk damages files at random places: a byte is changed, the end is cut off, or a part is
// cut out. What is opened is a state that there was, and if it is not the last one, the log of the engine
// says how many commits are lost.
func TestDamageWalk(t *testing.T) {
	full, states := fillLogs(t)
	var files []string
	for path := range filesOf(t, full) {
		if rel, _ := filepath.Rel(full, path); rel != markerName {
			files = append(files, rel)
		}
	}
	slices.Sort(files)
	rapid.Check(t, func(rt *rapid.T) {
		dir := copied(t, full)
		defer os.RemoveAll(dir)
		name := rapid.SampledFrom(files).Draw(rt, "file")
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		must(t, err)
		if len(b) == 0 {
			return
		}
		at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
		switch rapid.SampledFrom([]string{"flip", "cut", "cut out", "remove"}).Draw(rt, "damage") {
		case "flip":
			b[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case "cut":
			b = b[:at]
		case "cut out":
			b = slices.Delete(b, at, min(len(b), at+rapid.SampledFrom([]int{1, 100, blockBytes, 10 * blockBytes}).Draw(rt, "bytes")))
		case "remove":
			b = nil
			must(t, os.Remove(path))
		}
		if b != nil {
			must(t, os.WriteFile(path, b, 0o600))
		}
		wantKnownState(rt, dir, states)
	})
}

// wantKnownState opens a directory that may be damaged.
func wantKnownState(rt *rapid.T, dir string, states []string) {
	var logged []string
	e, err := openLogging(dir, nil, &logged)
	if err != nil {
		var damage *DamageError
		if !errors.As(err, &damage) {
			rt.Fatalf("the error is %v", err)
		}
		return
	}
	defer e.Close()
	state, err := inBrief(e)
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) || strings.ContainsAny(err.Error(), "<\n") {
			rt.Fatalf("reading it: %v", err)
		}
		return
	}
	at := slices.Index(states, state)
	if at < 0 {
		rt.Fatalf("opened with %s", state)
	}
	text, lost := strings.Join(logged, "\n"), len(states)-1-at
	said := lost == 0
	for _, s := range []string{"its last commit is lost", "its last %d commits are lost"} {
		said = said || strings.Contains(text, strings.ReplaceAll(s, "%d", fmt.Sprint(lost))) && (lost == 1) == !strings.Contains(s, "%d")
	}
	if !said {
		rt.Fatalf("%d commits are lost; the log says %q", lost, text)
	}
	if lost == 0 && strings.Contains(text, "lost") {
		rt.Fatalf("nothing is lost; the log says %q", text)
	}
}
