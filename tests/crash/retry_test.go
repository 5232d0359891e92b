package crash

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestKilledInRetryableWrite kills the server in the middle of a retryable
// write of many statements, and sends it again: each statement is applied once, and the
// reply is that of the first attempt.
func TestKilledInRetryableWrite(t *testing.T) {
	const n, rounds = 3000, 3
	dir := t.TempDir()
	lsid := value.Document(value.NewDoc("id", value.Binary(4, []byte("a session's id 1"))))
	update := func(round int) []any {
		list := make([]value.Value, n)
		for i := range list {
			list[i] = value.Document(value.NewDoc("q", value.Document(value.NewDoc("_id", value.Int32(int32(round*n+i)))),
				"u", value.Document(value.MustJSON(`{"$inc": {"n": 1}}`)), "upsert", value.Bool(true)))
		}
		return []any{"update", value.String("c"), "updates", value.NewArray(list...), "lsid", lsid, "txnNumber", value.Int64(int64(round + 1))}
	}
	count := func(c *client) int64 { return c.must(t, "count", value.String("c")).Lookup("n").SafeInt64() }
	for round := range rounds {
		p := start(t, dir, withRetries()...)
		writer, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = writer.run(update(round)...)
		}()
		watcher, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		for count(watcher) < int64(round*n+n/3) {
			continue
		}
		p.Kill()
		<-ended
		_ = writer.Close()
		_ = watcher.Close()

		p = start(t, dir, withRetries()...)
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			reply := c.must(t, update(round)...)
			if got := reply.Lookup("upserted").Doc().Len(); got != n || reply.Lookup("n").Int32() != n {
				t.Errorf("%d upserted, n %d, want %d", got, reply.Lookup("n").Int32(), n)
			}
		}
		for _, d := range c.all(t, "c") {
			if d.Lookup("n").Int32() != 1 {
				t.Errorf("%s: changed more than once", d)
			}
		}
		if got := count(c); got != int64((round+1)*n) {
			t.Errorf("%d documents, want %d", got, (round+1)*n)
		}
		_ = c.Close()
		p.Kill()
	}
}
