package commands

import (
	"testing"
)

// currentOp says that the server is locked, as fsync.js of MongoDB's tests
// expects.
func TestCurrentOpTellsOfTheLock(t *testing.T) {
	h := newHarness(t)
	locked := func() bool { return h.admin(`{currentOp: 1}`).Lookup("fsyncLock").Truthy() }
	if locked() {
		t.Error("before the lock")
	}
	h.admin(`{fsync: 1, lock: true}`)
	reply := h.admin(`{currentOp: 1}`)
	if reply.Lookup("info").Str() != "use db.fsyncUnlock() to terminate the fsync write/snapshot lock" || !locked() {
		t.Errorf("answered %s", reply)
	}
	h.admin(`{fsyncUnlock: 1}`)
	if locked() {
		t.Error("behind the lock")
	}
}
