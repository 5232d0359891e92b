package housekeeping_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

const someLSID = `{id: {"$uuid": "00000000-0000-4000-8000-000000000001"}}`

// withRealTime gives a server a clock for what must not follow the test clock.
func withRealTime(h *harness.Harness) *clock.Manual {
	real := clock.NewManual(harness.TestStart)
	h.Svc.Real = real
	return real
}

// until moves the real time on, a little more than the pause of what runs beside
// commands, until that has done its work.
func until(t *testing.T, real *clock.Manual, done func() bool) {
	t.Helper()
	for range 100_000 {
		if done() {
			return
		}
		if err := real.Advance(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	t.Fatal("it is never done")
}

// What clients left behind ends by itself: cursors after cursorTimeoutMillis, sessions
// after localLogicalSessionTimeoutMinutes; and the sessions are written down.
func TestWhatRunsBesideCommands(t *testing.T) {
	h := harness.New(t).LoneServer("a clock of its own: sessions have the database's time")
	real := withRealTime(h)
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	h.OK(`{find: "c", batchSize: 1}`)
	h.OK(`{find: "c", batchSize: 1, noCursorTimeout: true}`)
	h.OK(`{find: "c", lsid: ` + someLSID + `}`)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel) // before the server closes
	housekeeping.Start(h.Svc, ctx)
	sessions := func() int {
		return len(harness.Docs(h.RunOn("config", harness.Relaxed(`{find: "system.sessions"}`))))
	}
	until(t, real, func() bool { return sessions() == 1 })
	until(t, real, func() bool { open, _, _, _, _ := h.Svc.Cursors.Count(); return open == 1 })
	if waited := real.Now().Sub(harness.TestStart); waited < 10*time.Minute {
		t.Errorf("a cursor is closed after %v", waited)
	}
	if _, forever, _, _, timedOut := h.Svc.Cursors.Count(); timedOut != 1 || forever != 1 {
		t.Errorf("%d cursors timed out, %d never do", timedOut, forever)
	}
	until(t, real, func() bool { return len(h.Svc.Sessions.List()) == 0 })
	if waited := real.Now().Sub(harness.TestStart); waited < 30*time.Minute {
		t.Errorf("a session ends after %v", waited)
	}
	until(t, real, func() bool { return sessions() == 0 })
	cancel()
	housekeeping.Close(h.Svc)
	if open, _, _, _, _ := h.Svc.Cursors.Count(); open != 0 {
		t.Errorf("%d cursors are open after the end", open)
	}
}

// A session that is used again is written down again, with its user, and one that has
// not come back goes.
func TestSessionsBroughtUpToDate(t *testing.T) {
	h := harness.NewAuth(t)
	h.LoneServer("a clock of its own: sessions have the database's time")
	real := withRealTime(h.Harness)
	h.User("ann", "readWrite@test")
	use := func(id int) {
		h.As("ann", "test", fmt.Sprintf(`{find: "c", lsid: {id: {"$uuid": "00000000-0000-4000-8000-00000000000%d"}}}`, id))
	}
	keep := func() (list []value.Doc) {
		if err := housekeeping.KeepSessions(h.Svc, t.Context()); err != nil {
			t.Fatal(err)
		}
		return harness.Docs(h.MustOn("config", `{"find": "system.sessions", "sort": {"_id.id": 1}}`))
	}
	use(1)
	use(2)
	first := keep()
	if len(first) != 2 || first[0].Lookup("user").Str() != "ann@admin" || first[0].Lookup("lastUse").DateTime() != harness.TestStart.UnixMilli() {
		t.Fatalf("at first %v", first)
	}
	if err := real.Advance(time.Minute); err != nil {
		t.Fatal(err)
	}
	use(2)
	use(3)
	second := keep()
	if len(second) != 3 || second[0].String() != first[0].String() {
		t.Fatalf("then %v", second)
	}
	for i, want := range []int64{0, 60_000, 60_000} {
		if got := second[i].Lookup("lastUse").DateTime() - harness.TestStart.UnixMilli(); got != want {
			t.Errorf("session %d was used after %d ms, want %d", i+1, got, want)
		}
	}
	h.Svc.Sessions.Expire(real.Now(), time.Minute) // the first is as old
	if third := keep(); len(third) != 2 || third[0].String() != second[1].String() {
		t.Errorf("at last %v", third)
	}
}

// What is remembered of retryable writes goes once the session has ended and the time
// of sessions is over, as measured by the server's clock.
func TestRecordsOfEndedSessions(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}], lsid: ` + someLSID + `, txnNumber: {$numberLong: "1"}}`)
	left := func() int {
		h.Helper()
		housekeeping.LogHousekeeping(h.Svc)
		return len(harness.Docs(h.RunOn("config", harness.Relaxed(`{find: "transactions"}`))))
	}
	if n := left(); n != 1 {
		t.Fatalf("%d records of a write", n)
	}
	h.Advance(31 * 60)
	if n := left(); n != 1 {
		t.Errorf("%d records of a session that lives", n)
	}
	h.OK(`{endSessions: [` + someLSID + `]}`)
	h.OK(`{insert: "c", documents: [{_id: 2}], lsid: {id: {"$uuid": "00000000-0000-4000-8000-000000000002"}}, txnNumber: {$numberLong: "1"}}`)
	h.OK(`{endSessions: [{id: {"$uuid": "00000000-0000-4000-8000-000000000002"}}]}`)
	if n := left(); n != 1 {
		t.Errorf("%d records, want that of the session that ended just now", n)
	}
	h.Advance(31 * 60)
	if n := left(); n != 0 {
		t.Errorf("%d records of ended sessions", n)
	}
}

// What cannot be done is logged, and does not stop the rest.
func TestFailuresAreLogged(t *testing.T) {
	h, engine := harness.NewBreakable(t, kernel.Options{})
	var log strings.Builder
	h.Svc.Log = zerolog.New(&log)
	engine.Broken = kernel.ClusterNamespace
	h.Svc.Settings = kernel.NewSettings()
	housekeeping.LogHousekeeping(h.Svc)
	if said := log.String(); !strings.Contains(said, "Pre-images could not be removed") || !strings.Contains(said, harness.ErrBroken.Error()) || strings.Contains(said, "Records of ended sessions") {
		t.Errorf("logged: %s", said)
	}
	engine.Broken = kernel.VersionNamespace
	if err := kernel.KeepFeatureVersion(h.Svc); err == nil {
		t.Error("the version is kept although it cannot be read")
	}
	engine.Broken = storage.Namespace{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := housekeeping.KeepSessions(h.Svc, ended); err == nil {
		t.Error("sessions are kept although the time is over")
	}
}

// What runs beside commands hardly asks anything of the engine while nobody uses the server:
// an engine may be on another machine, and a laptop may sleep.
func TestIdleServerLeavesTheEngineAlone(t *testing.T) {
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: bunt.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	counter := storagetest.NewCounter(engine)
	h := harness.NewOver(t, counter, manual, kernel.Options{Log: zerolog.Nop()})
	real := withRealTime(h)
	h.OK(`{insert: "c", documents: [{}], lsid: ` + someLSID + `, txnNumber: {$numberLong: "1"}}`)
	ctx, cancel := context.WithCancel(t.Context())
	housekeeping.Start(h.Svc, ctx)
	until(t, real, func() bool { return counter.Take()["Update"] > 0 }) // it has stored the session
	began := real.Now()
	calls := storagetest.Calls{}
	until(t, real, func() bool {
		calls = add(calls, counter.Take())
		return real.Now().Sub(began) >= 20*time.Minute
	})
	cancel()
	housekeeping.Close(h.Svc)
	if n := calls.Transactions(); n > 12 {
		t.Errorf("%d transactions in 20 minutes: %v", n, calls)
	}
}

// add returns the sums of two counts.
func add(a, b storagetest.Calls) storagetest.Calls {
	sum := maps.Clone(a)
	for name, n := range b {
		sum[name] += n
	}
	return sum
}
