package server

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// admissions are the counters of serverStatus about connections that the rate
// limiter held up.
func admissions(t *testing.T, c *testClient) (connections, queue value.Doc) {
	t.Helper()
	status := c.ok(t, value.MustJSON(`{"serverStatus": 1, "$db": "admin"}`))
	return status.Lookup("connections").Doc(), status.Lookup("queues").Doc().Lookup("ingressSessionEstablishment").Doc()
}

// limit switches the rate limiter on, with a bucket that never holds a whole
// token: nothing is admitted without a wait.
func limit(t *testing.T, c *testClient, more string) {
	t.Helper()
	c.ok(t, value.MustJSON(`{"setParameter": 1, "ingressConnectionEstablishmentRateLimiterEnabled": true,
		"ingressConnectionEstablishmentBurstCapacitySecs": 0.001, `+more+`, "$db": "admin"}`))
}

// TestConnectionRateRejects: a connection beyond the rate and the queue is
// closed before it is served, unless its address is exempt, and those that are
// open go on.
func TestConnectionRateRejects(t *testing.T) {
	s := serveConfig(t, Config{})
	admin := dial(t, s)
	limit(t, admin, `"ingressConnectionEstablishmentRatePerSec": 1`)
	for range 2 {
		if !closed(dial(t, s)) {
			t.Fatal("a connection beyond the rate was let in")
		}
	}
	connections, queue := admissions(t, admin)
	if n := connections.Lookup("establishmentRateLimit").Doc().Lookup("rejected").Int64(); n != 2 {
		t.Errorf("%d connections were rejected: %s", n, connections)
	}
	if queue.Lookup("attemptedAdmissions").Int64() != 2 || queue.Lookup("rejectedAdmissions").Int64() != 2 || queue.Lookup("successfulAdmissions").Int64() != 0 {
		t.Errorf("queue: %s", queue)
	}

	admin.ok(t, value.MustJSON(`{"setParameter": 1, "ingressConnectionEstablishmentRateLimiterBypass": {"ranges": ["10.0.0.0/8", "127.0.0.1"]}, "$db": "admin"}`))
	dial(t, s).ok(t, pingCommand)
	if connections, _ = admissions(t, admin); connections.Lookup("establishmentRateLimit").Doc().Lookup("exempted").Int64() != 1 {
		t.Errorf("connections: %s", connections)
	}

	admin.ok(t, value.MustJSON(`{"setParameter": 1, "ingressConnectionEstablishmentRateLimiterBypass": {"ranges": []}, "ingressConnectionEstablishmentRateLimiterEnabled": false, "$db": "admin"}`))
	dial(t, s).ok(t, pingCommand)
}

// TestConnectionRateQueues: a connection that finds room in the queue is served when
// there is a token for it.
func TestConnectionRateQueues(t *testing.T) {
	s := serveConfig(t, Config{Parameters: map[string]string{"ingressConnectionEstablishmentMaxQueueDepth": "1"}})
	admin := dial(t, s)
	limit(t, admin, `"ingressConnectionEstablishmentRatePerSec": 100`)
	dial(t, s).ok(t, pingCommand)
	connections, queue := admissions(t, admin)
	if connections.Lookup("queuedForEstablishment").Int64() != 0 {
		t.Errorf("connections: %s", connections)
	}
	for _, name := range []string{"addedToQueue", "removedFromQueue", "successfulAdmissions", "attemptedAdmissions"} {
		if queue.Lookup(name).Int64() != 1 {
			t.Errorf("%s: %s", name, queue)
		}
	}
	if queue.Lookup("averageTimeQueuedMicros").AsDouble() <= 0 {
		t.Errorf("no time was spent in the queue: %s", queue)
	}
}

// TestConnectionRateDisconnect: a client that leaves the queue gives its place
// and its token back.
func TestConnectionRateDisconnect(t *testing.T) {
	s := serveConfig(t, Config{})
	admin := dial(t, s)
	limit(t, admin, `"ingressConnectionEstablishmentRatePerSec": 1, "ingressConnectionEstablishmentMaxQueueDepth": 60`)
	queued := func() int64 {
		connections, _ := admissions(t, admin)
		return connections.Lookup("queuedForEstablishment").Int64()
	}
	var last *testClient
	for range 60 { // the last waits for a minute
		last = dial(t, s)
	}
	waitFor(t, func() bool { return queued() >= 30 })
	_ = last.Close()
	waitFor(t, func() bool {
		connections, _ := admissions(t, admin)
		return connections.Lookup("establishmentRateLimit").Doc().Lookup("interruptedDueToClientDisconnect").Int64() == 1
	})
}
