package kernel_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/value"
)

// The client metadata is a copy of the first hello's: it does not change when the memory
// of the message is reused.
func TestClientOfConnection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	c := h.Svc.NewConn("10.0.0.1:5", "127.0.0.1:27017")
	if c.ID == h.Conn.ID {
		t.Errorf("two connections have the id %d", c.ID)
	}
	doc := value.MustJSON(`{"application": {"name": "shop"}, "driver": {"name": "d"}}`)
	c.SetClient(doc)
	clear(doc)
	if d, name := c.ClientInfo(); name != "shop" || d.Lookup("driver").String() != `{ name: "d" }` {
		t.Errorf("%s, %s", d, name)
	}
	c.SetSubject("CN=ann")
	if c.Subject != "CN=ann" {
		t.Errorf("the subject is %s", c.Subject)
	}
	id := c.UUID()
	if subtype, data := id.Binary(); subtype != 4 || len(data) != 16 || !value.Equal(id, c.UUID()) || value.Equal(id, h.Conn.UUID()) {
		t.Errorf("the connection is %s", id)
	}
}

// Commands end when their connection is closed; those of other connections continue.
func TestCloseConn(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	var ended [2]error
	for i := range ended {
		op := &kernel.Operation{Conn: h.Svc.NewConn("a:1", "b:1"), Cancel: func(err error) { ended[i] = err }}
		h.Svc.Ops.Add(op)
		defer h.Svc.Ops.Remove(op)
		if i == 0 {
			defer h.Svc.CloseConn(h.Svc.NewConn("c:1", "b:1"))
			h.Svc.CloseConn(op.Conn)
		}
	}
	if ended[0] == nil || ended[0].Error() != "ClientDisconnect: client disconnected" || ended[1] != nil {
		t.Errorf("the commands ended with %v and %v", ended[0], ended[1])
	}
}

// A limit of new connections, as the parameters ingressConnectionEstablishment* of
// mongod describe it: a burst is accepted at once, the next connection waits, and further
// ones are refused if the queue is full. serverStatus counts them.
func TestAdmitConnection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Svc.Real = clock.NewManual(harness.TestStart)
	ctx, cancel := context.WithCancelCause(t.Context())
	admit := func(remote, local string) error {
		return h.Svc.AdmitConnection(ctx, &kernel.Conn{Endpoint: kernel.Endpoint{Remote: remote, Local: local}})
	}
	const far = "10.2.2.3:4"
	for range 3 {
		if err := admit(far, ""); err != nil {
			t.Errorf("without a limit: %v", err)
		}
	}
	for _, set := range []string{
		limits.EstablishmentEnabled + `: true`, limits.EstablishmentRate + `: 1`, limits.EstablishmentBurst + `: 2`, limits.EstablishmentDepth + `: 1`,
		limits.EstablishmentBypass + `: {ranges: ["10.1.0.0/16", "fe80::/10", "/tmp/d.sock"]}`,
	} {
		if r := h.Admin(`{setParameter: 1, ` + set + `}`); !r.Lookup("ok").Truthy() {
			t.Fatal(r)
		}
	}
	for _, exempt := range [][2]string{{"10.1.2.3:4", ""}, {"[::ffff:10.1.2.3]:4", ""}, {"[fe80::1]:4", ""}, {"@", "/tmp/d.sock"}} {
		if err := admit(exempt[0], exempt[1]); err != nil {
			t.Errorf("%s is not exempt: %v", exempt, err)
		}
	}
	for range 2 {
		if err := admit(far, ""); err != nil {
			t.Errorf("within the burst: %v", err)
		}
	}
	gone := errors.New("gone")
	waiting := make(chan error)
	go func() { waiting <- admit(far, "") }()
	queued := func() int64 {
		return h.Admin(`{serverStatus: 1}`).Lookup("connections").Doc().Lookup("queuedForEstablishment").Int64()
	}
	for queued() == 0 {
		runtime.Gosched()
	}
	if err := admit("@", "/tmp/e.sock"); err == nil {
		t.Error("the queue is full, and one more is admitted")
	}
	cancel(gone)
	if err := <-waiting; !errors.Is(err, gone) {
		t.Errorf("who waited got %v", err)
	}
	status := h.Admin(`{serverStatus: 1}`)
	if got := status.Lookup("connections").Doc().Lookup("establishmentRateLimit").String(); got != `{ rejected: 1, exempted: 4, interruptedDueToClientDisconnect: 0 }` {
		t.Errorf("counted %s", got)
	}
	q := status.Lookup("queues").Doc().Lookup("ingressSessionEstablishment").Doc()
	for name, want := range map[string]int64{"addedToQueue": 1, "removedFromQueue": 1, "interruptedInQueue": 1, "rejectedAdmissions": 1, "exemptedAdmissions": 4, "successfulAdmissions": 2, "attemptedAdmissions": 4} {
		if got := q.Lookup(name).SafeInt64(); got != want {
			t.Errorf("%s is %d, want %d: %s", name, got, want, q)
		}
	}
}
