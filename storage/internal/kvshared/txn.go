package kvshared

import (
	"context"
	"math/rand/v2"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Begin opens a snapshot transaction.
func (e *Engine) Begin(ctx context.Context) (storage.Txn, error) {
	return e.hold(ctx, func(cat *catalog) (Snapshot, error) { return e.store.Hold(ctx, cat.version) })
}

// BeginNumbered opens a snapshot transaction that other servers may read, too.
func (e *Engine) BeginNumbered(ctx context.Context, next func() uint64) (t storage.Txn, number uint64, err error) {
	t, err = e.hold(ctx, func(cat *catalog) (snap Snapshot, err error) {
		snap, number, err = e.store.HoldNumbered(ctx, cat.version, next)
		return snap, err
	})
	return t, number, err
}

// hold opens a snapshot transaction on a state that the store chooses at once.
func (e *Engine) hold(ctx context.Context, choose func(*catalog) (Snapshot, error)) (storage.Txn, error) {
	var s storage.Txn
	err := e.withCatalog(ctx, func(cat *catalog) (Snapshot, error, error) {
		snap, err := choose(cat)
		if snap == nil {
			return failedState{}, err, nil
		}
		if err != nil {
			snap.Close()
			return snap, err, err
		}
		s = e.newTxn(ctx, cat, snap)
		return snap, nil, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// BeginAt opens a snapshot transaction on the state that a server has numbered. Its
// catalog is often older than the one in memory.
func (e *Engine) BeginAt(ctx context.Context, number uint64) (storage.Txn, error) {
	cat, err := e.known.latest()
	if err != nil {
		return nil, err
	}
	snap, err := e.store.HoldAt(ctx, number)
	if err != nil {
		return nil, err
	}
	if head, _ := snap.Head(); head.Catalog != cat.version {
		if cat, err = e.catalogOf(ctx, snap, cat.root); err != nil {
			snap.Close()
			return nil, err
		}
	}
	return e.newTxn(ctx, cat, snap), nil
}

// TellReading tells the other servers what a session does with a snapshot.
func (e *Engine) TellReading(r storage.Reading) { e.store.TellReading(r) }

// HearReadings makes the engine call fn with what other servers tell.
func (e *Engine) HearReadings(fn func(storage.Reading)) { e.store.HearReadings(fn) }

// catalogOf reads the catalog of a state. What is as it is in memory is shared with that.
func (e *Engine) catalogOf(ctx context.Context, snap Snapshot, known *kv.Root) (*catalog, error) {
	reply, err := snap.Read(ctx, &Request{Catalog: true})
	if err != nil {
		return nil, err
	}
	head, _ := snap.Head()
	r, err := e.changed(known, reply.Catalog)
	return &catalog{root: r, version: head.Catalog}, err
}

// newTxn makes a snapshot transaction on a state.
func (e *Engine) newTxn(ctx context.Context, cat *catalog, snap Snapshot) txn {
	own := &claimSet{store: e.store, txn: rand.Int64() | 1}
	t := e.on(context.WithoutCancel(ctx), remoteState{snap}, &tx{phase: holding, state: snap, catalog: cat, claims: own})
	return txn{t.BeginTxn(), t}
}

// failedState stands for a state that could not be had.
type failedState struct{ Snapshot }

func (failedState) Head() (Head, bool) { return Head{}, false }

func (failedState) Lost() bool { return false }

func (failedState) Moved() bool { return false }
