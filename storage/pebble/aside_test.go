package pebble

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestDamagedEndIsKept: what the start cuts off a damaged log is kept in a file that the log of the
// engine and later checks name, and that has all bytes from the damage on.
func TestDamagedEndIsKept(t *testing.T) {
	dir, states := fillLogs(t)
	paths := logs(t, dir)
	path := paths[len(paths)-1]
	b, err := os.ReadFile(path)
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	var logged []string
	e, err := openLogging(dir, nil, &logged)
	must(t, err)
	if !slices.Contains(states, brief(t, e)) {
		t.Error("opened with a state that there never was")
	}
	must(t, e.Close())
	kept := asides(dir)
	if len(kept) != 1 || len(logged) == 0 || !strings.Contains(logged[0], kept[0]) || !strings.Contains(e.Lost(), kept[0]) {
		t.Fatalf("kept: %v; said: %v, %s", kept, logged, e.Lost())
	}
	end, err := os.ReadFile(kept[0])
	must(t, err)
	if b = bytes.TrimRight(b, "\x00"); len(end) < len(b)/4 || !bytes.HasSuffix(b, end) {
		t.Errorf("%d bytes are kept, of a log of %d", len(end), len(b))
	}
	var from int
	if _, text, ok := strings.Cut(e.Lost(), "had behind byte "); !ok {
		t.Errorf("not said where they were: %s", e.Lost())
	} else if _, err := fmt.Sscan(text, &from); err != nil || from != len(b)-len(end) {
		t.Errorf("they were at byte %d, not %d: %v", len(b)-len(end), from, err)
	}
	r, err := Check(dir, storagetest.Indexer{})
	must(t, err)
	if !r.Sound() || !slices.Equal(r.Kept, kept) {
		t.Errorf("check: %v, %v", r.Problems, r.Kept)
	}
}

// An end that was cut off leaves nothing to keep, nor does a log without damage.
func TestNothingIsKept(t *testing.T) {
	full, _ := fillLogs(t)
	for _, part := range []int{1, 2} {
		dir := copied(t, full)
		paths := logs(t, dir)
		path := paths[len(paths)-1]
		number, _ := logNumber(path)
		l, err := readLog(filepath.Dir(path), number, true)
		must(t, err)
		must(t, os.Truncate(path, int64(l.end/part)))
		e, err := openLogging(dir, nil, nil)
		must(t, err)
		must(t, e.Close())
		for _, kept := range asides(dir) {
			if info, err := os.Stat(kept); err != nil || part == 1 || info.Size() >= 2*blockBytes {
				t.Errorf("%s is kept: %v", kept, info)
			}
		}
	}
}

// Of many logs the newest ends are kept, and of each no more than its beginning.
func TestKeptEndsAreBounded(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, filesName), 0o700))
	for _, number := range []uint64{8, 999_999, 1_000_000, 9, 10, 1_000_001} {
		log := foundLog{number: number, name: logName(number), records: records{end: 3}}
		f, err := os.Create(filepath.Join(dir, filesName, log.name))
		must(t, err)
		_, err = f.WriteString("abcdef")
		must(t, err)
		must(t, f.Truncate(maxAsideBytes+1000))
		if number == 8 {
			_, err = f.WriteAt([]byte("end"), maxAsideBytes+500)
			must(t, err)
		}
		must(t, f.Close())
		path, err := setAside(dir, log, 0o600)
		must(t, err)
		if b, err := os.ReadFile(path); err != nil || string(b) != "def" {
			t.Errorf("%d bytes of log %d are kept: %v", len(b), number, err)
		}
	}
	var names []string
	for _, path := range asides(dir) {
		names = append(names, strings.TrimPrefix(filepath.Base(path), asideName))
	}
	if want := []string{"000010", "999999", "1000000", "1000001"}; !slices.Equal(names, want) {
		t.Errorf("kept: %v, want %v", names, want)
	}
}
