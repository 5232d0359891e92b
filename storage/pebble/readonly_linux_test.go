package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestCheckReadOnly: what a killed process has left on media that cannot be
// written is checked, with and without a lock file, and restored; one that a
// server uses is refused.
func TestCheckReadOnly(t *testing.T) {
	live := openAt(t, t.TempDir())
	seed(t, live, 0, 3)
	dir, readOnly := copied(t, live.store.opts.Path), t.TempDir()
	switch err := unix.Mount(dir, readOnly, "", unix.MS_BIND, ""); {
	case errors.Is(err, unix.EPERM):
		t.Skip("mounting is not permitted")
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(readOnly, unix.MNT_DETACH) })
	must(t, unix.Mount("", readOnly, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if _, err := Open(Options{Path: readOnly, Indexer: storagetest.Indexer{}}); !errors.Is(err, unix.EROFS) {
		t.Errorf("opening it: %v", err)
	}
	for _, lock := range []bool{true, false} {
		r, err := Check(readOnly, storagetest.Indexer{})
		if err != nil || !r.Sound() || len(r.Collections) != 1 || r.Collections[0].Records != 3 {
			t.Fatalf("lock file %v: %+v, %v", lock, r, err)
		}
		if lock {
			e := openAt(t, dir)
			if _, err := Check(readOnly, storagetest.Indexer{}); !errors.Is(err, storage.ErrLocked) {
				t.Errorf("in use: %v", err)
			}
			must(t, e.Close())
			must(t, os.Remove(filepath.Join(dir, "duskdb.lock")))
		}
	}
	_, err := Restore(readOnly, filepath.Join(t.TempDir(), "to"), storagetest.Indexer{})
	must(t, err)
}
