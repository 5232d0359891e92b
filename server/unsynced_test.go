package server

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestUnsynced: a write whose sync fails is applied, and answered with a
// writeConcernError; it is visible at once, and after a restart. The server recovers by
// itself.
func TestUnsynced(t *testing.T) {
	dir, fail := t.TempDir(), new(atomic.Bool)
	cfg := Config{DBPath: dir, fault: func(step, _ string) error {
		if step == "sync" && fail.CompareAndSwap(true, false) {
			return syscall.EIO
		}
		return nil
	}}
	s := serveConfig(t, cfg)
	c := dial(t, s)
	add := value.MustJSON(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}], "$db": "test", "writeConcern": {"w": "majority"}}`)
	c.ok(t, add)
	fail.Store(true)
	reply := c.ok(t, add)
	if reply.Lookup("nModified").Int32() != 1 || !reply.Has("writeConcernError") {
		t.Errorf("answered %s", reply)
	}
	n := int32(2)
	for range 1_000_000 { // until the log is written anew
		m, err := c.RoundTrip(add)
		if err != nil {
			t.Fatal(err)
		}
		if m.Body.Has("writeErrors") {
			continue // refused, and not made
		}
		n++
		if !m.Body.Has("writeConcernError") {
			break
		}
	}
	find := value.MustJSON(`{"find": "c", "$db": "test"}`)
	for range 2 {
		docs := c.ok(t, find).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
		if got := docs.Index(0).Doc().Lookup("n").Int32(); got != n {
			t.Errorf("n is %d, want %d", got, n)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s = serveConfig(t, cfg)
		c = dial(t, s)
	}
}
