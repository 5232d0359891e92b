package crash

import (
	"testing"

	"github.com/duskdb/duskdb/internal/pgtest"
)

// schema is a new place in a database.
func schema(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	uri := pgtest.With(pgtest.URI(t), "schema", pgtest.Schema(dir))
	return place{engine: "postgres", dir: dir, name: uri, args: []string{"--storageEngine", "postgres", "--storageURI", uri}}
}

// TestCopyDatabase: a directory is copied to a database and back.
func TestCopyDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of commits")
	}
	for _, engine := range storageEngines {
		t.Run("from "+engine, func(t *testing.T) { t.Parallel(); testCopy(t, directory(engine, t.TempDir()), schema(t)) })
		t.Run("to "+engine, func(t *testing.T) { t.Parallel(); testCopy(t, schema(t), directory(engine, t.TempDir())) })
	}
}
