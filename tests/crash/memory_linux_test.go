package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// TestMemoryIsReturned: after a load in small batches, whose keys are scattered over two
// indexes, and after half of it was deleted, an idle server soon holds little more memory than
// its data take.
func TestMemoryIsReturned(t *testing.T) {
	dataInMemory(t)
	if testing.Short() {
		t.Skip("waits until the server is idle")
	}
	const documents, batch = 150_000, 500
	const most = 64 << 20 // about 48 are expected; 95 if nothing moves the data together
	t.Parallel()
	p := start(t, t.TempDir())
	c := connect(t, p)
	c.must(t, "createIndexes", value.String("c"), "indexes", value.NewArray(doc(`{"key": {"a": 1}, "name": "a"}`), doc(`{"key": {"b": 1}, "name": "b"}`)))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < documents; i += batch {
		var docs []value.Value
		for k := range batch {
			docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(int32(i+k)), "a", value.Int32(rnd.Int32()),
				"b", value.String(fmt.Sprintf("%016x", rnd.Uint64())), "pad", value.Binary(0, make([]byte, 100)))))
		}
		c.must(t, "insert", value.String("c"), "documents", value.NewArray(docs...))
	}
	half := value.Document(value.NewDoc("q", doc(fmt.Sprintf(`{"_id": {"$lt": %d}}`, documents/2)), "limit", value.Int32(0)))
	if n := c.must(t, "delete", value.String("c"), "deletes", value.NewArray(half)).Lookup("n").SafeInt64(); n != documents/2 {
		t.Fatalf("%d deleted", n)
	}
	held := int64(0)
	defer func() { t.Logf("it holds %d MB", held>>20) }()
	eventually(t, "memory is returned", func() bool {
		held = anonymous(t, p)
		return held <= most
	})
	for field, key := range map[string]string{"a": `{"a": {"$gte": 0}}`, "b": `{"b": {"$gte": ""}}`} {
		reply := c.must(t, "count", value.String("c"), "query", doc(key), "hint", value.String(field))
		if n := reply.Lookup("n").SafeInt64(); n != documents/2 {
			t.Errorf("%d entries in index %s", n, field)
		}
	}
}

// anonymous is the memory of a process that is no file's, in bytes.
func anonymous(t *testing.T, p *proc.Server) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssAnon:\s*(\d+) kB`).FindSubmatch(text)
	if found == nil {
		needs.Missing(t, "RssAnon in /proc/PID/status")
	}
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
