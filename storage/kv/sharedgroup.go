package kv

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// UpdateShared implements storage.Sharer. Its drafts take unique keys for new: one
// round trip checks the keys of all that commit together.
func (e *Shared) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	m, done, err := e.draft(ctx, nil, true, func(t *tx) error { return fn(t) })
	if err != nil || done {
		return err
	}
	return e.persist(ctx, func() error {
		return e.queue.UpdateWith(ctx, joint{e}, m, func(t storage.Tx) error { return t.(*dtx).sound(fn(t)) })
	})
}

// joint is the engine as package share sees it.
type joint struct{ e *Shared }

var (
	_ share.Informed  = joint{}
	_ share.Run       = (*dtx)(nil)
	_ share.Settler   = (*dtx)(nil)
	_ share.Tentative = (*dtx)(nil)
	_ share.Restarter = (*dtx)(nil)
)

// Writer holds one token: the right to write on this server.
func (j joint) Writer() chan struct{} { return j.e.writer }

// BeginGroup begins a transaction without knowing what the updates read.
func (j joint) BeginGroup(ctx context.Context) (share.Run, error) {
	return j.BeginGroupOf(ctx, nil, true)
}

// BeginGroupOf begins a transaction for updates that have been drafted. One that is not
// firm is nil if it is not worth it.
func (j joint) BeginGroupOf(ctx context.Context, drafts []any, firm bool) (share.Run, error) {
	if ctx == nil {
		ctx = j.e.life
	}
	if j.e.known.Load() == nil {
		return nil, storage.ErrClosed
	}
	var list []*memory
	for _, d := range drafts {
		if m, ok := d.(*memory); ok {
			list = append(list, m)
		}
	}
	if !firm {
		if t := j.e.beginTentative(ctx, list); t != nil {
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
func (joint) Apart(error) bool { return false }

// Restart begins again under the same lock, with nothing of what was written.
func (t *dtx) Restart() share.Run {
	if t.turn == nil || t.turn.Lost() || t.done {
		return nil
	}
	t.done = true // the next one releases the state
	t.scratch.release()
	next := &dtx{engine: t.engine, phase: committing, from: t.from, cat: t.cat, turn: t.turn, known: t.known, stats: t.stats}
	next.head, _ = t.turn.Head()
	next.tx.on(t.ctx, t.e, t.base, next)
	next.write(t.scratch)
	return next
}
