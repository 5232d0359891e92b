package kv

import (
	"context"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
)

// Common is what transactions need of their engine, whatever the engine's store is.
type Common struct {
	Options  Options
	Backend  Backend
	Claims   claims.Table // the claims of snapshot transactions of this process
	cache    *valueCache  // nil if single reads are not kept
	prepared preparations
	resident bool // the store has its data in memory

	Versions    atomic.Uint64 // the last version of a description
	Commits     atomic.Int64
	CommitTimes storage.Durations
	OpenTxns    atomic.Int64 // the number of open snapshot transactions
}

// Backend is the part in which engines differ.
type Backend interface {
	// Latest returns the latest state, which must be released.
	Latest() (*State, error)
	// Number gives a transaction the number of a new collection or index.
	Number(t *Tx) uint32
	// NextStamp gives an Update a stamp that is not below min.
	NextStamp(t *Tx, min uint64) (uint64, error)
	// Commit applies the writes of an Update, and Finish waits until they are safe.
	Commit(t *Tx) error
	Finish(t *Tx) error
	// Update runs fn in an Update, which commits a snapshot transaction.
	Update(ctx context.Context, replays *Txn, fn func(*Tx) error) error
}

// attach completes a new description.
func (e *Common) attach(info *storage.Info) {
	info.Version = e.Versions.Add(1)
	info.Meta = e.Options.Indexer.Attach(info)
}

// TakeWriter takes the token that is the right to write, unless the engine is closed.
func TakeWriter(ctx context.Context, writer <-chan struct{}, open func() bool) error {
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
