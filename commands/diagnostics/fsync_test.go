package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// currentOp says that the server is locked, as fsync.js of MongoDB's tests
// expects.
func TestCurrentOpTellsOfTheLock(t *testing.T) {
	h := harness.New(t)
	locked := func() bool { return h.Admin(`{currentOp: 1}`).Lookup("fsyncLock").Truthy() }
	if locked() {
		t.Error("before the lock")
	}
	h.Admin(`{fsync: 1, lock: true}`)
	reply := h.Admin(`{currentOp: 1}`)
	if reply.Lookup("info").Str() != "use db.fsyncUnlock() to terminate the fsync write/snapshot lock" || !locked() {
		t.Errorf("answered %s", reply)
	}
	h.Admin(`{fsyncUnlock: 1}`)
	if locked() {
		t.Error("behind the lock")
	}
}
