package commands_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
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
