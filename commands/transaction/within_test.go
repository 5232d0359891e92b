package transaction_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
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
	open int // snapshot transactions, of which there may be most

	linger  time.Duration
	ageless bool // snapshots do not end by their age

	away atomic.Bool // snapshot transactions cannot begin before their context ends
}

func (e *slowReads) Begin(ctx context.Context) (storage.Txn, error) {
	if e.away.Load() {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if e.most > 0 && e.open >= e.most {
		return nil, storage.ErrManySnapshots
	}
	txn, err := e.Engine.Begin(ctx)
	e.open++
	return &slowTxn{Txn: txn, e: e, statement: ctx}, err
}

func (e *slowReads) Snapshots() storage.SnapshotLimits {
	limits := e.Engine.Snapshots()
	if e.most > 0 {
		limits.Max = e.most
	}
	limits.Linger = e.linger
	if e.ageless {
		limits.MaxAge = math.MaxInt64
	}
	return limits
}

// TellReading and HearReadings have no other servers to speak to.
func (e *slowReads) TellReading(storage.Reading)        {}
func (e *slowReads) HearReadings(func(storage.Reading)) {}

type slowTxn struct {
	storage.Txn
	e         *slowReads
	statement context.Context
}

func (t *slowTxn) Abort() {
	t.e.open--
	t.Txn.Abort()
}

func (t *slowTxn) Commit(ctx context.Context) error {
	t.e.open--
	return t.Txn.Commit(ctx)
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

// A snapshot that cannot be opened holds nobody up, and ends with its statement.
func TestSnapshotsThatWait(t *testing.T) {
	h, e := newSlow(t)
	snapshotOf(h, 1)
	e.away.Store(true)
	over := make(chan value.Doc, 1)
	h.OK(`{insert: "c", documents: [{}]}`)
	go func() {
		over <- h.Run(`{find: "c", readConcern: {level: "snapshot"}, maxTimeMS: 300, lsid: {id: {$uuid: "00000002-0000-4000-8000-000000000000"}}}`)
	}()
	other := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	n := 0
	for {
		other.OK(`{find: "c", lsid: {id: {$uuid: "00000001-0000-4000-8000-000000000000"}}}`)
		select {
		case r := <-over:
			if r.Lookup("code").Int32() != 50 {
				t.Errorf("the snapshot that waits: %s", r)
			}
			if n < 3 {
				t.Errorf("another session has had only %d answers meanwhile", n)
			}
			return
		default:
			n++
		}
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

// snapshotOf reads with a snapshot in a session, as a driver's session with snapshot: true does.
func snapshotOf(h *harness.Harness, session int) {
	h.Helper()
	h.OK(`{insert: "c", documents: [{}]}`) // so that the next snapshot is another one
	h.OK(fmt.Sprintf(`{find: "c", readConcern: {level: "snapshot"}, lsid: {id: {$uuid: "%08d-0000-4000-8000-000000000000"}}}`, session))
}

// A client that opens one session with snapshot reads after the other leaves room for
// transactions: the oldest snapshot gives way.
func TestSnapshotsGiveWayToTransactions(t *testing.T) {
	h, e := newSlow(t)
	e.most = 3
	for i := range 5 {
		snapshotOf(h, i)
	}
	if e.open != 3 {
		t.Errorf("%d snapshots are open", e.open)
	}
	h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, true))
	h.Admin(harness.InTxnArgs(`{"commitTransaction": 1}`, 1, false))
	if e.open != 2 {
		t.Errorf("%d snapshots are open", e.open)
	}
	h.OK(harness.InTxnArgs(`{"find": "c"}`, 2, true))
	for _, s := range h.Svc.Snapshots.List { // all are being read
		s.Turn <- struct{}{}
	}
	other := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	other.Fails(112, `{find: "c", lsid: {id: {$uuid: "90000000-0000-4000-8000-000000000000"}}, txnNumber: {$numberLong: "1"}, startTransaction: true, autocommit: false}`)
	for _, s := range h.Svc.Snapshots.List {
		<-s.Turn
	}
	snapshotOf(h, 9) // and a new snapshot takes the place of an old one, not of a transaction
	if e.open != 3 {
		t.Errorf("%d snapshots and transactions are open", e.open)
	}
}

// A snapshot that its sessions have left is kept for a moment: a session leaves it by reading
// another one, by doing something else, or by its end.
func TestSnapshotsThatAreLeft(t *testing.T) {
	h, e := newSlow(t)
	e.linger = time.Second
	list := &h.Svc.Snapshots
	expire := func(after time.Duration) int {
		list.Mu.Lock()
		defer list.Mu.Unlock()
		list.Expire(h.Svc.Real.Now().Add(after), e.Snapshots())
		return len(list.List)
	}
	snapshotOf(h, 1)
	snapshotOf(h, 1) // the session reads another state
	snapshotOf(h, 2)
	snapshotOf(h, 3)
	if n := expire(2 * time.Second); n != 3 {
		t.Errorf("%d snapshots are kept, want those of three sessions", n)
	}
	h.OK(`{find: "c", lsid: {id: {$uuid: "00000002-0000-4000-8000-000000000000"}}}`)
	h.OK(`{endSessions: [{id: {$uuid: "00000003-0000-4000-8000-000000000000"}}]}`)
	if n := expire(0); n != 3 {
		t.Errorf("%d snapshots are kept at once", n)
	}
	if n := expire(2 * time.Second); n != 1 {
		t.Errorf("%d snapshots are kept, want that of the first session", n)
	}
	if n := expire(6 * time.Minute); n != 0 {
		t.Errorf("%d snapshots are kept for ever", n)
	}
}

// Snapshots that are left end when they have been for long enough, and do not wait for the next look
// at everything.
func TestSnapshotsThatAreLeftEnd(t *testing.T) {
	h, e := newSlow(t)
	e.linger, e.ageless = time.Second, true // the clock may run far ahead of the goroutine that forgets
	list, real := &h.Svc.Snapshots, clock.NewManual(harness.TestStart)
	h.Svc.Real = real
	held := func() int {
		list.Mu.Lock()
		defer list.Mu.Unlock()
		return len(list.List)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go transaction.ForgetLeft(h.Svc, ctx)
	for session := range 3 {
		snapshotOf(h, session)
	}
	list.Mu.Lock()
	read := list.List[1]
	list.Mu.Unlock()
	read.Turn <- struct{}{} // it is being read when it should end
	for session := range 2 {
		h.OK(fmt.Sprintf(`{endSessions: [{id: {$uuid: "%08d-0000-4000-8000-000000000000"}}]}`, session))
	}
	left := real.Now()
	advance := func(want int) {
		t.Helper()
		for ctx.Err() == nil && held() > want {
			if err := real.Advance(e.linger / 8); err != nil {
				t.Fatal(err)
			}
			runtime.Gosched()
		}
	}
	if n := held(); n != 3 {
		t.Errorf("%d snapshots are kept at once", n)
	}
	advance(2)
	if real.Now().Sub(left) < e.linger {
		t.Errorf("a snapshot ended after %v", real.Now().Sub(left))
	}
	<-read.Turn
	advance(1)
	snapshotOf(h, 2)
	if n := held(); n != 2 {
		t.Errorf("%d snapshots are kept when the last session reads another one", n)
	}
	advance(1)
}
