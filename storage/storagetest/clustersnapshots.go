package storagetest

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

var (
	_ storage.SnapshotNumberer = (*Member)(nil)
	_ storage.ReadingTeller    = (*Member)(nil)
)

// numberedState is a state that any member may read.
type numberedState struct {
	spare []storage.Txn // on the same state, for as many members
}

// BeginNumbered is Begin, and opens further transactions for the other members. Nothing is
// committed in between.
func (m *Member) BeginNumbered(ctx context.Context, next func() uint64) (storage.Txn, uint64, error) {
	c := m.cluster
	c.mu.Lock()
	others := len(c.members) - 1
	c.mu.Unlock()
	var list []storage.Txn
	abort := func() {
		for _, t := range list {
			t.Abort()
		}
		list = nil
	}
	err := m.Engine.Update(ctx, func(storage.Tx) error {
		abort() // those of an earlier run
		for range others + 1 {
			t, err := m.Engine.Begin(ctx)
			if err != nil {
				return err
			}
			list = append(list, t)
		}
		return nil
	})
	if err != nil {
		abort()
		return nil, 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	number := next()
	for c.states[number] != nil {
		number = next()
	}
	c.states[number] = &numberedState{spare: list[1:]}
	return &numberedTxn{memberTxn{list[0], m}, number}, number, nil
}

// BeginAt gives the member one of the transactions that were opened for others.
func (m *Member) BeginAt(_ context.Context, number uint64) (storage.Txn, error) {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	s := m.cluster.states[number]
	if s == nil || len(s.spare) == 0 {
		return nil, storage.ErrNoSnapshot
	}
	t := s.spare[0]
	s.spare = s.spare[1:]
	return memberTxn{t, m}, nil
}

// TellReading tells the other members something.
func (m *Member) TellReading(r storage.Reading) {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	for _, other := range m.cluster.members {
		if other != m && other.hear != nil {
			go other.hear(r) // it may be about to tell something itself
		}
	}
}

// HearReadings takes what to do with what other members tell.
func (m *Member) HearReadings(fn func(storage.Reading)) {
	m.cluster.mu.Lock()
	defer m.cluster.mu.Unlock()
	m.hear = fn
}

// numberedTxn is the first transaction on a state.
type numberedTxn struct {
	memberTxn
	number uint64
}

// Abort ends the transaction, and those that nobody has got.
func (t *numberedTxn) Abort() {
	c := t.m.cluster
	c.mu.Lock()
	s := c.states[t.number]
	delete(c.states, t.number)
	c.mu.Unlock()
	if s != nil {
		for _, spare := range s.spare {
			spare.Abort()
		}
	}
	t.memberTxn.Abort()
}

// Commit fails: the transaction reads only.
func (t *numberedTxn) Commit(ctx context.Context) error { return t.CommitWith(ctx, nil) }

// CommitWith fails: the transaction reads only.
func (t *numberedTxn) CommitWith(context.Context, func(storage.Tx) error) error {
	t.Abort()
	return errors.New("a numbered snapshot is only read")
}
