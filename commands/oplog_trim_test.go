package commands

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
)

// TestLogWakesItsTrimmer writes more than the log may hold: the trimmer is
// asked for, and brings it back within its bound.
func TestLogWakesItsTrimmer(t *testing.T) {
	h := newHarness(t)
	l := h.svc.oplog
	l.limit = 64 << 10
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
		if err == nil && coll.Size() > l.limit {
			t.Errorf("the log has %d bytes, bound %d", coll.Size(), l.limit)
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
