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
		return e.queue.UpdateWith(ctx, joint{e}, m, func(t storage.Tx) error { return t.(*tx).sound(fn(t)) })
	})
}

// joint is the engine as package share sees it.
type joint struct{ e *Shared }

var _ share.Informed = joint{}

// Writer holds one token: the right to write on this server.
func (j joint) Writer() chan struct{} { return j.e.writer }

// BeginGroup begins a transaction without knowing what the updates read.
func (j joint) BeginGroup(ctx context.Context) (share.Run, error) { return j.BeginGroupOf(ctx, nil) }

// BeginGroupOf begins a transaction for updates that have been drafted.
func (j joint) BeginGroupOf(ctx context.Context, drafts []any) (share.Run, error) {
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
	t, err := j.e.beginCommit(ctx, list)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Apart returns false: nothing is gained by committing the updates of a group one
// by one.
func (joint) Apart(error) bool { return false }
