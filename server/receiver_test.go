package server

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// A waiting receiver whose client has gone takes no message, neither locked nor
// for good: the next one gets it.
func TestReceiverThatHasGone(t *testing.T) {
	for _, mode := range []string{"peekLock", "receiveAndDelete"} {
		s := serveConfig(t, Config{DBPath: t.TempDir()})
		c := dial(t, s)
		run := func(command string) value.Doc { return c.ok(t, value.MustJSON(command)) }
		run(`{"create": "q", "messageQueue": {}, "$db": "test"}`)
		gone := dial(t, s)
		receive := fmt.Sprintf(`{"mqReceive": "q", "mode": %q, "maxWaitTimeMS": 30000, "$db": "test"}`, mode)
		if _, err := gone.Send(0, value.MustJSON(receive)); err != nil {
			t.Fatal(err)
		}
		for waiting := false; !waiting; runtime.Gosched() {
			for op := range run(`{"currentOp": 1, "$db": "admin"}`).Lookup("inprog").Doc().Values() {
				waiting = waiting || op.Doc().Lookup("command").Doc().Has("mqReceive")
			}
		}
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		run(`{"insert": "q", "documents": [{"_id": 1}], "$db": "test"}`)
		got := run(`{"mqReceive": "q", "maxWaitTimeMS": 20000, "$db": "test"}`).Lookup("messages").Doc()
		if got.Len() != 1 || got.Index(0).Doc().Lookup("_mq").Doc().Lookup("deliveryCount").Int32() != 1 {
			t.Errorf("%s: %s", mode, got)
		}
	}
}
