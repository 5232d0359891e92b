package datadir_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
)

// asNobody takes root's rights to files from the thread of the test, which ends with it.
func asNobody(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	const nobody = 65534
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
}

// A user who may not write the lock file can lock it for reading, if no other process has it, and
// needs no lock file.
func TestLockForReadingWithoutRights(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	if f, err := datadir.LockForReading(dir); f != nil || err != nil {
		t.Errorf("without a lock file: %v, %v", f, err)
	}
	if f, err := datadir.Lock(dir); f != nil || !errors.Is(err, os.ErrPermission) {
		t.Errorf("Lock without rights: %v, %v", f, err)
	}
	name := filepath.Join(dir, datadir.LockName)
	lock := func(mode os.FileMode) {
		t.Helper()
		_ = os.Chmod(dir, 0o700)
		_ = os.Remove(name)
		if err := os.WriteFile(name, []byte("99\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	lock(0o400)
	held, err := datadir.LockForReading(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := datadir.LockForReading(dir); f != nil || !errors.Is(err, storage.ErrLocked) {
		t.Errorf("a file that is locked: %v, %v", f, err)
	}
	_ = held.Close()
	if text, err := os.ReadFile(name); err != nil || string(text) != "99\n" {
		t.Errorf("the lock file has %q, %v", text, err)
	}
	lock(0)
	if f, err := datadir.LockForReading(dir); f != nil || !errors.Is(err, os.ErrPermission) {
		t.Errorf("a file that cannot be read: %v, %v", f, err)
	}
}
