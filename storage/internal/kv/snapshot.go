package kv

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
)

// Txn is a snapshot transaction. It works like an Update on a private
// fork of the state at its beginning and records its writes; Commit repeats
// them, in an Update, on the latest state.
//
// Ids of records it inserts are provisional: the commit gives them ids in the
// order of commits, so that a reader that follows a collection by id never
// misses a record.
type Txn struct {
	*Tx
	holder        claims.Holder
	log           []func(u *Tx) error
	ComparesStats bool                               // the commit compares statistics
	final         map[writtenRecord]storage.RecordID // final ids of provisional ones
}

// Begin opens a snapshot transaction.
func (e *Engine) Begin(ctx context.Context) (storage.Txn, error) {
	t, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	t.Ctx = context.WithoutCancel(ctx)
	return t.BeginTxn(), nil
}

// BeginTxn makes a transaction on a state a snapshot transaction.
func (t *Tx) BeginTxn() *Txn {
	s := &Txn{Tx: t.MakeWritable(new(Scratch))}
	t.Txn = s
	t.Common.OpenTxns.Add(1)
	return s
}

// Within sets the context of the operations that follow.
func (s *Txn) Within(ctx context.Context) { s.Ctx = ctx }

// Commit applies the writes. Whatever it returns, the transaction is over.
func (s *Txn) Commit(ctx context.Context) error { return s.CommitWith(ctx, nil) }

// CommitWith applies the writes and then calls last.
func (s *Txn) CommitWith(ctx context.Context, last func(storage.Tx) error) error {
	if s.Done {
		return storage.ErrClosed
	}
	defer s.Abort()
	if len(s.log) == 0 {
		return nil
	}
	s.Ctx = ctx
	err := s.Common.Backend.Update(ctx, s, func(u *Tx) error {
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
	if err == nil {
		return nil
	}
	var dup *storage.DuplicateKeyError
	if errors.As(err, &dup) ||
		errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrUUIDExists) ||
		errors.Is(err, storage.ErrNoIndex) || errors.Is(err, storage.ErrNoRecord) {
		return errors.Join(storage.ErrConflict, err)
	}
	return err
}

// Abort discards the writes.
func (s *Txn) Abort() {
	if s.Done {
		return
	}
	s.End()
	s.Common.Claims.Release(&s.holder)
	if s.Cluster != nil {
		s.Cluster.EndClaims()
	}
	s.Common.OpenTxns.Add(-1)
	s.log, s.Changes, s.Overlay = nil, nil, nil
}

// record stores an operation of a snapshot transaction, for its commit.
func (t *Tx) record(do func(u *Tx) error) {
	if t.Txn != nil {
		t.Txn.log = append(t.Txn.log, do)
	}
}

func (t *Tx) recordInsert(ns storage.Namespace, num uint32, id storage.RecordID, stored []byte) {
	if s := t.Txn; s != nil {
		t.record(func(u *Tx) error {
			h := collection{tx: u, ns: ns}
			now, err := h.insert(stored)
			s.final[writtenRecord{num, id}] = now
			return err
		})
	}
}

func (t *Tx) recordUpdate(ns storage.Namespace, num uint32, id storage.RecordID, stored []byte) {
	if s := t.Txn; s != nil {
		t.record(func(u *Tx) error {
			h := collection{tx: u, ns: ns}
			_, err := h.update(s.finalID(num, id), stored)
			return err
		})
	}
}

func (t *Tx) recordDelete(ns storage.Namespace, num uint32, id storage.RecordID) {
	if s := t.Txn; s != nil {
		t.record(func(u *Tx) error {
			h := collection{tx: u, ns: ns}
			_, err := h.Delete(s.finalID(num, id))
			return err
		})
	}
}

func (s *Txn) finalID(num uint32, id storage.RecordID) storage.RecordID {
	if now, ok := s.final[writtenRecord{num, id}]; ok {
		return now
	}
	return id
}
