package transaction_test

import (
	"context"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// slowReads is an engine whose snapshot transactions read until the context of
// the statement ends, like a database behind a network that has gone.
type slowReads struct {
	storage.Engine
	slow bool
	most int
}

func (e *slowReads) Begin(ctx context.Context) (storage.Txn, error) {
	txn, err := e.Engine.Begin(ctx)
	return &slowTxn{Txn: txn, e: e, statement: ctx}, err
}

func (e *slowReads) Snapshots() storage.SnapshotLimits {
	limits := e.Engine.Snapshots()
	if e.most > 0 {
		limits.Max = e.most
	}
	return limits
}

type slowTxn struct {
	storage.Txn
	e         *slowReads
	statement context.Context
}

func (t *slowTxn) Within(ctx context.Context) { t.statement = ctx }

func (t *slowTxn) Collection(ns storage.Namespace) (storage.Collection, error) {
	if t.e.slow && ns.DB == "test" {
		<-t.statement.Done()
		return nil, t.statement.Err()
	}
	return t.Txn.Collection(ns)
}

func newSlow(t *testing.T) (*harness.Harness, *slowReads) {
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	e := &slowReads{Engine: engine}
	return harness.NewOver(t, e, manual, kernel.Options{Log: zerolog.Nop()}), e
}

// The time limit of a statement, and killOp, reach its reads within a
// transaction that an earlier statement has begun.
func TestStatementsEndWithTheirContext(t *testing.T) {
	h, e := newSlow(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, true))
	e.slow = true
	h.Fails(50, harness.InTxnArgs(`{"find": "c", "maxTimeMS": 20}`, 1, false))
	e.slow = false

	h.OK(harness.InTxnArgs(`{"find": "c"}`, 2, true))
	e.slow = true
	over := make(chan value.Doc, 1)
	go func() { over <- h.Run(harness.InTxnArgs(`{"find": "c", "comment": "slow"}`, 2, false)) }()
	other := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	for {
		list := harness.Docs(other.Admin(`{aggregate: 1, pipeline: [{$currentOp: {}}, {$match: {"command.comment": "slow"}}], cursor: {}}`))
		if len(list) > 0 {
			other.Admin(`{killOp: 1, op: ` + list[0].Lookup("opid").String() + `}`)
			break
		}
	}
	if r := <-over; r.Lookup("code").Int32() != 11601 {
		t.Errorf("a statement that was killed answered %s", r)
	}
}

// An engine that can hold two snapshots holds two: the oldest gives way, and the
// client that asks for it again gets SnapshotTooOld.
func TestSnapshotsThatTheEngineAllows(t *testing.T) {
	h, e := newSlow(t)
	e.most = 2
	var first value.Value
	for i := range 3 {
		h.OK(`{insert: "c", documents: [{}]}`)
		r := h.OK(`{find: "c", readConcern: {level: "snapshot"}}`)
		if at := r.Lookup("cursor").Doc().Lookup("atClusterTime"); i == 0 {
			first = at.Clone()
		}
	}
	if n := len(h.Svc.Snapshots.List); n != 2 {
		t.Errorf("%d snapshots are held", n)
	}
	h.Fails(239, `{find: "c", readConcern: {level: "snapshot", atClusterTime: `+harness.JSONOf(first)+`}}`)
	for _, s := range h.Svc.Snapshots.List { // both are being read
		s.Turn <- struct{}{}
	}
	h.OK(`{insert: "c", documents: [{}]}`)
	h.Fails(239, `{find: "c", readConcern: {level: "snapshot"}}`)
	for _, s := range h.Svc.Snapshots.List {
		<-s.Turn
	}
}
