package crash_tests

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// TestMemoryLimit fills a small server until it refuses writes. Reads and deletes still
// work, and after the deletes inserts work again.
func TestMemoryLimit(t *testing.T) {
	if engine != "bunt" {
		t.Skip("the limit is on data in memory, which the storage engine " + engine + " keeps on disk")
	}
	const limit = 100 << 20
	p := start(t, t.TempDir(), "--memoryLimit", "100MB")
	c, err := dial(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	insert := func(from int64) (value.Doc, error) {
		var docs []value.Value
		for i := range int64(500) {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int64(from+i), "pad", value.Binary(0, make([]byte, 1000)))))
		}
		return c.run("insert", value.String("c"), "documents", value.NewArray(docs...))
	}
	n := int64(0)
	for ; n < 2*limit/1000; n += 500 {
		reply, err := insert(n)
		if err == nil {
			continue
		}
		if code := reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32(); code != 146 {
			t.Fatalf("refused for another reason: %v", err)
		}
		break
	}
	if n*1000 < limit/5 || n*1000 > limit {
		t.Errorf("refused after %d KB", n)
	}
	t.Logf("refused after %d KB of documents", n)
	count := c.must(t, "count", value.String("c")).Lookup("n").SafeInt64()
	all := value.Document(value.NewDoc("q", value.Document(value.EmptyDoc), "limit", value.Int32(0)))
	if got := c.must(t, "delete", value.String("c"), "deletes", value.NewArray(all)).Lookup("n").SafeInt64(); got != count {
		t.Errorf("%d of %d deleted", got, count)
	}
	// A compaction that runs keeps what it copies until its file is synced,
	// which takes long where the disk is busy.
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(50 * time.Millisecond) {
		_, err := insert(0)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no inserts after everything was deleted: %v\n%s\n%s", err, c.must(t, "serverStatus", value.Int32(1)), p.output.String())
		}
	}
}
