package commands_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// server is one of several over the same data.
type server struct {
	*harness.Harness
	engine  storage.Engine
	another func() server // starts a further one
}

// serversOver starts two servers over one engine. Their leases run by the
// clock real, which stands still.
func serversOver(t *testing.T) (a, b server, real *clock.Manual) {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	real = clock.NewManual(harness.TestStart)
	if engines.Remote(engines.ForTests()) {
		a, b = serversApart(t, manual)
		return a, b, real
	}
	opened, err := engines.Open(engines.ForTests(), engines.Options{Path: engines.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	cluster := storagetest.NewCluster(harness.Hostile(t, opened.Engine), real)
	var start func() server
	start = func() server {
		m := cluster.Join()
		h := harness.NewOver(t, m, manual, kernel.Options{Log: zerolog.Nop()})
		ctx, stop := context.WithCancel(context.Background())
		t.Cleanup(stop) // before the service closes
		go h.Svc.Follow(ctx)
		return server{h, m, start}
	}
	return start(), start(), real
}

// serversApart starts two servers, each with an engine of its own over one
// database.
func serversApart(t *testing.T, manual *clock.Manual) (a, b server) {
	t.Helper()
	uri := engines.TestURI(engines.Memory)
	var start func() server
	start = func() server {
		opened, err := engines.Open(engines.ForTests(), engines.Options{URI: uri, Indexer: catalog.NewIndexer()})
		if err != nil {
			t.Fatal(err)
		}
		h := harness.NewOver(t, harness.Hostile(t, opened.Engine), manual, kernel.Options{Log: zerolog.Nop()})
		ctx, stop := context.WithCancel(context.Background())
		t.Cleanup(stop)
		go h.Svc.Follow(ctx)
		return server{h, opened.Engine, start}
	}
	return start(), start()
}

// die ends a server as a crash does. The test is skipped if its leases do not end by
// a clock that can be moved.
func (s server) die(t *testing.T) {
	t.Helper()
	m, ok := s.engine.(*storagetest.Member)
	if !ok {
		t.Skip("the leases of this engine end by the clock of its database")
	}
	m.Die()
}

// soon is less than the waits of the tests below, which only news from the other server can
// cut short.
const soon = 20 * time.Second

// inTime fails if run takes as long as a wait that no news ends.
func inTime(t *testing.T, what string, run func()) {
	t.Helper()
	began := time.Now()
	run()
	if took := time.Since(began); took > soon {
		t.Errorf("%s took %v", what, took)
	}
}

// A change stream shows what all servers write, in one order, also if the one that it is on
// has written since; and it resumes on another server.
func TestSharedChangeStream(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{create: "c"}`)
	s := a.Watch("c", "{}", "")
	quiet := a.Watch("other", "{}", "")
	b.OK(`{insert: "c", documents: [{_id: "b"}]}`)
	a.OK(`{insert: "c", documents: [{_id: "a"}]}`)
	a.OK(`{insert: "e", documents: [{_id: "e"}]}`)
	b.OK(`{update: "c", updates: [{q: {_id: "a"}, u: {$set: {x: 1}}}]}`)
	keys := func(list []value.Doc) (out string) {
		for _, e := range list {
			out += e.Lookup("operationType").Str() + " " + e.Lookup("documentKey").Doc().Lookup("_id").Str() + "; "
		}
		return out
	}
	events := s.Events()
	if got := keys(events); got != "insert b; insert a; update a; " {
		t.Fatalf("events: %s", got)
	}
	there := b.Watch("c", `{"resumeAfter": `+harness.JSONOf(events[0].Lookup("_id"))+`}`, "")
	if got := keys(there.Events()); got != "insert a; update a; " {
		t.Errorf("resumed on the other server: %s", got)
	}
	for i := range 20 {
		on := a
		if i%2 == 0 {
			on = b
		}
		on.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: "%d"}]}`, i))
		on.OK(`{insert: "e", documents: [{}]}`)
		want := fmt.Sprintf("insert %d; ", i)
		if got, got2 := keys(s.Events()), keys(there.Events()); got != want || got2 != want {
			t.Fatalf("round %d: %q and %q", i, got, got2)
		}
	}
	if got := keys(quiet.Events()); got != "" {
		t.Errorf("a stream on another collection has %s", got)
	}
}

// A change stream that waits is woken by a write on another server, and so is a tailable
// cursor.
func TestSharedWaits(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{create: "capped", capped: true, size: 10000}`)
	a.OK(`{insert: "capped", documents: [{_id: 0}]}`)
	s := a.Watch("c", "{}", "")
	tail := a.OK(`{find: "capped", tailable: true, awaitData: true}`).Lookup("cursor").Doc().Lookup("id").Int64()
	for i := range 3 {
		for coll, id := range map[string]int64{"c": s.ID, "capped": tail} {
			batch := make(chan int, 1)
			go func() {
				reply := a.OK(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "maxTimeMS": 60000}`, id, coll))
				batch <- reply.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len()
			}()
			inTime(t, coll, func() {
				b.OK(fmt.Sprintf(`{insert: "%s", documents: [{_id: %d}]}`, coll, i+1))
				if n := <-batch; n != 1 {
					t.Errorf("%s: a batch of %d", coll, n)
				}
			})
		}
	}
}

