package harness

import (
	"context"
	"errors"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// ErrBroken is the error of reads from a collection that is broken.
var ErrBroken = errors.New("unreadable")

// Breakable is an engine that can make one of its collections unreadable.
type Breakable struct {
	storage.Engine
	Broken storage.Namespace
}

// NewBreakable is a harness over a Breakable.
func NewBreakable(tb testing.TB, o kernel.Options) (*Harness, *Breakable) {
	tb.Helper()
	manual := clock.NewManual(TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		tb.Fatal(err)
	}
	e := &Breakable{Engine: engine}
	o.Log = zerolog.Nop()
	return NewOver(tb, e, manual, o), e
}

// View runs fn without the broken collection.
func (e *Breakable) View(ctx context.Context, fn func(storage.Tx) error) error {
	return e.Engine.View(ctx, func(tx storage.Tx) error { return fn(brokenTx{tx, e.Broken}) })
}

type brokenTx struct {
	storage.Tx
	broken storage.Namespace
}

func (t brokenTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	if ns == t.broken {
		return nil, ErrBroken
	}
	return t.Tx.Collection(ns)
}
