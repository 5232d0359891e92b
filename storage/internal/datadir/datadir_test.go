package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage/internal/datadir"
)

func TestOwner(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"17\n": " (process 17)", " 17": " (process 17)", "": "", "\n": "", "x17\n": "", "1 7\n": "",
		strings.Repeat("1", 40): "", // no process id, and more than is read
	} {
		name := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(name, []byte(text), datadir.OwnFile); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := datadir.Owner(f); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		_ = f.Close()
		if got := datadir.Owner(f); got != "" {
			t.Errorf("a closed file: %q", got)
		}
	}
}

// A directory can be entered by those who may read its files.
func TestMode(t *testing.T) {
	t.Parallel()
	for files, want := range map[os.FileMode]os.FileMode{
		0o600: 0o700, 0o640: 0o750, 0o644: 0o755, 0o660: 0o770, 0o666: 0o777, 0o400: 0o500, 0o200: 0o200, 0: 0,
	} {
		if got := datadir.Mode(files); got != want {
			t.Errorf("%o: %o, want %o", files, got, want)
		}
	}
}
