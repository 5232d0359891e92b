package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// crashTime returns the duration of the test and the seed of its random choices. CI
// has a stage in which each such test runs longer.
func crashTime(tb testing.TB) (d time.Duration, seed uint64) {
	d, seed = 3*time.Second, uint64(time.Now().UnixNano())
	if s := os.Getenv("DUSKDB_CRASH_TIME"); s != "" {
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			tb.Fatal(err)
		}
	} else if testing.Short() {
		d = 2 * time.Second
	}
	if s := os.Getenv("DUSKDB_CRASH_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		seed = n
	}
	return d, seed
}

// TestKill kills the server while clients write, transactions commit, the
// log is compacted and a policy of expiry changes, and sometimes again while
// it starts.
func TestKill(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	workers := make([]*worker, 8)
	for i := range workers {
		workers[i] = newWorker(i, seed)
	}
	expiry := &expiryWorker{seconds: 1_000_000}
	rounds, restarts := 0, 0
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); rounds++ {
		if rnd.IntN(3) == 0 {
			p := launch(t, dir)
			proc.Pause(time.Duration(rnd.IntN(25)) * time.Millisecond)
			p.Kill()
			restarts++
		}
		p := start(t, dir)
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if rounds == 0 {
			prepare(t, c)
		} else {
			verify(t, c, workers, expiry)
		}
		if len(c.all(t, "c")) > 20000 {
			c.must(t, "delete", value.String("c"), "deletes", value.NewArray(value.Document(value.NewDoc("q", value.Document(value.EmptyDoc), "limit", value.Int32(0)))))
			for _, w := range workers {
				clear(w.docs)
			}
		}
		_ = c.Close()
		load(t, p, workers, expiry, time.Duration(20+rnd.IntN(400))*time.Millisecond)
	}
	finish(t, dir, workers, expiry)
	acks, durable := 0, 0
	for _, w := range workers {
		acks, durable = acks+w.acks, durable+w.durable
	}
	t.Logf("%d crashes under load and %d while starting; %d writes acknowledged, %d of them with j:true, %d changes of the policy, %d compactions",
		rounds, restarts, acks, durable, expiry.acks, compactions)
}

// prepare makes the collections: one with all kinds of indexes, one whose
// documents expire.
func prepare(tb testing.TB, c *client) {
	tb.Helper()
	index := func(name, key string, options ...any) value.Value {
		return value.Document(value.NewDoc(append([]any{"name", value.String(name), "key", value.Document(value.NewDoc(key, value.Int32(1)))}, options...)...))
	}
	c.must(tb, "createIndexes", value.String("c"), "indexes", value.NewArray(
		index("v", "v"), index("tags", "tags"), index("w", "w", "sparse", value.Bool(true))))
	c.must(tb, "createIndexes", value.String("e"), "indexes", value.NewArray(index("at", "at", "expireAfterSeconds", value.Int32(1_000_000))))
}

// load runs all workers until the server is killed.
func load(tb testing.TB, p *proc.Server, workers []*worker, expiry *expiryWorker, d time.Duration) {
	tb.Helper()
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.work(p.Addr()) })
	}
	wg.Go(func() { expiry.work(p.Addr()) })
	wg.Go(func() { compact(p.Addr(), "c") })
	proc.Pause(d)
	p.Kill()
	wg.Wait()
	for _, w := range workers {
		if w.err != nil {
			tb.Fatalf("%v\n%s", w.err, p.Stderr.String())
		}
	}
}

// compactions counts the compactions that ended before a crash.
var compactions int

// compact compacts the log until the server is killed.
func compact(addr, coll string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		if _, err := c.run("compact", value.String(coll), "force", value.Bool(true)); err != nil {
			return
		}
		compactions++
	}
}

// verify checks documents, indexes and policies after a crash.
func verify(tb testing.TB, c *client, workers []*worker, expiry *expiryWorker) {
	tb.Helper()
	found := make([]map[int64]int64, len(workers))
	for i := range found {
		found[i] = map[int64]int64{}
	}
	for _, d := range c.all(tb, "c") {
		id := d.Lookup("_id").Int64()
		found[id/1_000_000][id] = d.Lookup("v").SafeInt64()
	}
	for i, w := range workers {
		w.check(tb, found[i])
	}
	expiry.check(tb, c)
	validate(tb, c)
}

// validate has the server compare records and indexes.
func validate(tb testing.TB, c *client) {
	tb.Helper()
	for _, coll := range []string{"c", "e"} {
		r := c.must(tb, "validate", value.String(coll), "full", value.Bool(true))
		if !r.Lookup("valid").Truthy() {
			tb.Errorf("%s is not valid: %s", coll, r)
		}
	}
}

// finish checks the data without a server, and then the expiry.
func finish(tb testing.TB, dir string, workers []*worker, expiry *expiryWorker) {
	tb.Helper()
	p := start(tb, dir)
	c, err := dial(p.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	verify(tb, c, workers, expiry)
	expiry.expire(tb, c)
	validate(tb, c)
}
