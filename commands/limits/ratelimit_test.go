package limits_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// TestRateLimiterTokens: a burst is admitted at once, then one after the other
// at the rate; a connection is rejected if the queue is full, and takes no token.
func TestRateLimiterTokens(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := limits.NewRateLimiter(10, 2, now)
	l.SetDepth(2)
	for i, want := range []struct {
		wait time.Duration
		ok   bool
	}{{0, true}, {0, true}, {100 * time.Millisecond, true}, {200 * time.Millisecond, true}, {0, false}, {0, false}} {
		if wait, ok := l.Take(now); wait != want.wait || ok != want.ok {
			t.Errorf("admission %d: %v, %v; want %v, %v", i, wait, ok, want.wait, want.ok)
		}
	}
	now = now.Add(100 * time.Millisecond)
	l.Leave(100*time.Millisecond, nil)
	if wait, ok := l.Take(now); wait != 200*time.Millisecond || !ok {
		t.Errorf("after one has left the queue: %v, %v", wait, ok)
	}
	stats, queued, tokens := l.Snapshot(now)
	if queued != 2 || tokens != 0 || stats.Attempted != 7 || stats.Admitted != 3 || stats.Rejected != 2 || stats.Added != 3 || stats.Removed != 1 {
		t.Errorf("%+v, %d queued, %v tokens", stats, queued, tokens)
	}
	if got, want := stats.Waited, 0.2*100_000; math.Abs(got-want) > 1 { // two waits of 0 and one of 100 ms
		t.Errorf("the average wait is %v µs, want %v", got, want)
	}
}

// TestRateLimiterInterrupted: a client that leaves the queue early returns its token.
func TestRateLimiterInterrupted(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := limits.NewRateLimiter(1, 1, now)
	l.SetDepth(5)
	for range 3 {
		l.Take(now)
	}
	l.Leave(time.Second, mongoerr.New(mongoerr.ClientDisconnect, "client disconnected"))
	l.Leave(2*time.Second, errors.New("shut down"))
	if wait, ok := l.Take(now); wait != time.Second || !ok {
		t.Errorf("the next waits %v, %v", wait, ok)
	}
	if s, queued, _ := l.Snapshot(now); s.Interrupted != 2 || s.HungUp != 1 || s.Admitted != 1 || queued != 1 {
		t.Errorf("%+v, %d queued", s, queued)
	}
}

// TestRateLimiterChanges: a larger burst makes room for tokens, which then
// come at the rate (jstests: rate 10000, 0.5 to 2 seconds of it).
func TestRateLimiterChanges(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := limits.NewRateLimiter(math.MaxInt32, math.Inf(1), now)
	tokens := func() float64 { _, _, n := l.Snapshot(now); return n }
	if tokens() != math.MaxInt64 {
		t.Errorf("%v tokens at first", tokens())
	}
	l.SetRate(10_000, 5_000, now)
	if tokens() != 5_000 {
		t.Errorf("%v tokens of a burst of 5000", tokens())
	}
	l.SetRate(10_000, 20_000, now)
	if tokens() != 5_000 {
		t.Errorf("%v tokens: the others come with time", tokens())
	}
	now = now.Add(time.Second)
	if tokens() != 15_000 {
		t.Errorf("%v tokens after a second", tokens())
	}
	now = now.Add(time.Hour)
	if tokens() != 20_000 {
		t.Errorf("%v tokens after an hour", tokens())
	}
}

// parameter reads one server parameter.
func parameter(h *harness.Harness, name string) value.Value {
	h.Helper()
	return must(h, `{getParameter: 1, `+name+`: 1}`).Lookup(name)
}

// must runs a command on admin that must succeed.
func must(h *harness.Harness, command string) value.Doc {
	h.Helper()
	reply := h.Admin(command)
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("%s: %s", command, reply)
	}
	return reply
}

// TestEstablishmentParameters: defaults, bounds and the form of ranges.
func TestEstablishmentParameters(t *testing.T) {
	h := harness.New(t)
	for name, want := range map[string]value.Value{
		limits.EstablishmentEnabled: value.Bool(false), limits.EstablishmentRate: value.Int32(math.MaxInt32), limits.EstablishmentBurst: value.Double(math.MaxFloat64),
		limits.EstablishmentDepth: value.Int32(0), limits.EstablishmentBypass: value.Document(harness.Relaxed(`{ranges: []}`)),
	} {
		if got := parameter(h, name); got.String() != want.String() {
			t.Errorf("%s is %s at first, want %s", name, got, want)
		}
	}
	must(h, `{setParameter: 1, ingressConnectionEstablishmentRatePerSec: 10, ingressConnectionEstablishmentBurstCapacitySecs: 10, ingressConnectionEstablishmentMaxQueueDepth: 10}`)
	must(h, `{setParameter: 1, ingressConnectionEstablishmentRateLimiterBypass: {ranges: ["127.0.0.1", "10.1.0.0/16", "::1", "/tmp/d.sock"]}}`)
	if got, want := parameter(h, limits.EstablishmentBypass), harness.Relaxed(`{ranges: ["127.0.0.1/32", "10.1.0.0/16", "::1/128", "/tmp/d.sock"]}`); got.String() != value.Document(want).String() {
		t.Errorf("ranges: %s, want %s", got, want)
	}
	for _, bad := range []string{
		`ingressConnectionEstablishmentRatePerSec: 0`, `ingressConnectionEstablishmentBurstCapacitySecs: 0`,
		`ingressConnectionEstablishmentBurstCapacitySecs: -1`, `ingressConnectionEstablishmentMaxQueueDepth: -1`,
		`ingressConnectionEstablishmentRateLimiterBypass: {ranges: [1]}`, `ingressConnectionEstablishmentRateLimiterBypass: {range: []}`,
	} {
		if r := h.Admin(`{setParameter: 1, ` + bad + `}`); r.Lookup("ok").Truthy() {
			t.Errorf("%s: %s", bad, r)
		}
	}
	if got := must(h, `{serverStatus: 1}`).Lookup("queues").Doc().Lookup("ingressSessionEstablishment").Doc().Lookup("totalAvailableTokens").AsDouble(); got != 100 {
		t.Errorf("%v tokens, want 10 a second for 10 seconds", got)
	}
}

// TestBypassedConnections: addresses in a range, the IPv4 ones also as a
// socket for both families names them, and sockets by their path.
func TestBypassedConnections(t *testing.T) {
	h := harness.New(t)
	must(h, `{setParameter: 1, ingressConnectionEstablishmentRateLimiterEnabled: true, ingressConnectionEstablishmentRatePerSec: 1, ingressConnectionEstablishmentBurstCapacitySecs: 0.001,
		ingressConnectionEstablishmentRateLimiterBypass: {ranges: ["10.1.0.0/16", "fe80::/10", "/tmp/d.sock"]}}`)
	for _, tc := range []struct {
		remote, local string
		admitted      bool
	}{
		{"10.1.2.3:4", "10.1.0.1:27017", true},
		{"[::ffff:10.1.2.3]:4", "10.1.0.1:27017", true},
		{"[fe80::1]:4", "[fe80::2]:27017", true},
		{"@", "/tmp/d.sock", true},
		{"@", "/tmp/e.sock", false},
		{"10.2.2.3:4", "10.1.0.1:27017", false},
	} {
		err := h.Svc.AdmitConnection(context.Background(), &kernel.Conn{Endpoint: kernel.Endpoint{Remote: tc.remote, Local: tc.local}})
		if (err == nil) != tc.admitted {
			t.Errorf("%s: %v", tc.remote, err)
		}
	}
}
