package kernel_test

import (
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
)

// TestMillisAt: a moment of real time is the server's time unless its clock is another one.
func TestMillisAt(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	s := kernel.Runtime{Clock: clock.System()}
	if got := s.MillisAt(at); got != at.UnixMilli() {
		t.Errorf("with the system's clock: %d", got)
	}
	s.Clock = clock.NewManual(time.UnixMilli(5))
	if got := s.MillisAt(at); got != 5 {
		t.Errorf("with a test clock: %d", got)
	}
}

// TestNamesOfReplies: finds by _id name their collection, whatever the one before was about.
func TestNamesOfReplies(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, ns := range []storage.Namespace{{DB: "a", Coll: "c"}, {DB: "a", Coll: "d"}, {DB: "a", Coll: "d"}, {DB: "b", Coll: "d"}, {DB: "a", Coll: "c"}} {
		reply := handle(t.Context(), h.Svc, h.Conn, `{find: "`+ns.Coll+`", filter: {_id: 1}, $db: "`+ns.DB+`"}`)
		if got := reply.Lookup("cursor").Doc().Lookup("ns").Str(); got != ns.String() {
			t.Errorf("the reply names %q, expected %s", got, ns)
		}
	}
}
