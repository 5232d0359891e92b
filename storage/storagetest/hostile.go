package storagetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/duskdb/duskdb/storage"
)

// Hostility says in which ways an engine that [Hostile] returns uses the freedom that
// the contract leaves. All choices follow from Seed and the order of the calls.
type Hostility struct {
	Seed uint64
	// Gaps leaves out ids between records.
	Gaps bool
	// Reruns runs the function of an Update twice: what it did first is undone. That of
	// a CommitWith runs first without the writes of the transaction.
	Reruns bool
	// Views runs the function of a View twice: first with an outdated catalog, so that
	// all that it reads beside descriptions fails.
	Views bool
	// Conflicts makes a write within an Update fail with ErrConflict now and then,
	// as if another server had written the record in an open transaction. The
	// next Update has none, so that a second try succeeds.
	Conflicts bool
	// Catalog changes descriptions of collections between transactions, as
	// another server does: they get a new version. It pauses while a snapshot
	// transaction is open, since that would have a conflict.
	Catalog bool
	// Fail is called before each read, and for each record or entry that a scan
	// yields. If it returns an error, the read fails with it.
	Fail func(Read) error
	// Delay is called before each transaction begins.
	Delay func()
}

// Read is a method that reads, by its name.
type Read string

// Hostile returns an engine that behaves as badly as the contract allows, for
// tests that callers rely on nothing more.
func Hostile(e storage.Engine, how Hostility) storage.Engine {
	h := &hostile{Engine: e, how: how, random: rand.New(rand.NewPCG(how.Seed, 1))}
	if local, ok := e.(localEngine); ok {
		return hostileLocal{h, local}
	}
	return h
}

// localEngine is what an engine can do whose data belong to one process.
type localEngine interface {
	storage.Sharer
	storage.IndexPreparer
	storage.Backuper
	storage.ChangeLister
}

type hostileLocal struct {
	*hostile
	local localEngine
}

type hostile struct {
	storage.Engine
	how Hostility

	mu     sync.Mutex // guards random, quiet
	random *rand.Rand
	quiet  bool // the last Update had a conflict

	open    sync.Mutex // guards writers
	writers int        // updates that run and snapshot transactions that are open
}

// chance reports whether something that happens once in n times happens now.
func (h *hostile) chance(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.IntN(n) == 0
}

// enter and leave surround updates and snapshot transactions.
func (h *hostile) enter() {
	h.open.Lock()
	h.writers++
	h.open.Unlock()
}

func (h *hostile) leave() {
	h.open.Lock()
	h.writers--
	h.open.Unlock()
}

// between does what happens before a transaction begins.
func (h *hostile) between(ctx context.Context) {
	if h.how.Delay != nil {
		h.how.Delay()
	}
	if h.how.Catalog && ctx.Err() == nil && h.chance(4) {
		h.changeCatalog(ctx)
	}
}

// changeCatalog gives a collection the options that it has.
func (h *hostile) changeCatalog(ctx context.Context) {
	h.open.Lock()
	defer h.open.Unlock()
	if h.writers > 0 {
		return
	}
	_ = h.Engine.Update(ctx, func(tx storage.Tx) error {
		list, err := tx.Collections("")
		if err != nil || len(list) == 0 {
			return errUndone
		}
		h.mu.Lock()
		info := list[h.random.IntN(len(list))]
		h.mu.Unlock()
		return tx.SetOptions(info.Namespace, info.Options)
	})
}

// errOutdated is the error of reads in a View that will run again.
var errOutdated = errors.New("the catalog is outdated")

// errUndone ends a run whose writes are not to stay.
var errUndone = errors.New("the run is undone")

func (h *hostile) View(ctx context.Context, fn func(storage.Tx) error) error {
	h.between(ctx)
	if h.how.Views && h.chance(2) {
		ran := false
		err := h.Engine.View(ctx, func(tx storage.Tx) error {
			ran = true
			_ = fn(hostileTx{Tx: tx, h: h, outdated: true, use: new(use)})
			return nil
		})
		if !ran || err != nil {
			return err
		}
	}
	return h.Engine.View(ctx, func(tx storage.Tx) error { return fn(hostileTx{Tx: tx, h: h, use: new(use)}) })
}

func (h *hostile) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return h.update(ctx, h.Engine.Update, fn)
}

// UpdateShared is an Update of [storage.Sharer].
func (h hostileLocal) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	return h.update(ctx, h.local.UpdateShared, fn)
}

// PrepareIndex is that of the engine.
func (h hostileLocal) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (func(), error) {
	return h.local.PrepareIndex(ctx, ns, spec)
}

// Backup is that of the engine.
func (h hostileLocal) Backup(ctx context.Context, dir string) (storage.Backup, error) {
	return h.local.Backup(ctx, dir)
}

// Changed is that of the engine.
func (h hostileLocal) Changed(mark uint64) ([]storage.Namespace, bool, uint64) {
	return h.local.Changed(mark)
}

// update runs fn, twice if it is to run again.
func (h *hostile) update(ctx context.Context, update func(context.Context, func(storage.Tx) error) error, fn func(storage.Tx) error) error {
	h.between(ctx)
	if h.how.Reruns && h.chance(2) {
		ran := false
		h.enter()
		err := update(ctx, func(tx storage.Tx) error {
			ran = true
			_ = fn(hostileTx{Tx: tx, h: h, writer: true, use: new(use)})
			return errUndone
		})
		h.leave()
		if !ran || !errors.Is(err, errUndone) {
			return err
		}
		h.between(ctx)
	}
	h.enter()
	defer h.leave()
	conflict := h.conflict()
	return update(ctx, func(tx storage.Tx) error {
		return fn(hostileTx{Tx: tx, h: h, writer: true, conflict: conflict, use: new(use)})
	})
}

// conflict returns a count of the writes until one fails, or nil.
func (h *hostile) conflict() *int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.quiet = h.how.Conflicts && !h.quiet && h.random.IntN(3) == 0; !h.quiet {
		return nil
	}
	n := h.random.IntN(3)
	return &n
}

func (h *hostile) Begin(ctx context.Context) (storage.Txn, error) {
	h.between(ctx)
	h.enter()
	txn, err := h.Engine.Begin(ctx)
	if err != nil {
		h.leave()
		return nil, err
	}
	return &hostileTxn{hostileTx: hostileTx{Tx: txn, h: h, writer: true, use: new(use)}, txn: txn}, nil
}

// hostileTxn is a snapshot transaction.
type hostileTxn struct {
	hostileTx
	txn  storage.Txn
	over sync.Once
}

func (t *hostileTxn) end() { t.over.Do(t.h.leave) }

func (t *hostileTxn) Within(ctx context.Context) { t.txn.Within(ctx) }

func (t *hostileTxn) Commit(ctx context.Context) error { return t.CommitWith(ctx, nil) }

func (t *hostileTxn) CommitWith(ctx context.Context, last func(storage.Tx) error) error {
	defer t.end()
	if last == nil {
		return t.txn.Commit(ctx)
	}
	again := func(tx storage.Tx) error { return last(hostileTx{Tx: tx, h: t.h, writer: true, use: new(use)}) }
	if t.h.how.Reruns && t.use.wrote && t.h.chance(2) {
		_ = t.h.Engine.Update(ctx, func(tx storage.Tx) error { // a commit that has failed
			_ = again(tx)
			return errUndone
		})
	}
	return t.txn.CommitWith(ctx, again)
}

func (t *hostileTxn) Abort() {
	defer t.end()
	t.txn.Abort()
}
