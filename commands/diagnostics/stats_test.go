package diagnostics_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Where there are views, mongod keeps them in a collection of their own,
// which dbStats counts with its index and its documents.
func TestDBStatsCountsSystemViews(t *testing.T) {
	h := harness.New(t)
	check := func(collections, views, objects, indexes int32) {
		t.Helper()
		r := h.OK(`{dbStats: 1}`)
		for name, want := range map[string]int32{"collections": collections, "views": views, "objects": objects, "indexes": indexes} {
			if got := int32(r.Lookup(name).SafeInt64()); got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		}
	}
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	check(1, 0, 1, 1)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	check(2, 1, 2, 2)
}

// A hello that waits for a change of the topology holds no lock, so it is not an active
// reader.
func TestActiveClients(t *testing.T) {
	h := harness.New(t)
	body := harness.Relaxed(`{hello: 1}`)
	for _, name := range []string{"hello", "find", "insert"} {
		h.Svc.Ops.Add(&kernel.Operation{Name: name, Body: body})
	}
	r := h.OK(`{serverStatus: 1}`).Lookup("globalLock").Doc().Lookup("activeClients").Doc()
	// find, and serverStatus itself; insert.
	if r.String() != harness.Relaxed(`{total: 3, readers: 2, writers: 1}`).String() {
		t.Errorf("active clients: %s", r)
	}
}

// The numbers of connections are ints, as mongod's: libmongoc's tests read
// totalCreated as one.
func TestConnectionNumbersAreInts(t *testing.T) {
	h := harness.New(t)
	d := h.OK(`{serverStatus: 1}`).Lookup("connections").Doc()
	for _, name := range []string{"current", "available", "totalCreated", "rejected", "active"} {
		if v := d.Lookup(name); v.Kind() != value.KindInt32 {
			t.Errorf("%s is a %s", name, v.Kind())
		}
	}
}
