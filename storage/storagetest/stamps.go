package storagetest

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func (s *session) stamp(n storage.Namespace) uint64 {
	s.Helper()
	stamp, err := s.Stamp(n)
	if err != nil {
		s.Fatal(err)
	}
	return stamp
}

// testStamps: a stamp changes with every committed change of its collection, and with
// nothing else.
func testStamps(t *testing.T, open Opener) {
	s := start(t, open)
	other, moved := ns("db", "other"), ns("db", "moved")
	equal(t, "no collection", s.stamp(NS), 0)
	insert := func(n storage.Namespace) func(storage.Tx) error {
		return func(tx storage.Tx) error {
			c, err := tx.Collection(n)
			if err == nil {
				_, err = c.Insert(value.NewDoc("_id", value.Int32(int32(Got(c.LastID())))), 1)
			}
			return err
		}
	}
	inNS := func(do func(storage.Collection) error) func(storage.Tx) error {
		return func(tx storage.Tx) error {
			c, err := tx.Collection(NS)
			if err == nil {
				err = do(c)
			}
			return err
		}
	}
	changes := []struct {
		name string
		do   func(storage.Tx) error
	}{
		{"create", func(tx storage.Tx) error { _, err := tx.Create(NS, nil, nil); return err }},
		{"insert", insert(NS)},
		{"insert again", insert(NS)},
		{"update", inNS(func(c storage.Collection) error { return Done(c.Update(1, value.NewDoc("_id", value.Int32(7)), 2)) })},
		{"delete", inNS(func(c storage.Collection) error { return Done(c.Delete(1)) })},
		{"truncate", inNS(storage.Collection.Truncate)},
		{"options", func(tx storage.Tx) error { return tx.SetOptions(NS, value.NewDoc("a", value.Int32(1))) }},
		{"create index", func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("a")) }},
		{"drop index", func(tx storage.Tx) error { return tx.DropIndex(NS, "a") }},
		{"drop and create", func(tx storage.Tx) error {
			if err := tx.Drop(NS); err != nil {
				return err
			}
			_, err := tx.Create(NS, nil, nil)
			return err
		}},
		{"rename", func(tx storage.Tx) error { return tx.Rename(NS, moved) }},
		{"rename back", func(tx storage.Tx) error { return tx.Rename(moved, NS) }},
	}
	s.update(func(tx storage.Tx) error { _, err := tx.Create(other, nil, nil); return err })
	seen, beside := map[uint64]string{0: "no collection"}, s.stamp(other)
	for _, c := range changes {
		s.update(c.do)
		now := s.stamp(NS)
		if c.name == "rename" {
			equal(t, "renamed away", now, 0)
			continue
		}
		if before, ok := seen[now]; ok {
			t.Errorf("%s: the stamp %d is that of %q", c.name, now, before)
		}
		seen[now] = c.name
		equal(t, c.name+": another collection", s.stamp(other), beside)
	}
	testUnchangedStamps(t, s, insert)
	s.reopen()
	if s.stamp(NS) == 0 || s.stamp(other) == 0 {
		t.Error("a collection that was loaded has the stamp of none")
	}
	loaded := s.stamp(NS)
	s.update(insert(NS))
	if s.stamp(NS) == loaded {
		t.Error("the stamp of a collection that was loaded does not change")
	}
	_ = s.Close()
	if _, err := s.Stamp(NS); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// testUnchangedStamps: what is not committed changes no stamp; what a
// transaction commits does.
func testUnchangedStamps(t *testing.T, s *session, insert func(storage.Namespace) func(storage.Tx) error) {
	before := s.stamp(NS)
	failed := errors.New("failed")
	err := s.Update(ctx, func(tx storage.Tx) error {
		if err := insert(NS)(tx); err != nil {
			return err
		}
		equal(t, "while an update runs", s.stamp(NS), before)
		return failed
	})
	s.wantErr(err, failed)
	equal(t, "after a failed update", s.stamp(NS), before)
	txn, err := s.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer txn.Abort()
	if err := insert(NS)(txn); err != nil {
		t.Fatal(err)
	}
	equal(t, "while a transaction is open", s.stamp(NS), before)
	if err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if s.stamp(NS) == before {
		t.Error("the commit of a transaction leaves the stamp")
	}
}
