package commands

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// A queue that nobody uses goes for that reason.
func TestStreamOfIdleQueue(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "q", "messageQueue": {"autoDeleteOnIdle": 300}}`)
	s := h.watch("", `{"showExpandedEvents": true}`, `, {"$match": {"operationType": "drop"}}`)
	h.ok(`{"mqSend": "q", "messages": [{"_id": 1}]}`)
	h.pass(600)
	events := s.events()
	if len(events) != 2 {
		t.Fatalf("events %v", events)
	}
	want := value.MustJSON(`{"policy": "messageQueue", "dueAt": {"$date": "2026-01-01T00:05:00Z"}, "removedAt": {"$date": "2026-01-01T00:10:00Z"}, "cause": "idle"}`).JSON()
	if got := events[0].Lookup("expiration").Doc().JSON(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A message that could not be consumed goes because of that; one that a
// receiver completes goes because the receiver wants it.
func TestStreamOfDeliveries(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "q", "messageQueue": {"maxDeliveryCount": 1}}`)
	s := h.watch("q", `{"showExpandedEvents": true}`, `, {"$match": {"operationType": "delete"}}`)
	h.ok(`{"mqSend": "q", "messages": [{"_id": 1}, {"_id": 2}]}`)
	for _, end := range []string{"mqAbandon", "mqComplete"} {
		m := h.ok(`{"mqReceive": "q", "mode": "peekLock"}`).Lookup("messages").Doc().Index(0).Doc()
		h.ok(`{"` + end + `": "q", "lockToken": ` + m.Lookup("_mq").Doc().Lookup("lockToken").JSON() + `}`)
	}
	events := s.events()
	if len(events) != 2 || events[0].Lookup("expiration").Doc().Lookup("cause").Str() != "deadLettered" || events[1].Has("expiration") {
		t.Errorf("events %v", events)
	}
}

// pass moves the clock and has what is due removed.
func (h *harness) pass(seconds int64) {
	h.Helper()
	h.advance(seconds)
	if r := h.admin(`{"runExpirationPass": 1}`); !r.Lookup("ok").Truthy() {
		h.Fatal(r)
	}
}

// advance moves the clock.
func (h *harness) advance(seconds int64) {
	h.Helper()
	if err := h.clock.Advance(time.Duration(seconds) * time.Second); err != nil {
		h.Fatal(err)
	}
}
