package kv

import (
	"context"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
)

// core is what transactions need of their engine, whatever the engine's store is.
type core struct {
	opts     Options
	host     Backend
	hot      *hot
	claims   claims.Table
	prepared preparations

	versions  atomic.Uint64 // of descriptions of collections
	commits   atomic.Int64
	times     storage.Durations // of commits
	snapshots atomic.Int64
}

// Backend is the part in which engines differ.
type Backend interface {
	// Latest returns the latest state, which must be released.
	Latest() (*state, error)
	// Number gives a transaction the number of a new collection or index.
	Number(t *tx) uint32
	// NextStamp gives an Update a stamp that is not below min.
	NextStamp(t *tx, min uint64) (uint64, error)
	// Commit applies the writes of an Update, and Settle waits until they are safe.
	Commit(t *tx) error
	Settle(t *tx) error
	// Update runs fn in an Update, which commits a snapshot transaction.
	Update(ctx context.Context, replays *snapshot, fn func(*tx) error) error
}

// attach completes a new description.
func (e *core) attach(info *storage.Info) {
	info.Version = e.versions.Add(1)
	info.Meta = e.opts.Indexer.Attach(info)
}

// takeTurn takes the token that is the right to write, unless the engine is closed.
func takeTurn(ctx context.Context, writer <-chan struct{}, open func() bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !open() {
		return storage.ErrClosed
	}
	select {
	case <-writer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