// A retryable write that is sent again to another server is not run again, wherever the
// session has been before.
func TestSharedRetry(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
	const inc = `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`
	for number, order := range [][]server{{a, a, b}, {a, b, a}, {b, a, b, a}, {a, b}} {
		for i, on := range order {
			reply := on.OK(harness.RetryArgs(inc, number+1))
			if again := reply.Has("retriedStmtIds"); again != (i > 0) {
				t.Errorf("number %d, time %d answered %s", number+1, i, reply)
			}
		}
		a.Holds("c", fmt.Sprintf(`{"_id": 1, "n": %d}`, number+1))
	}
	// A commit that is sent again to another server has succeeded there, too.
	a.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 9, true))
	for _, on := range []server{a, b, a} {
		if reply := on.EndTxn("commitTransaction", 9); !reply.Lookup("ok").Truthy() {
			t.Errorf("the commit answered %s", reply)
		}
	}
	b.Fails(225, harness.RetryArgs(inc, 8))
}

// A statement that runs on two servers at the same time takes effect once: the other has an
// error after which drivers send it again.
func TestSharedRetryAtOnce(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
	const rounds = 20
	for n := range rounds {
		replies := make(chan value.Doc, 2)
		for _, on := range []server{a, b} {
			go func() {
				replies <- on.Run(harness.RetryArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`, n+1))
			}()
		}
		for range 2 {
			r := <-replies
			code := r.Lookup("code").Int32()
			if e := r.Lookup("writeErrors").Doc().Index(0); !e.IsMissing() {
				code = e.Doc().Lookup("code").Int32()
			}
			if code != 0 && code != 11602 {
				t.Errorf("round %d answered %s", n, r)
			}
		}
	}
	a.Holds("c", fmt.Sprintf(`{"_id": 1, "n": %d}`, rounds))
}

// A write that waits for a transaction on another server goes on when that commits.
func TestSharedConflict(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
	a.OK(harness.InTxnArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`, 1, true))
	done := make(chan value.Doc, 1)
	go func() { done <- b.Run(`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {n: 10}}}], maxTimeMS: 60000}`) }()
	inTime(t, "the write", func() {
		if reply := a.EndTxn("commitTransaction", 1); !reply.Lookup("ok").Truthy() {
			t.Errorf("the commit answered %s", reply)
		}
		if reply := <-done; reply.Lookup("nModified").SafeInt64() != 1 {
			t.Errorf("the write answered %s", reply)
		}
	})
	a.Holds("c", `{"_id": 1, "n": 11}`)
}

// Entries of the log have timestamps that grow in the order of the commits, and each server
// knows those of the other, with a database below them after a moment.
func TestSharedTimestamps(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	for i := range 20 {
		a.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: "a%d"}]}`, i))
		b.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: "b%d"}]}`, i))
		if i == 10 { // a client brings the time of another cluster
			a.OK(`{find: "c", readConcern: {afterClusterTime: {"$timestamp": {"t": 1767226000, "i": 7}}}}`)
		}
		if now, then := a.Svc.Stamps.Current(), b.Svc.Stamps.Current(); now < then && !engines.Remote(engines.ForTests()) { // with a database: soon
			t.Errorf("round %d: b has %x, a has %x", i, then, now)
		}
	}
	last, n := uint64(0), 0
	for _, d := range harness.Docs(b.RunOn("local", harness.Relaxed(`{find: "oplog.rs", batchSize: 1000}`))) {
		sec, inc := d.Lookup("ts").Timestamp()
		ts := uint64(sec)<<32 | uint64(inc)
		if n++; ts <= last {
			t.Errorf("%x is followed by %s", last, d)
		}
		last = ts
	}
	if n < 40 {
		t.Errorf("the log has %d entries", n)
	}
}

// A change stream that starts at the operationTime of a reply shows what is written later,
// also by another server, although the first one has received a later cluster time.
func TestSharedOperationTime(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	b.OK(`{create: "c"}`)
	reply := a.OK(`{find: "c", readConcern: {afterClusterTime: {"$timestamp": {"t": 1767226000, "i": 7}}}}`)
	b.OK(`{insert: "c", documents: [{_id: 1}]}`)
	for _, on := range []server{a, b} {
		s := on.Watch("c", `{startAtOperationTime: `+harness.JSONOf(reply.Lookup("operationTime"))+`}`, "")
		if n := len(s.Events()); n != 1 {
			t.Errorf("%d events after %s", n, reply.Lookup("operationTime"))
		}
	}
}

// The bound of the change log that one server has set is that of the server which trims it.
func TestSharedLogSize(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	if reply := b.Admin(`{replSetResizeOplog: 1, size: {$numberDouble: "2000"}}`); !reply.Lookup("ok").Truthy() {
		t.Fatal(reply)
	}
	if err := a.Svc.Oplog.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, on := range []server{a, b, a.another()} {
		if n := on.Svc.Oplog.Bound(); n != 2000<<20 {
			t.Errorf("the bound is %d", n)
		}
	}
}

// A read with read concern snapshot sees what another server has written before.
func TestSharedSnapshotReads(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	for n := range 5 {
		b.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}]}`, n))
		if got := len(harness.Docs(a.OK(`{find: "c", readConcern: {level: "snapshot"}}`))); got != n+1 {
			t.Errorf("%d documents, want %d", got, n+1)
		}
	}
}

// A setting that one server has changed is in force on the other.
func TestSharedSettings(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	b.Admin(`{getDefaultRWConcern: 1}`)
	if set := a.Admin(`{setDefaultRWConcern: 1, defaultWriteConcern: {w: 1, j: true}}`); !set.Lookup("ok").Truthy() {
		t.Fatal(set)
	}
	reply := b.Admin(`{getDefaultRWConcern: 1}`)
	if w := reply.Lookup("defaultWriteConcern").Doc(); !w.Lookup("j").Truthy() || reply.Lookup("defaultWriteConcernSource").Str() != "global" {
		t.Errorf("answered %s", reply)
	}
}
