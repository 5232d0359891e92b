package commands

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// TestLogWakesItsTrimmer writes more than the log may hold: the trimmer is
// asked for, and brings it back within its bound.
func TestLogWakesItsTrimmer(t *testing.T) {
	h := newHarness(t)
	l := h.svc.oplog
	l.limit.Store(64 << 10)
	for i := range 200 {
		h.ok(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d, "text": "%01000d"}]}`, i, i))
	}
	select {
	case <-l.full:
	default:
		t.Fatal("nobody was told that the log is full")
	}
	if err := l.trim(context.Background()); err != nil {
		t.Fatal(err)
	}
	err := h.svc.engine.View(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(oplogNS)
		if err == nil && coll.Size() > l.limit.Load() {
			t.Errorf("the log has %d bytes, bound %d", coll.Size(), l.limit.Load())
		}
		if err == nil && coll.Count() == 0 {
			t.Error("the log is empty")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A log that nobody reads is kept small; once it is read, by whatever means,
// it keeps what it is meant to, also after a restart.
func TestLogGrowsOnceItIsRead(t *testing.T) {
	for name, read := range map[string]func(*harness){
		"change stream": func(h *harness) { h.ok(`{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {}}`) },
		"find":          func(h *harness) { h.runOn("local", value.MustJSON(`{"find": "oplog.rs", "limit": 1}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			l := h.svc.oplog
			if got := l.bound(); got != unreadOplogBytes {
				t.Errorf("bound %d at first", got)
			}
			h.ok(`{"insert": "c", "documents": [{"_id": 1}]}`)
			read(h)
			if got := l.bound(); got != defaultOplogBytes {
				t.Errorf("bound %d after it was read", got)
			}
			h.ok(`{"insert": "c", "documents": [{"_id": 2}]}`)
			again := newChangeLog(h.svc.logConfig())
			if err := again.open(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := again.bound(); got != defaultOplogBytes {
				t.Errorf("bound %d after a restart", got)
			}
		})
	}
}
