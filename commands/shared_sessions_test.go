package commands_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
)

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

// A session with snapshot: true reads one state on all servers: drivers choose one for each
// command. What was written or created since, on either of them, is not there.
func TestSharedSnapshots(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	if _, ok := a.Svc.Engine.(storage.SnapshotNumberer); !ok {
		t.Skip("an engine whose snapshots belong to one server")
	}
	a.OK(`{insert: "c", documents: [{_id: 1}]}`)
	count := func(on server, at string, want int) string {
		t.Helper()
		concern := `readConcern: {level: "snapshot"` + at + `}`
		r := on.OK(`{aggregate: "c", pipeline: [{$sort: {_id: 1}}, {$count: "n"}], cursor: {}, ` + concern + `}`)
		cursor := r.Lookup("cursor").Doc()
		if n := cursor.Lookup("firstBatch").Doc().Index(0).Doc().Lookup("n").Int32(); int(n) != want {
			t.Errorf("%d documents, want %d", n, want)
		}
		return `, atClusterTime: ` + harness.JSONOf(cursor.Lookup("atClusterTime"))
	}
	first := count(a, "", 1)
	b.OK(`{insert: "c", documents: [{_id: 2}]}`)
	a.OK(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x"}]}`)
	second := count(b, "", 2)
	a.OK(`{insert: "c", documents: [{_id: 3}]}`)
	b.OK(`{insert: "other", documents: [{_id: 1}]}`)
	for range 2 {
		for _, on := range []server{b, a} {
			if got := count(on, first, 1); got != first {
				t.Errorf("read%s, asked for%s", got, first)
			}
			count(on, second, 2)
			count(on, "", 3)
		}
	}
	at := first[2:]
	if r := b.OK(`{distinct: "other", key: "_id", readConcern: {level: "snapshot", ` + at + `}}`); r.Lookup("values").Doc().Len() != 0 {
		t.Errorf("a collection that was made since has %s", r.Lookup("values"))
	}
	r := b.OK(`{find: "c", batchSize: 0, readConcern: {level: "snapshot", ` + at + `}}`)
	id := r.Lookup("cursor").Doc().Lookup("id").Int64()
	a.OK(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
	if docs := b.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id)).Lookup("cursor").Doc().Lookup("nextBatch").Doc(); docs.Len() != 1 {
		t.Errorf("getMore: %s", docs)
	}
}
