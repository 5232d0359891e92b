package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// Messages sent in a multi-document transaction exist once it is committed.
func TestSendInTransaction(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	ch := e.waiting(e.ctx, "q", MaxWait)
	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	changes := e.broker.Changes()
	for i := range 2 {
		_, err := e.broker.Insert(txn, changes, ns("q"), value.NewDoc("_id", value.Int32(int32(i))), e.now())
		e.must(err)
	}
	e.count("q", 0)
	if _, err := e.trySend("q", `{"_id": "outside"}`); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("two senders at a time would get the same number: %v", err)
	}
	e.must(txn.Commit(e.ctx))
	changes.Committed()
	e.got(t, ch, 1)
	expectMQ(t, e.one("q"), `{"sequenceNumber": {"$numberLong": "2"}}`)
	if n := e.send("q", `{"_id": "outside"}`)[0]; n != 3 {
		t.Errorf("number %d, want 3", n)
	}
}

func TestAbortedTransactionLeavesNoGap(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	_, err = e.broker.Insert(txn, e.broker.Changes(), ns("q"), value.NewDoc("_id", value.Int32(1)), e.now())
	e.must(err)
	txn.Abort()
	if n := e.send("q", `{"_id": 2}`)[0]; n != 1 {
		t.Errorf("number %d, want 1", n)
	}
}

// A sweep skips messages that an open transaction has written.
func TestSweepBesideTransaction(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"defaultMessageTimeToLive": 10}`)
	e.send("q", `{"_id": 1}`)
	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	coll, err := txn.Collection(ns("q"))
	e.must(err)
	found, _, err := find(coll, 1)
	e.must(err)
	e.must(storagetest.Done(coll.Delete(found.id)))
	e.at(10)
	if r := e.sweep(); r.MessagesDropped != 0 {
		t.Errorf("removed %+v", r)
	}
	txn.Abort()
	if r := e.sweep(); r.MessagesDropped != 1 {
		t.Errorf("removed %+v", r)
	}
}

// txnStore runs the transactions of a broker within an open one.
type txnStore struct {
	txn     storage.Txn
	changes *Changes
}

func (s txnStore) View(_ context.Context, fn func(storage.Tx) error) error { return fn(s.txn) }
func (s txnStore) Update(_ context.Context, fn func(storage.Tx, *Changes) error) error {
	return fn(s.txn, s.changes)
}
func (txnStore) InTransaction() bool { return true }

// A receive in a transaction does not move the head of the queue over messages that an abort
// gives back.
func TestAbortedTransactionLeavesHead(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	for i := range 500 {
		e.send("q", fmt.Sprintf(`{"_id": %d, "_mq": {"timeToLive": 1}}`, i+10))
	}
	e.at(2)
	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	s := txnStore{txn, e.broker.Changes()}
	for range 2 {
		_, err := e.broker.Receive(e.ctx, s, Request{Ref: ref("q"), Max: 2}, e.now())
		e.must(err)
	}
	txn.Abort()
	if got := e.one("q").Lookup("_id"); !value.Equal(got, value.Int32(1)) {
		t.Errorf("received %v", got)
	}
}

// A session that a transaction accepts is held by its token after the commit, even if others
// have accepted sessions meanwhile.
func TestAcceptSessionInTransaction(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresSession": true}`)
	txn, err := e.engine.Begin(e.ctx)
	e.must(err)
	s := txnStore{txn, e.broker.Changes()}
	got, _, err := e.broker.AcceptSession(e.ctx, s, Accept{Ref: ref("q"), ID: "a", Named: true}, e.now())
	e.must(err)
	other, _, err := e.broker.AcceptSession(e.ctx, e.store, Accept{Ref: ref("q"), ID: "b", Named: true}, e.now())
	e.must(err)
	e.must(txn.Commit(e.ctx))
	for _, token := range [][16]byte{got.Token, other.Token} {
		_, err := e.broker.RenewSession(e.ctx, e.store, SessionLock{ref("q"), token}, e.now())
		e.must(err)
	}
}
