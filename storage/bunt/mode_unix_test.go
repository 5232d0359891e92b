//go:build unix

package bunt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// modes lists the files below a directory with their modes.
func modes(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := e.Info()
		if err == nil {
			name, _ := filepath.Rel(dir, path)
			list = append(list, fmt.Sprintf("%s %04o", name, st.Mode().Perm()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, ", ")
}

// TestFileModes makes each kind of file while the process has the umask 0.
func TestFileModes(t *testing.T) {
	system := syscall.Umask(0)
	defer syscall.Umask(system)
	for mode, want := range map[os.FileMode]string{
		0:     ". 0700, data 0700, data/duskdb.bunt 0600, data/duskdb.bunt.1 0600, data/duskdb.lock 0600, data/duskdb.state 0600, saved 0700, saved/duskdb.bunt 0600, saved/duskdb.state 0600",
		0o640: ". 0700, data 0750, data/duskdb.bunt 0640, data/duskdb.bunt.1 0640, data/duskdb.lock 0600, data/duskdb.state 0640, saved 0750, saved/duskdb.bunt 0640, saved/duskdb.state 0640",
	} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{Path: filepath.Join(dir, "data"), Indexer: storagetest.Indexer{}, FileMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Compact(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := e.Backup(context.Background(), filepath.Join(dir, "saved")); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if got := modes(t, dir); got != want {
			t.Errorf("mode %04o: %s, want %s", mode, got, want)
		}
	}
}

// TestOldModesAreNarrowed opens a log that everybody could read.
func TestOldModesAreNarrowed(t *testing.T) {
	dir := t.TempDir()
	var said []string
	open := func(mode os.FileMode) storage.Engine {
		e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, FileMode: mode, Logger: func(format string, args ...any) {
			said = append(said, fmt.Sprintf(format, args...))
		}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	_ = open(0).Close()
	path := filepath.Join(dir, logName)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	_ = open(0o666).Close()
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o664 || said != nil {
		t.Errorf("allowed, but now %v: %v", st.Mode(), said)
	}
	_ = open(0).Close()
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 || len(said) != 1 || !strings.Contains(said[0], "(mode 0664); its mode is now 0600") {
		t.Errorf("now %v: %v", st.Mode(), said)
	}
}
