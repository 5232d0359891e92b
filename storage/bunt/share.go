package bunt

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// UpdateShared implements storage.Sharer. The goroutine that gets the write
// lock runs all waiting updates, including its own, on one copy of the state
// and writes them to the log as one group.
func (e *Engine) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	return e.shared.Update(ctx, sharing{e}, fn)
}

// sharing is the engine as package share sees it.
type sharing struct{ e *Engine }

// Writer holds one token: the write lock.
func (s sharing) Writer() chan struct{} { return s.e.writer }

// BeginGroup begins a transaction for updates that share a commit.
func (s sharing) BeginGroup(ctx context.Context) (share.Run, error) {
	if s.e.root.Load() == nil {
		return nil, storage.ErrClosed
	}
	if ctx == nil {
		ctx = s.e.life
	}
	return s.e.newTx(ctx, &s.e.scratch), nil
}

// Apart returns true for a full disk: updates that free space may succeed.
func (s sharing) Apart(err error) bool { return noSpace(err) }

var _ share.Run = (*tx)(nil)

// Touched is the number of attempts to write.
func (t *tx) Touched() int { return t.touched }

// Commit commits the transaction. The caller holds the write lock.
func (t *tx) Commit() error { return t.e.commit(t) }

// End makes the transaction unusable.
func (t *tx) End() { t.done = true }
