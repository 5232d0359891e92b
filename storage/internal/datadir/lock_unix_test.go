//go:build unix

package datadir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
)

// A directory is locked once, until the file is closed, and the refusal names the
// directory and the process that has it.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	locks := []func(string) (*os.File, error){datadir.Lock, datadir.LockForReading}
	for i, first := range locks {
		held, err := first(dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, datadir.LockName))
		if want := fmt.Sprintln(os.Getpid()); err != nil || string(text) != want {
			t.Errorf("the lock file has %q, %v, want %q", text, err, want)
		}
		for _, second := range locks {
			_, err := second(dir)
			if !errors.Is(err, storage.ErrLocked) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
				t.Errorf("lock %d: the second lock: %v", i, err)
			}
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := datadir.Lock(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := datadir.LockForReading(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory, for reading: %v", err)
	}
}

// A shorter process id leaves nothing of a longer one in the file.
func TestLockFileIsRewritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, datadir.LockName)
	if err := os.WriteFile(name, []byte("12345678901234567890\n"), datadir.OwnFile); err != nil {
		t.Fatal(err)
	}
	held, err := datadir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if text, err := os.ReadFile(name); err != nil || string(text) != fmt.Sprintln(os.Getpid()) {
		t.Errorf("the lock file has %q, %v", text, err)
	}
}
