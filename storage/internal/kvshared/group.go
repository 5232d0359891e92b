package kvshared

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// UpdateShared implements storage.Sharer. Its dry runs take unique keys for new: one
// round trip checks the keys of all that commit together.
func (e *Engine) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	m, done, err := e.dryRun(ctx, nil, true, func(t *kv.Tx) error { return fn(t) })
	if err != nil || done {
		return err
	}
	return e.retry(ctx, func() error {
		return e.writer.queue.UpdateWith(ctx, group{e}, m, func(t storage.Tx) error { return t.(*tx).orAgain(fn(t)) })
	})
}

// group is the engine as package share sees it.
type group struct{ e *Engine }

var (
	_ share.Preparing  = group{}
	_ share.Run        = (*tx)(nil)
	_ share.Finisher   = (*tx)(nil)
	_ share.Optimistic = (*tx)(nil)
	_ share.Restarter  = (*tx)(nil)
)

// Writer holds one token: the right to write on this server.
func (j group) Writer() chan struct{} { return j.e.writer.token }

// BeginGroup begins a transaction without knowing what the updates read.
func (j group) BeginGroup(ctx context.Context) (share.Run, error) {
	return j.BeginGroupOf(ctx, nil, true)
}

// BeginGroupOf begins a transaction for updates that have had their dry runs. One that is not
// firm is nil if it is not worth it.
func (j group) BeginGroupOf(ctx context.Context, prepared []any, firm bool) (share.Run, error) {
	if ctx == nil {
		ctx = j.e.life
	}
	if j.e.known.catalog.Load() == nil {
		return nil, storage.ErrClosed
	}
	var list []*readSet
	for _, d := range prepared {
		if m, ok := d.(*readSet); ok {
			list = append(list, m)
		}
	}
	if !firm {
		if t := j.e.beginOptimistic(ctx, list); t != nil {
			return t, nil
		}
		return nil, ErrMoved
	}
	t, err := j.e.beginCommit(ctx, list)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Apart returns false: nothing is gained by committing the updates of a group one
// by one.
func (group) Apart(error) bool { return false }

// Restart begins again under the same lock, with nothing of what was written.
func (t *tx) Restart() share.Run {
	if t.turn == nil || t.turn.Lost() || t.Done {
		return nil
	}
	t.Done = true // the next one releases the state
	t.Scratch.Release()
	next := &tx{engine: t.engine, phase: committing, state: t.state, catalog: t.catalog, turn: t.turn, cached: t.cached, stats: t.stats}
	next.head, _ = t.turn.Head()
	next.Init(t.Ctx, t.Common, t.Start, next)
	next.MakeWritable(t.Scratch)
	return next
}
