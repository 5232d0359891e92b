package commands_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
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
	t.Cleanup(func() { _ = opened.Engine.Close() })
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

// The sessions that a server has stored are removed when they end there, not when another
// server stores its own.
func TestSharedSessions(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	keep := func(on server, want int) {
		t.Helper()
		if err := housekeeping.KeepSessions(on.Svc, t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(harness.Docs(a.RunOn("config", harness.Relaxed(`{find: "system.sessions"}`)))); n != want {
			t.Errorf("%d sessions, want %d", n, want)
		}
	}
	lsid := func(n int) string {
		return fmt.Sprintf(`{id: {"$uuid": "00000000-0000-4000-8000-00000000000%d"}}`, n)
	}
	for n := range 3 {
		a.OK(`{insert: "c", documents: [{}], lsid: ` + lsid(n) + `, txnNumber: {$numberLong: "1"}}`)
	}
	keep(a, 3)
	keep(b, 3)
	b.OK(`{find: "c", lsid: ` + lsid(4) + `}`)
	keep(b, 4)
	a.Advance(31 * 60)
	records := func(on server, want int) {
		t.Helper()
		housekeeping.LogHousekeeping(on.Svc)
		if n := len(harness.Docs(a.RunOn("config", harness.Relaxed(`{find: "transactions"}`)))); n != want {
			t.Errorf("%d records of sessions, want %d", n, want)
		}
	}
	records(b, 3) // their sessions live on the other server
	a.OK(`{endSessions: [` + lsid(0) + `]}`)
	keep(a, 3)
	records(a, 3) // without the lease
	records(b, 2)
}

// A session that two servers have is stored as long as one of them uses it.
func TestSharedSessionOfBoth(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	const use = `{find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}}}`
	keep := func(on server, want int) {
		t.Helper()
		if err := housekeeping.KeepSessions(on.Svc, t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(harness.Docs(a.RunOn("config", harness.Relaxed(`{find: "system.sessions"}`)))); n != want {
			t.Errorf("%d sessions, want %d", n, want)
		}
	}
	real := clock.NewManual(time.Now())
	a.Svc.Real, b.Svc.Real = real, real
	a.OK(use)
	keep(a, 1)
	if err := real.Advance(20 * time.Minute); err != nil {
		t.Fatal(err)
	}
	b.OK(use)
	keep(b, 1)
	if err := real.Advance(20 * time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, on := range []server{a, b} {
		on.Svc.Sessions.Expire(real.Now(), 30*time.Minute)
	}
	keep(a, 1)
	keep(b, 1)
	b.OK(`{endSessions: [{id: {$uuid: "00000000-0000-4000-8000-000000000001"}}]}`)
	keep(b, 0)
}

// leave does what a running $out and a running change of a policy do, and returns the name of
// the server for that.
func (s server) leave(coll string) (owner string) {
	s.Helper()
	owner = s.Svc.OwnerName()
	s.OK(`{create: "tmp.agg_out.70.` + owner + `"}`)
	s.OK(`{create: "` + coll + `", documentTtl: {default: 10}}`)
	ns := storage.Namespace{DB: "test", Coll: coll}
	err := storage.Retry(s.Context(), s.engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return tx.SetOptions(ns, catalog.PolicyEnding(coll.Info(), catalog.Of(coll.Info()).DocTTL, s.Clock.NowMillis(), owner))
	})
	if err != nil {
		s.Fatal(err)
	}
	return owner
}

// left returns how much is left that has the name of a server.
func (s server) left(owner string) (n int) {
	s.Helper()
	err := s.engine.View(s.Context(), func(tx storage.Tx) error {
		n = 0
		infos, err := tx.Collections("test")
		for _, info := range infos {
			p := catalog.Of(info).DocTTL
			if strings.HasSuffix(info.Namespace.Coll, owner) || p != nil && p.Until != 0 && p.EndedBy == owner {
				n++
			}
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return n
}

// A server that starts clears up after those that have ended, and leaves alone what the
// commands of others still use: the temporary collection of an $out, a policy that is being
// changed.
func TestSharedLeftOvers(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	a.OK(`{create: "tmp.agg_out.7"}`) // of a server that had the data alone
	ownerA, ownerB := a.leave("ca"), b.leave("cb")
	check := func(what string, leftA, leftB int) {
		t.Helper()
		b.another()
		if nA, nB := b.left(ownerA), b.left(ownerB); nA != leftA || nB != leftB {
			t.Errorf("%s: left are %d and %d, want %d and %d", what, nA, nB, leftA, leftB)
		}
	}
	check("both live", 2, 2)
	a.die(t)
	check("one has died just now", 2, 2)
	if err := real.Advance(storagetest.LeaseTime); err != nil {
		t.Fatal(err)
	}
	check("one has died", 0, 2)
	if name := b.Svc.OwnerName(); name != ownerB {
		t.Errorf("the name has changed from %s to %s", ownerB, name)
	}
	if n := b.left("tmp.agg_out.7"); n != 0 {
		t.Error("what a server without others has left is still there")
	}
	b.OK(`{insert: "c", documents: [{_id: 1}]}`)
	b.OK(`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}`)
	b.Holds("d", `{"_id": 1}`)
}

// A server that was believed to have ended does not use its name again.
func TestSharedNameIsTaken(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	owner := a.leave("ca")
	a.die(t)
	if err := real.Advance(storagetest.LeaseTime); err != nil {
		t.Fatal(err)
	}
	if b.another(); b.left(owner) != 0 {
		t.Error("the policy was not reopened")
	}
	if again := a.Svc.OwnerName(); again == owner {
		t.Errorf("it goes on as %s", again)
	}
}

// Due documents are removed once, by the server that has the lease; after that server has
// died, by the next one that gets the lease.
func TestSharedExpiry(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	a.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`)
	ctx, stop := context.WithCancel(t.Context())
	waitA, waitB := a.Svc.Monitor.Start(ctx), b.Svc.Monitor.Start(ctx)
	defer func() { stop(); waitA(); waitB() }()
	round := func(what string, left int, passesA, passesB int64) {
		t.Helper()
		var docs string
		for i := range 300 {
			docs += fmt.Sprintf(`, {at: {$date: {$numberLong: "%d"}}}`, a.Clock.NowMillis()+int64(i))
		}
		b.OK(`{insert: "c", documents: [` + docs[2:] + `]}`)
		a.Advance(61)
		if n := int(a.OK(`{count: "c"}`).Lookup("n").SafeInt64()); n != left {
			t.Errorf("%s: %d documents are left, want %d", what, n, left)
		}
		if nA, nB := a.Svc.Monitor.Metrics().Passes.Load(), b.Svc.Monitor.Metrics().Passes.Load(); nA != passesA || nB != passesB {
			t.Errorf("%s: %d and %d passes, want %d and %d", what, nA, nB, passesA, passesB)
		}
	}
	a.engine.Lease("expiry") // the first server that requests it has it
	round("both live", 0, 1, 0)
	a.die(t)
	if err := real.Advance(9 * time.Second); err != nil {
		t.Fatal(err)
	}
	round("dead for 9 s", 300, 1, 0)
	if err := real.Advance(time.Second); err != nil {
		t.Fatal(err)
	}
	for range 100 { // it notices within a second, without waiting for the end of its sleep
		a.Clock.WaitForTimers(2)
		if b.Svc.Monitor.Metrics().Passes.Load() > 0 {
			break
		}
		a.Advance(1)
	}
	if n := a.Count("c"); n != 0 {
		t.Errorf("%d documents are left after the lease has moved", n)
	}
	round("dead for 10 s", 0, 1, 2)
}

// Two passes over the same documents at the same time remove each once.
func TestSharedExpiryOverlaps(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`)
	const n = 2000
	var docs string
	for range n {
		docs += `, {at: {$date: "2025-12-31T00:00:00Z"}}`
	}
	a.OK(`{insert: "c", documents: [` + docs[2:] + `]}`)
	done := make(chan value.Doc, 2)
	for _, on := range []server{a, b} {
		go func() { done <- on.Admin(`{runExpirationPass: 1}`) }()
	}
	for range 2 {
		if reply := <-done; !reply.Lookup("ok").Truthy() {
			t.Errorf("a pass answered %s", reply)
		}
	}
	removed := a.Svc.Monitor.Metrics().DeletedDocuments.Load() + b.Svc.Monitor.Metrics().DeletedDocuments.Load()
	if left := a.Count("c"); left != 0 || removed != n {
		t.Errorf("%d are left, %d were removed", left, removed)
	}
}

// A receiver that waits is woken by a message that is sent on another server.
func TestSharedReceive(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{create: "q", messageQueue: {}}`)
	for range 3 {
		got := make(chan value.Doc, 1)
		go func() { got <- a.Run(`{mqReceive: "q", mode: "receiveAndDelete", maxWaitTimeMS: 60000}`) }()
		inTime(t, "the receive", func() {
			b.OK(`{mqSend: "q", messages: [{x: 1}]}`)
			if reply := <-got; reply.Lookup("messages").Doc().Len() != 1 {
				t.Errorf("answered %s", reply)
			}
		})
	}
}

// A message that one server gives back is the next on each, even if another has seen
// nothing but expired messages.
func TestSharedQueueFront(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{create: "q", messageQueue: {lockDuration: 300}}`)
	a.OK(`{mqSend: "q", messages: [{n: 1}]}`)
	m := a.OK(`{mqReceive: "q"}`).Lookup("messages").Doc().Index(0).Doc()
	var later string
	for range 400 {
		later += `, {_mq: {timeToLive: 1}}`
	}
	a.OK(`{mqSend: "q", messages: [` + later[2:] + `]}`)
	a.Advance(2)
	receive := func() int {
		t.Helper()
		return b.OK(`{mqReceive: "q"}`).Lookup("messages").Doc().Len()
	}
	if n := receive(); n != 0 {
		t.Fatalf("%d messages although none can be received", n)
	}
	a.OK(`{mqAbandon: "q", lockToken: ` + harness.JSONOf(m.Lookup("_mq").Doc().Lookup("lockToken")) + `}`)
	if n := receive(); n != 1 {
		t.Errorf("%d messages after one was given back", n)
	}
	if n := receive(); n != 0 {
		t.Errorf("it is delivered again")
	}
}
