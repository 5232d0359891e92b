package pebble

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestLocked: a directory has one engine.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}}); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("second engine: %v", err)
	}
	must(t, e.Close())
	openAt(t, dir)
}

// TestNewerFormat: the directory of a newer version is left as it is.
func TestNewerFormat(t *testing.T) {
	for marker, isNewer := range map[string]bool{"duskdb-pebble-3\n": true, "duskdb-pebble-0\n": false, "something else": false, "": false} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, markerName), []byte(marker), 0o600))
		var format *storage.NewerFormatError
		if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}}); err == nil || errors.As(err, &format) != isNewer {
			t.Errorf("%q: %v", marker, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%q: files were made: %v", marker, left)
		}
	}
}

// TestOlderFormat: a directory of the first format is opened, and belongs to the
// newest format as soon as it may be written to.
func TestOlderFormat(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	// An index that becomes unique later is as all were in the first format.
	must(t, e.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Create(storagetest.NS, nil, []storage.IndexSpec{storagetest.Spec("_id"), storagetest.Spec("a")})
		return err
	}))
	seed(t, e, 0, 10)
	must(t, e.Update(ctx, func(tx storage.Tx) error { return tx.SetIndex(storagetest.NS, storagetest.UniqueSpec("_id")) }))
	want := storagetest.Dump(e)
	must(t, e.Close())
	marker := filepath.Join(dir, markerName)
	must(t, os.WriteFile(marker, []byte("duskdb-pebble-1\n"), 0o600))
	r, err := Check(dir, storagetest.Indexer{})
	if must(t, err); !r.Sound() {
		t.Errorf("problems %v", r.Problems)
	}
	if b, err := os.ReadFile(marker); err != nil || string(b) != "duskdb-pebble-1\n" {
		t.Errorf("after a check the marker is %q, %v", b, err)
	}
	e = openAt(t, dir)
	if got := storagetest.Dump(e); got != want {
		t.Errorf("opened:\n%s\nwant\n%s", got, want)
	}
	if b, err := os.ReadFile(marker); err != nil || string(b) != "duskdb-pebble-2\n" {
		t.Errorf("the marker is %q, %v", b, err)
	}
	var dup *storage.DuplicateKeyError
	if err := insert(e, 9, 2); !errors.As(err, &dup) || dup.Index != "_id" || dup.Existing != 10 {
		t.Errorf("a second _id: %v", err)
	}
	seed(t, e, 10, 2)
}

// TestTablesAreGone: a marker without its tables is not the start of new data.
func TestTablesAreGone(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	seed(t, e, 0, 10)
	must(t, e.Close())
	must(t, os.Rename(filepath.Join(dir, filesName), filepath.Join(dir, "moved")))
	if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}}); err == nil || !strings.Contains(err.Error(), "which does not exist") {
		t.Errorf("opened without tables: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, filesName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was changed: %v", err)
	}
	must(t, os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, filesName)))
	openAt(t, dir)
}

// TestModes: only the owner may read the files.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := filepath.Join(t.TempDir(), "new")
	e := openAt(t, dir)
	seed(t, e, 0, 1000)
	must(t, e.Compact(ctx))
	must(t, e.Close())
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}
