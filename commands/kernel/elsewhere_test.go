package kernel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// newsEngine is an engine whose data another server has, too.
type newsEngine struct {
	storage.Engine
	news  chan struct{}
	fails atomic.Int32 // Views that fail
}

func (e *newsEngine) Changes() <-chan struct{} { return e.news }

func (e *newsEngine) View(ctx context.Context, fn func(storage.Tx) error) error {
	if e.fails.Load() > 0 {
		e.fails.Add(-1)
		return errors.New("out of reach")
	}
	return e.Engine.View(ctx, fn)
}

// News that could not be read at first wakes the streams that it concerns once it can be
// read, although no further news comes.
func TestNewsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: bunt.Memory, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	e := &newsEngine{Engine: engine, news: make(chan struct{}, 1)}
	h := harness.NewOver(t, e, manual, kernel.Options{Log: zerolog.Nop()})
	other := harness.NewOver(t, engine, manual, kernel.Options{Log: zerolog.Nop()})
	other.OK(`{create: "c"}`)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { h.Svc.Follow(ctx); close(done) }()
	defer func() { stop(); <-done }()

	w := h.Svc.Oplog.Join(storage.Namespace{DB: "test", Coll: "c"}, oplog.Interest{})
	woken := w.Wait()
	e.fails.Store(3)
	other.OK(`{insert: "c", documents: [{}]}`)
	e.news <- struct{}{}
	select {
	case <-woken:
	case <-time.After(20 * time.Second):
		t.Error("the streams are not woken")
	}
}
