package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestKilledWhileSpilling kills a server that has a sort on disk: the next one
// starts with no temporary files, and sorts as well.
func TestKilledWhileSpilling(t *testing.T) {
	localData(t)
	dir := t.TempDir()
	temp := filepath.Join(dir, "_tmp")
	const n = 2000
	sorted := []any{
		"aggregate", value.String("c"), "cursor", value.Document(value.NewDoc("batchSize", value.Int32(1))),
		"pipeline", value.NewArray(value.Document(value.MustJSON(`{"$sort": {"k": 1, "_id": -1}}`)), value.Document(value.MustJSON(`{"$project": {"_id": 1}}`))),
	}
	for round := range 2 {
		p := start(t, dir, "--setParameter", "internalQueryMaxBlockingSortMemoryUsageBytes=100000")
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Fatalf("%v, %v", left, err)
		}
		if round == 0 {
			var docs []value.Value
			for i := range int32(n) {
				docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(i), "k", value.Int32(i%10), "s", value.String(strings.Repeat("x", 200)))))
			}
			c.must(t, "insert", value.String("c"), "documents", value.NewArray(docs...), "writeConcern", value.Document(value.MustJSON(`{"j": true}`)))
		}
		cursor := c.must(t, sorted...).Lookup("cursor").Doc()
		if cursor.Lookup("id").Int64() == 0 || cursor.Lookup("firstBatch").Doc().Index(0).Doc().Lookup("_id").Int32() != n-10 {
			t.Errorf("%s", cursor)
		}
		if err := os.WriteFile(filepath.Join(temp, "spill-left.tmp"), []byte("where open files keep their names"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Kill()
	}
}
