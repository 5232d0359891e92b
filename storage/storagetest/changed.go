package storagetest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// notes asks a [storage.ChangeLister] what has changed since it was asked last.
type notes struct {
	*session
	lister storage.ChangeLister
	mark   uint64
}

func (n *notes) take() (names []storage.Namespace, all bool) {
	names, all, n.mark = n.lister.Changed(n.mark)
	return names, all
}

func second[T any](_ T, err error) error { return err }

// changed fails unless a change notes these names, and no other.
func (n *notes) changed(what string, do func(storage.Tx) error, want ...storage.Namespace) {
	n.Helper()
	n.update(do)
	n.wants(what, want...)
}

func (n *notes) wants(what string, want ...storage.Namespace) {
	n.Helper()
	names, all := n.take()
	for _, w := range want {
		if !slices.Contains(names, w) {
			n.Errorf("%s: %s is not among those that have changed, %v", what, w, names)
		}
	}
	for _, name := range names {
		if !slices.Contains(want, name) {
			n.Errorf("%s: %s has changed", what, name)
		}
	}
	if all {
		n.Errorf("%s: everything may have changed", what)
	}
}

// testChanged: an engine that is a [storage.ChangeLister] lists each collection that a commit
// has changed.
func testChanged(t *testing.T, open Opener) {
	s := start(t, open)
	lister, ok := s.Engine.(storage.ChangeLister)
	if !ok {
		t.Skip("the engine is no storage.ChangeLister")
	}
	n := &notes{session: s, lister: lister}
	moved, other := ns("db", "moved"), ns("db", "other")
	s.update(func(tx storage.Tx) error { _, err := tx.Create(other, nil, nil); return err })
	if _, all := n.take(); !all {
		t.Error("the first call does not say that everything may have changed")
	}
	n.wants("nothing")
	in := func(name storage.Namespace, do func(storage.Collection) error) func(storage.Tx) error {
		return func(tx storage.Tx) error {
			c, err := tx.Collection(name)
			if err == nil {
				err = do(c)
			}
			return err
		}
	}
	insert := func(c storage.Collection) error { return second(c.Insert(value.NewDoc("a", value.Int32(1)), 1)) }
	create := func(tx storage.Tx) error { return second(tx.Create(NS, nil, nil)) }
	drop := func(tx storage.Tx) error { return tx.Drop(NS) }
	n.changed("create", create, NS)
	n.changed("insert", in(NS, insert), NS)
	n.changed("update", in(NS, func(c storage.Collection) error { return Done(c.Update(1, value.NewDoc("a", value.Int32(2)), 2)) }), NS)
	n.changed("delete", in(NS, func(c storage.Collection) error { return Done(c.Delete(1)) }), NS)
	n.changed("insert again", in(NS, insert), NS)
	n.changed("delete a range", in(NS, func(c storage.Collection) error {
		return second(c.DeleteRange(&storage.RangeDelete{Pick: func([]byte, storage.Record) (storage.Verdict, error) { return storage.Verdict{Do: storage.Remove}, nil }}))
	}), NS)
	n.changed("truncate", func(tx storage.Tx) error {
		return errors.Join(in(NS, insert)(tx), in(NS, storage.Collection.Truncate)(tx))
	}, NS)
	n.changed("options", func(tx storage.Tx) error { return tx.SetOptions(NS, value.NewDoc("a", value.Int32(1))) }, NS)
	n.changed("create index", func(tx storage.Tx) error { return tx.CreateIndex(NS, Spec("a")) }, NS)
	n.changed("set index", func(tx storage.Tx) error { return tx.SetIndex(NS, Spec("a")) }, NS)
	n.changed("drop index", func(tx storage.Tx) error { return tx.DropIndex(NS, "a") }, NS)
	n.changed("rename", func(tx storage.Tx) error { return tx.Rename(NS, moved) }, NS, moved)
	n.changed("insert under the new name", in(moved, insert), moved)
	n.changed("rename to the name of one that is dropped", func(tx storage.Tx) error {
		return errors.Join(tx.Drop(other), tx.Rename(moved, other))
	}, moved, other)
	n.changed("rename back", func(tx storage.Tx) error { return tx.Rename(other, NS) }, NS, other)
	n.changed("drop", drop, NS)
	n.changed("create again", create, NS)
	s.update(in(NS, insert))
	n.changed("several changes at once", func(tx storage.Tx) error { return errors.Join(drop(tx), create(tx)) }, NS)
	testChangedByTransactions(t, n, in(NS, insert))
	s.reopen()
	n.lister = s.Engine.(storage.ChangeLister)
	if _, all := n.take(); !all {
		t.Error("an engine that was opened again does not say that everything may have changed")
	}
	n.changed("insert into one that was loaded", in(NS, insert), NS)
}

// testChangedByTransactions: what is undone is not listed; what a transaction commits is.
func testChangedByTransactions(t *testing.T, n *notes, insert func(storage.Tx) error) {
	failed := errors.New("failed")
	n.wantErr(n.Update(ctx, func(tx storage.Tx) error { return errors.Join(insert(tx), failed) }), failed)
	n.wants("an update that is undone")
	txn, err := n.Begin(ctx)
	if err == nil {
		err = insert(txn)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.wants("a transaction that is open")
	n.must(txn.Commit(ctx))
	n.wants("a transaction", NS)
	if sharer, ok := n.Engine.(storage.Sharer); ok {
		n.must(sharer.UpdateShared(ctx, insert))
		n.wants("a shared update", NS)
	}
	mine := n.mark
	n.mark = 0
	if _, all := n.take(); !all {
		t.Error("a second caller is not told that everything may have changed")
	}
	n.mark = mine
	if _, all := n.take(); !all {
		t.Error("the first caller is given the notes since the second")
	}
}

// testChangedByMany: a reader of what is listed after a commit has ended sees the commit,
// whatever the writers beside it do.
func testChangedByMany(t *testing.T, open Opener) {
	s := start(t, open)
	lister, ok := s.Engine.(storage.ChangeLister)
	if !ok {
		t.Skip("the engine is no storage.ChangeLister")
	}
	const writers, writes = 4, 100
	name := func(i int) storage.Namespace { return ns("db", string(rune('a'+i))) }
	for i := range writers {
		s.update(func(tx storage.Tx) error { return second(tx.Create(name(i), nil, nil)) })
	}
	n := &notes{session: s, lister: lister}
	counts := make([]int64, writers)
	look := func() {
		names, all := n.take()
		for i := range writers {
			if all || slices.Contains(names, name(i)) {
				s.must(s.View(ctx, func(tx storage.Tx) error {
					counts[i] = Got(Got(tx.Collection(name(i))).Count())
					return nil
				}))
			}
		}
	}
	var done sync.WaitGroup
	for i := range writers {
		done.Go(func() {
			for range writes {
				err := s.Update(ctx, func(tx storage.Tx) error {
					return second(Got(tx.Collection(name(i))).Insert(value.NewDoc("a", value.Int32(1)), 1))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { done.Wait(); close(ended) }()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		default:
		}
		look()
	}
	for i, count := range counts {
		equal(t, "documents seen of "+name(i).Coll, count, writes)
	}
}
