package changestream_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// An idle queue is dropped with the cause that it was idle.
func TestStreamOfIdleQueue(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {"autoDeleteOnIdle": 300}}`)
	s := h.Watch("", `{"showExpandedEvents": true}`, `, {"$match": {"operationType": "drop"}}`)
	h.OK(`{"mqSend": "q", "messages": [{"_id": 1}]}`)
	h.Pass(600)
	events := s.Events()
	if len(events) != 2 {
		t.Fatalf("events %v", events)
	}
	want := value.MustJSON(`{"policy": "messageQueue", "dueAt": {"$date": "2026-01-01T00:05:00Z"}, "removedAt": {"$date": "2026-01-01T00:10:00Z"}, "cause": "idle"}`).JSON()
	if got := events[0].Lookup("expiration").Doc().JSON(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The removal of a message that could not be consumed has that cause; the removal of a
// completed message has no expiration.
func TestStreamOfDeliveries(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "q", "messageQueue": {"maxDeliveryCount": 1}}`)
	s := h.Watch("q", `{"showExpandedEvents": true}`, `, {"$match": {"operationType": "delete"}}`)
	h.OK(`{"mqSend": "q", "messages": [{"_id": 1}, {"_id": 2}]}`)
	for _, end := range []string{"mqAbandon", "mqComplete"} {
		m := h.OK(`{"mqReceive": "q", "mode": "peekLock"}`).Lookup("messages").Doc().Index(0).Doc()
		h.OK(`{"` + end + `": "q", "lockToken": ` + m.Lookup("_mq").Doc().Lookup("lockToken").JSON() + `}`)
	}
	events := s.Events()
	if len(events) != 2 || events[0].Lookup("expiration").Doc().Lookup("cause").Str() != "deadLettered" || events[1].Has("expiration") {
		t.Errorf("events %v", events)
	}
}
