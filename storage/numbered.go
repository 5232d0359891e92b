package storage

import (
	"context"
	"errors"
)

// ErrNoSnapshot says that no server keeps the snapshot with a number any more.
var ErrNoSnapshot = errors.New("no server has the snapshot")

// SnapshotNumberer is an engine of several servers, each of which can read the
// snapshots of the others.
type SnapshotNumberer interface {
	// BeginNumbered is Begin for a transaction that reads only. Other servers may read its
	// state, too, as long as it is open: it has the first number that next returns, once the
	// state is chosen, and that no other one has.
	BeginNumbered(ctx context.Context, next func() uint64) (t Txn, number uint64, err error)
	// BeginAt opens another transaction on the state with a number, ErrNoSnapshot if there is
	// none. From then on it does not need the first one.
	BeginAt(ctx context.Context, number uint64) (Txn, error)
}
