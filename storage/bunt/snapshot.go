package bunt

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
)

// snapshot is a snapshot transaction. It works like an Update on a private
// fork of the state at its beginning and records its writes; Commit repeats
// them, in an Update, on the latest state.
//
// Ids of records it inserts are provisional: the commit gives them ids in the
// order of commits, so that a reader that follows a collection by id never
// misses a record.
type snapshot struct {
	*tx
	holder claims.Holder
	log    []func(u *tx) error
	final  map[provisional]storage.RecordID // while it commits
}

// provisional is the id of a record inserted in a snapshot transaction.
type provisional struct {
	num uint32
	id  storage.RecordID
}

// Begin opens a snapshot transaction.
func (e *Engine) Begin(ctx context.Context) (storage.Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.root.Load() == nil {
		return nil, storage.ErrClosed
	}
	s := &snapshot{tx: e.newTx(context.WithoutCancel(ctx), new(scratch))}
	s.snap = s
	e.snapshots.Add(1)
	return s, nil
}

// Within sets the context of the operations that follow.
func (s *snapshot) Within(ctx context.Context) { s.ctx = ctx }

// Commit applies the writes. Whatever it returns, the transaction is over.
func (s *snapshot) Commit(ctx context.Context) error { return s.CommitWith(ctx, nil) }

// CommitWith applies the writes and then calls last.
func (s *snapshot) CommitWith(ctx context.Context, last func(storage.Tx) error) error {
	if s.done {
		return storage.ErrClosed
	}
	defer s.Abort()
	if len(s.log) == 0 {
		return nil
	}
	err := s.e.UpdateShared(ctx, func(shared storage.Tx) error {
		u := shared.(*tx)
		u.replays = s
		defer func() { u.replays = nil }() // the next one in the group is another writer
		s.final = nil
		for _, do := range s.log {
			if err := do(u); err != nil {
				return err
			}
		}
		if last != nil {
			return last(u)
		}
		return nil
	})
	return asConflict(err)
}

// asConflict converts an error on the latest state into a conflict, because
// the same operation succeeded in the snapshot.
func asConflict(err error) error {
	var dup *storage.DuplicateKeyError
	if errors.As(err, &dup) ||
		errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrUUIDExists) ||
		errors.Is(err, storage.ErrNoIndex) || errors.Is(err, storage.ErrNoRecord) {
		return errors.Join(storage.ErrConflict, err)
	}
	return err
}

// Abort discards the writes.
func (s *snapshot) Abort() {
	if s.done {
		return
	}
	s.done = true
	s.e.claims.Release(&s.holder)
	s.e.snapshots.Add(-1)
	s.log, s.changes = nil, nil
}

// record stores an operation of a snapshot transaction, for its commit.
func (t *tx) record(do func(u *tx) error) {
	if t.snap != nil {
		t.snap.log = append(t.snap.log, do)
	}
}

func (t *tx) recordInsert(ns storage.Namespace, num uint32, id storage.RecordID, stored string) {
	if s := t.snap; s != nil {
		t.record(func(u *tx) error {
			h := collection{tx: u, ns: ns}
			now, err := h.insert(0, stored)
			if s.final == nil {
				s.final = map[provisional]storage.RecordID{}
			}
			s.final[provisional{num, id}] = now
			return err
		})
	}
}

func (t *tx) recordUpdate(ns storage.Namespace, num uint32, id storage.RecordID, stored string) {
	if s := t.snap; s != nil {
		t.record(func(u *tx) error {
			h := collection{tx: u, ns: ns}
			_, err := h.update(s.finalID(num, id), stored)
			return err
		})
	}
}

func (t *tx) recordDelete(ns storage.Namespace, num uint32, id storage.RecordID) {
	if s := t.snap; s != nil {
		t.record(func(u *tx) error {
			h := collection{tx: u, ns: ns}
			_, err := h.Delete(s.finalID(num, id))
			return err
		})
	}
}

func (s *snapshot) finalID(num uint32, id storage.RecordID) storage.RecordID {
	if now, ok := s.final[provisional{num, id}]; ok {
		return now
	}
	return id
}
