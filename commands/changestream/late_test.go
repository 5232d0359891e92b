package changestream_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// lateEngine shows entries of the change log after the next update has run, as an engine
// does that runs updates while the commits of earlier ones are being written.
type lateEngine struct {
	storage.Engine
	upTo atomic.Int64 // the newest entry that a View shows; 0: all
}

func (e *lateEngine) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.Engine.View(ctx, func(tx storage.Tx) error { return fn(lateTx{tx, storage.RecordID(e.upTo.Load())}) })
}

type lateTx struct {
	storage.Tx
	upTo storage.RecordID
}

func (t lateTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	c, err := t.Tx.Collection(ns)
	if err != nil || ns != oplog.Namespace || t.upTo == 0 {
		return c, err
	}
	return lateLog{c, t.upTo}, nil
}

type lateLog struct {
	storage.Collection
	upTo storage.RecordID
}

func (l lateLog) LastID() (storage.RecordID, error) {
	last, err := l.Collection.LastID()
	return min(last, l.upTo), err
}

func (l lateLog) Scan(r storage.Range, fn func(storage.Record) bool) error {
	return l.Collection.Scan(r, func(rec storage.Record) bool { return rec.ID > l.upTo || fn(rec) })
}

// A stream that is opened while several writes are being committed shows all that become
// visible after it was opened, one after the other.
func TestStreamOpenedDuringWrites(t *testing.T) {
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: bunt.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	late := &lateEngine{Engine: engine}
	h := harness.NewOver(t, late, manual, kernel.Options{Log: zerolog.Nop()})
	last := func() (id storage.RecordID) {
		t.Helper()
		err := engine.View(t.Context(), func(tx storage.Tx) error {
			log, err := tx.Collection(oplog.Namespace)
			if err == nil {
				id, err = log.LastID()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	h.OK(`{create: "c"}`)
	for _, others := range []bool{false, true} { // whether a stream on something else is open
		if others {
			h.Watch("other", "{}", "")
		}
		first := last()
		late.upTo.Store(int64(first))
		h.OK(`{insert: "c", documents: [{}]}`)
		second := last()
		h.OK(`{insert: "c", documents: [{}]}`)
		third := last()
		h.OK(`{insert: "c", documents: [{}]}`)
		s := h.Watch("c", "{}", "")
		s.Expect()
		for i, upTo := range []storage.RecordID{second, third, 0} {
			late.upTo.Store(int64(upTo))
			if n := len(s.Events()); n != 1 {
				t.Errorf("other streams %v: after commit %d there are %d events", others, i+1, n)
			}
		}
		h.OK(`{insert: "c", documents: [{}]}`)
		if n := len(s.Events()); n != 1 {
			t.Errorf("other streams %v: %d events after the next write", others, n)
		}
	}
}
