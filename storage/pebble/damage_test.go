package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// filesOf are the files of a directory with their contents.
func filesOf(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	m := map[string]string{}
	must(tb, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "duskdb.lock" {
			return err
		}
		b, err := os.ReadFile(path)
		m[path] = string(b)
		return err
	}))
	return m
}

// damaged is a closed directory with 2,000 documents in tables and 10 in the log, in
// which the files that match a pattern were changed.
func damaged(t *testing.T, pattern string, change func(path string) error) string {
	t.Helper()
	dir := t.TempDir()
	e := openAt(t, dir)
	seed(t, e, 0, 2000)
	must(t, e.Compact(ctx))
	seed(t, e, 2000, 10)
	must(t, e.Close())
	paths, err := filepath.Glob(filepath.Join(dir, filesName, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, path := range paths {
		must(t, change(path))
	}
	return dir
}

// flip changes a byte at a fraction of a file.
func flip(part, of int64) func(path string) error {
	return func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[int64(len(b))*part/of] ^= 1
		return os.WriteFile(path, b, 0o600)
	}
}

// TestDamage: files that are gone or damaged keep the engine from opening, or
// are found by Check and when they are read. The files that are there stay as
// they are. The lost end of a log is the exception, see TestTornLog.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		change        func(path string) error
		opens         bool
		says          string
	}{
		{"table gone", "*.sst", os.Remove, false, "does not exist"},
		{"table cut", "*.sst", func(p string) error { return os.Truncate(p, 100) }, false, ""},
		{"table damaged", "*.sst", flip(1, 4), true, "is damaged"},
		{"manifest gone", "MANIFEST-*", os.Remove, false, "MANIFEST"},
		{"manifest damaged", "MANIFEST-*", flip(1, 4), false, "is damaged at byte"},
		{"manifest empty", "MANIFEST-*", func(p string) error { return os.Truncate(p, 0) }, false, "MANIFEST"},
		{"all gone but the log", "M*", os.Remove, false, ""},
		{"log damaged", "*.log", flip(1, 4), true, "damaged at byte"},
		{"markers gone", "marker.*", os.Remove, false, "no marker.manifest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := damaged(t, tt.pattern, tt.change)
			before := filesOf(t, dir)
			r, err := Check(dir, storagetest.Indexer{})
			switch {
			case err != nil:
				if !strings.Contains(err.Error(), tt.says) {
					t.Errorf("check: %v", err)
				}
			case r.Sound():
				t.Error("check found nothing")
			case !strings.Contains(strings.Join(r.Problems, " "), tt.says):
				t.Errorf("check found %v", r.Problems)
			}
			wantSame(t, before, filesOf(t, dir), "check")
			e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Logger: t.Logf})
			if err == nil {
				_ = e.Close()
			} else {
				var damage *DamageError
				if !errors.As(err, &damage) {
					t.Errorf("the error is %v", err)
				}
				wantSame(t, before, filesOf(t, dir), "an open that failed")
			}
			if (err == nil) != tt.opens {
				t.Errorf("opening it: %v", err)
			}
		})
	}
}

func wantSame(t *testing.T, before, after map[string]string, who string) {
	t.Helper()
	for name, b := range before {
		if a, ok := after[name]; !ok || a != b {
			t.Errorf("%s changed %s", who, name)
		}
		delete(after, name)
	}
	for name := range after {
		t.Errorf("%s made %s", who, name)
	}
}
