package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

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
