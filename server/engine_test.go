package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program that does not import an engine's package has no such engine, and says what
// it lacks, also over a directory that the engine has written.
func TestEngineThatIsNotLinked(t *testing.T) {
	t.Parallel()
	if names := StorageEngines(); len(names) != 1 || names[0] != "bunt" {
		t.Errorf("the engines are %q", names)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "duskdb.pebble"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for engine, want := range map[string]string{
		"pebble":  "this program does not include the storage engine pebble: import github.com/duskdb/duskdb/server/pebble",
		"bunt":    "has data of the storage engine pebble (duskdb.pebble), not of bunt",
		"another": `"another" is no storage engine of this version, which has bunt`,
	} {
		s, err := New(Config{DBPath: dir, StorageEngine: engine})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", engine, err, want)
		}
		if err == nil {
			s.Close(context.Background())
		}
	}
	if _, err := Check(dir); err == nil || !strings.Contains(err.Error(), "does not include the storage engine pebble") {
		t.Errorf("Check: %v", err)
	}
}
