package changestream_test

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// slowCommit is an engine whose next update waits before it commits.
type slowCommit struct {
	storage.Engine
	hold            bool
	ready, released chan struct{}
}

func (e *slowCommit) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.Engine.Update(ctx, func(tx storage.Tx) error {
		err := fn(tx)
		if e.hold {
			e.hold = false
			close(e.ready)
			<-e.released
		}
		return err
	})
}

// A stream that is opened between a write's entry in the log and its commit gets the
// event of that write, although the write has not seen the stream.
func TestOpenedBesideACommit(t *testing.T) {
	manual := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	inner, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	engine := &slowCommit{Engine: inner, ready: make(chan struct{}), released: make(chan struct{})}
	h := harness.NewOver(t, engine, manual, kernel.Options{Log: zerolog.Nop()})
	h.OK(`{insert: "c", documents: [{_id: 0}]}`)
	open := `{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`
	first := h.OK(open).Lookup("cursor").Doc().Lookup("id")
	h.OK(`{killCursors: "c", cursors: [{"$numberLong": "` + first.String() + `"}]}`)

	engine.hold = true
	done := make(chan struct{})
	conn := h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")
	go func() {
		defer close(done)
		harness.Answer(h.Svc, context.Background(), conn, &kernel.Request{Body: harness.Relaxed(`{insert: "c", documents: [{_id: 1}, {_id: 2}], $db: "test"}`)}, nil)
	}()
	<-engine.ready
	id := h.OK(open).Lookup("cursor").Doc().Lookup("id").String()
	close(engine.released)
	<-done
	reply := h.OK(`{getMore: {"$numberLong": "` + id + `"}, collection: "c"}`)
	if got := reply.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len(); got != 2 {
		t.Errorf("%d events, want 2: %s", got, reply)
	}
}
