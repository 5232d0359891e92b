package kernel_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// A write without maxTimeMS waits for an open transaction as long as transactions may
// live, and a little longer; then it has a conflict.
func TestConflictWaitEnds(t *testing.T) {
	harness.SkipHostile(t, "a conflict waits for the clock of the test")
	t.Parallel()
	h := harness.New(t)
	real := clock.NewManual(harness.TestStart)
	h.Svc.Real = real
	h.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
	h.OK(harness.InTxnArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`, 1, true))
	done := make(chan value.Doc, 1)
	go func() { done <- h.Run(`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {n: 10}}}]}`) }()
	var reply value.Doc
	for reply == nil {
		select {
		case reply = <-done:
			continue
		default:
		}
		if err := real.Advance(10 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	code := reply.Lookup("code").Int32()
	if e := reply.Lookup("writeErrors").Doc().Index(0); !e.IsMissing() {
		code = e.Doc().Lookup("code").Int32()
	}
	const lifetime = 60 * time.Second // transactionLifetimeLimitSeconds
	if waited := real.Now().Sub(harness.TestStart); code != 112 || waited < lifetime {
		t.Errorf("after %v the write answered %s", waited, reply)
	}
}
