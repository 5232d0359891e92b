package kv

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
	exact  bool                               // the commit compares statistics
	final  map[writtenRecord]storage.RecordID // of provisional ids
}

// Begin opens a snapshot transaction.
func (e *Engine) Begin(ctx context.Context) (storage.Txn, error) {
	t, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	t.ctx = context.WithoutCancel(ctx)
	return t.snapshot(), nil
}

// snapshot makes a transaction on a state a snapshot transaction.
func (t *tx) snapshot() *snapshot {
	s := &snapshot{tx: t.write(new(scratch))}
	t.snap = s
	t.e.snapshots.Add(1)
	return s
}

// Within sets the context of the operations that follow.
func (s *snapshot) Within(ctx context.Context) { s.tx.ctx = ctx }

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
	s.tx.ctx = ctx
	err := s.e.host.Update(ctx, s, func(u *tx) error {
		s.final = make(map[writtenRecord]storage.RecordID)
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
	s.End()
	s.e.claims.Release(&s.holder)
	if s.cluster != nil {
		s.cluster.EndClaims()
	}
	s.e.snapshots.Add(-1)
	s.log, s.changes, s.over = nil, nil, nil
}

// record stores an operation of a snapshot transaction, for its commit.
func (t *tx) record(do func(u *tx) error) {
	if t.snap != nil {
		t.snap.log = append(t.snap.log, do)
	}
}

func (t *tx) recordInsert(ns storage.Namespace, num uint32, id storage.RecordID, stored []byte) {
	if s := t.snap; s != nil {
		t.record(func(u *tx) error {
			h := collection{tx: u, ns: ns}
			now, err := h.insert(stored)
			s.final[writtenRecord{num, id}] = now
			return err
		})
	}
}

func (t *tx) recordUpdate(ns storage.Namespace, num uint32, id storage.RecordID, stored []byte) {
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
	if now, ok := s.final[writtenRecord{num, id}]; ok {
		return now
	}
	return id
}
