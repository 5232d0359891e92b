package diagnostics_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/value"
)

func TestBackup(t *testing.T) {
	h := harness.New(t).LoneServer("backups of its own: the database makes them")
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1", "expireAfterSeconds": 60}]}`)
	dir := filepath.Join(t.TempDir(), "copy")
	backup := func(path string) value.Doc {
		return h.Admin(fmt.Sprintf(`{"duskBackup": 1, "path": %q}`, path))
	}
	if r := backup(dir); !r.Lookup("ok").Truthy() || r.Lookup("records").Int64() < 2 || r.Lookup("bytes").Int64() == 0 {
		t.Fatal(r)
	}
	for path, code := range map[string]int32{dir: 41, "relative": 2, filepath.Join(dir, "no", "parent"): 0} {
		if r := backup(path); r.Lookup("ok").Truthy() || code != 0 && r.Lookup("code").Int32() != code {
			t.Errorf("%s: %s", path, r)
		}
	}
	if r := h.Run(fmt.Sprintf(`{"duskBackup": 1, "path": %q}`, dir+"2")); r.Lookup("code").Int32() != 13 {
		t.Errorf("outside of admin: %s", r)
	}
	r, err := engines.Check(dir, catalog.NewIndexer())
	if err != nil || !r.Sound() {
		t.Errorf("check: %+v, %v", r, err)
	}
	engine, err := engines.Open(engines.ForTests(), engines.Options{Path: dir, Clock: clock.System(), Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	svc, err := harness.NewService(kernel.Options{Engine: engine, Clock: h.Clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(svc)
	copied := &harness.Harness{TB: t, Svc: svc, Clock: h.Clock, Conn: svc.NewConn("", "")}
	if n := copied.OK(`{"count": "c"}`).Lookup("n").Int32(); n != 2 {
		t.Errorf("%d documents in the copy", n)
	}
	batch := copied.OK(`{"listIndexes": "c"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
	if got := batch.Index(1).Doc().Lookup("expireAfterSeconds").SafeInt64(); got != 60 {
		t.Errorf("indexes of the copy: %s", batch)
	}
}
