package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Cursors are counted, described, and closed by their owners or when they are idle.
func TestRegistryOfCursors(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}]}`)
	open := func(options string) int64 {
		return h.OK(`{find: "c", batchSize: 1` + options + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
	}
	first, forever := open(""), open(", noCursorTimeout: true")
	count := func(open, noTimeout, total, timedOut int64) {
		t.Helper()
		gotOpen, gotForever, pinned, gotTotal, gotTimedOut := h.Svc.Cursors.Count()
		if gotOpen != open || gotForever != noTimeout || pinned != 0 || gotTotal != total || gotTimedOut != timedOut {
			t.Errorf("open %d, without time-out %d, pinned %d, total %d, timed out %d", gotOpen, gotForever, pinned, gotTotal, gotTimedOut)
		}
	}
	count(2, 1, 2, 0)
	h.Svc.Cursors.Expire(h.Svc.Real.Now(), time.Hour)
	count(2, 1, 2, 0)
	h.Svc.Cursors.Expire(h.Svc.Real.Now().Add(2*time.Hour), time.Hour)
	count(1, 1, 2, 1)
	more := `{getMore: {$numberLong: "%d"}, collection: "c"}`
	h.Fails(43, fmt.Sprintf(more, first)) // CursorNotFound
	if !h.Svc.Cursors.Interrupt(forever) || h.Svc.Cursors.Kill(forever) {
		t.Error("a cursor is killed once")
	}
	h.Fails(43, fmt.Sprintf(more, forever))
	open("")
	h.Svc.Cursors.CloseAll()
	count(0, 0, 3, 1)
	h.Svc.Cursors.Limit = 0
	h.Fails(146, `{find: "c", batchSize: 1}`) // ExceededMemoryLimit
}
