package oplog_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestLogWakesItsTrimmer writes more than the maximum size of the log: the trimmer is
// woken, and trims the log to its maximum size.
func TestLogWakesItsTrimmer(t *testing.T) {
	h := harness.New(t)
	l := h.Svc.Oplog
	l.Limit.Store(64 << 10)
	for i := range 200 {
		h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d, "text": "%01000d"}]}`, i, i))
	}
	select {
	case <-l.Full:
	default:
		t.Fatal("nobody was told that the log is full")
	}
	if err := l.Trim(context.Background()); err != nil {
		t.Fatal(err)
	}
	err := h.Svc.Engine.View(context.Background(), func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Namespace)
		if err == nil && storagetest.Got(coll.Size()) > l.Limit.Load() {
			t.Errorf("the log has %d bytes, bound %d", storagetest.Got(coll.Size()), l.Limit.Load())
		}
		if err == nil && storagetest.Got(coll.Count()) == 0 {
			t.Error("the log is empty")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A log that no client has read is kept small; once a client has read it in any way, it
// has its full size, also after a restart.
func TestLogGrowsOnceItIsRead(t *testing.T) {
	for name, read := range map[string]func(*harness.Harness){
		"change stream": func(h *harness.Harness) {
			h.OK(`{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
		},
		"find": func(h *harness.Harness) { h.RunOn("local", value.MustJSON(`{"find": "oplog.rs", "limit": 1}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			l := h.Svc.Oplog
			if got := l.Bound(); got != oplog.UnreadBytes {
				t.Errorf("bound %d at first", got)
			}
			h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
			read(h)
			if got := l.Bound(); got != oplog.DefaultBytes {
				t.Errorf("bound %d after it was read", got)
			}
			h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`)
			again := oplog.New(h.Svc.OplogConfig())
			if err := again.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := again.Bound(); got != oplog.DefaultBytes {
				t.Errorf("bound %d after a restart", got)
			}
		})
	}
}
