package concern_test

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// newFailingHarness is a harness over data on disk. The next sync fails after
// fail was set.
func newFailingHarness(tb testing.TB) (h *harness.Harness, fail *atomic.Bool) {
	tb.Helper()
	fail = new(atomic.Bool)
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: tb.TempDir(), Clock: manual, Indexer: catalog.NewIndexer(), Fault: func(step, _ string) error {
		if step == "sync" && fail.CompareAndSwap(true, false) {
			return syscall.EIO
		}
		return nil
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return harness.NewOver(tb, engine, manual, kernel.Options{Log: zerolog.Nop()}), fail
}

// A write that was applied but not synced stays, so the reply reports the write and a
// write concern error.
func TestUnsyncedWrite(t *testing.T) {
	for command, want := range map[string]string{
		`{insert: "c", documents: [{_id: 2}], writeConcern: {j: true}}`:                                                                                                   `{n: 1}`,
		`{insert: "c", documents: [{_id: 1}], writeConcern: {j: true}}`:                                                                                                   `{n: 0}`,
		`{insert: "c", documents: [{_id: 2}], writeConcern: {w: "majority"}}`:                                                                                             `{n: 1}`,
		`{insert: "c", documents: [{_id: 2}], writeConcern: {w: "majority"}, lsid: {id: {$uuid: "11111111-1111-4111-8111-111111111111"}}, txnNumber: {$numberLong: "1"}}`: `{n: 1}`,
		`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {n: 1}}}], writeConcern: {w: "majority"}}`:                                                                       `{n: 1, nModified: 1}`,
		`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}], writeConcern: {j: true}}`:                                                                                      `{n: 1}`,
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {n: 1}}, new: true, writeConcern: {j: true}}`:                                                               `{value: {_id: 1, n: 1}}`,
		`{create: "d", writeConcern: {j: true}}`:                                                                                                                          `{}`,
		`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}], writeConcern: {w: "majority"}}`:                                                                      `{numIndexesAfter: 2}`,
		`{collMod: "c", validator: {}, writeConcern: {j: true}}`:                                                                                                          `{}`,
		`{drop: "c", writeConcern: {w: "majority"}}`:                                                                                                                      `{ns: "test.c"}`,
		`{dropDatabase: 1, writeConcern: {j: true}}`:                                                                                                                      `{}`,
		`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}, writeConcern: {j: true}}`:                                                                                  `{}`,
		`{createUser: "u", pwd: "p", roles: [], writeConcern: {j: true}}`:                                                                                                 `{}`,
		`{mqSend: "q", messages: [{body: 1}], writeConcern: {j: true}}`:                                                                                                   `{}`,
	} {
		t.Run(command, func(t *testing.T) {
			h, fail := newFailingHarness(t)
			h.OK(`{insert: "c", documents: [{_id: 1, n: 0}]}`)
			h.OK(`{create: "q", messageQueue: {}}`)
			fail.Store(true)
			reply := h.Run(command)
			failure := reply.Lookup("writeConcernError").Doc()
			if !reply.Lookup("ok").Truthy() || failure.Lookup("code").Int32() != 64 || failure.Lookup("codeName").Str() != "WriteConcernTimeout" ||
				!strings.Contains(failure.Lookup("errmsg").Str(), syscall.EIO.Error()) || reply.Has("errorLabels") {
				t.Errorf("answered %s", reply)
			}
			for name, v := range harness.Relaxed(want).All() {
				if got := reply.Lookup(name); got.String() != v.String() {
					t.Errorf("%s is %s, want %s, in %s", name, got, v, reply)
				}
			}
		})
	}
}

// A write that was refused before it read data does not wait for the disk. One that was
// attempted waits, because the data that made it fail may not be on disk yet.
func TestUnsyncedFailure(t *testing.T) {
	for command, tt := range map[string]struct {
		code     int32
		unsynced bool
	}{
		`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", unique: true}], writeConcern: {j: true}}`: {11000, true},
		`{findAndModify: "c", query: {_id: 1}, writeConcern: {j: true}}`:                                     {9, false},
	} {
		h, fail := newFailingHarness(t)
		h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
		fail.Store(true)
		reply := h.Run(command)
		if reply.Lookup("ok").Truthy() || reply.Lookup("code").Int32() != tt.code || reply.Has("writeConcernError") != tt.unsynced {
			t.Errorf("%s\nanswered %s", command, reply)
		}
	}
}

// A commit whose sync fails has the label that makes drivers send it again; the second one
// waits for the rewritten log.
func TestUnsyncedCommit(t *testing.T) {
	h, fail := newFailingHarness(t)
	h.OK(`{create: "c"}`)
	const in = `lsid: {id: {$uuid: "11111111-1111-4111-8111-111111111111"}}, txnNumber: {$numberLong: "1"}, autocommit: false`
	h.OK(`{insert: "c", documents: [{_id: 1}], startTransaction: true, ` + in + `}`)
	fail.Store(true)
	commit := `{commitTransaction: 1, writeConcern: {w: "majority"}, ` + in + `}`
	reply := h.Admin(commit)
	labels := value.NewArray(value.String("UnknownTransactionCommitResult"))
	if !reply.Lookup("ok").Truthy() || reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 64 || reply.Lookup("errorLabels").String() != labels.String() {
		t.Errorf("answered %s", reply)
	}
	if n := h.OK(`{count: "c"}`).Lookup("n").Int32(); n != 1 {
		t.Errorf("%d documents", n)
	}
	for i := 0; ; i++ {
		if reply = h.Admin(commit); !reply.Has("writeConcernError") {
			break
		}
		if i > 1e6 {
			t.Fatalf("the log is not written anew: %s", reply)
		}
	}
	if !reply.Lookup("ok").Truthy() || reply.Has("errorLabels") {
		t.Errorf("answered %s", reply)
	}
}

// A time limit that expires while the write waits for the disk is also a write concern
// error.
func TestUnsyncedInTime(t *testing.T) {
	h, _ := newFailingHarness(t)
	h.Svc.Engine = slowToSync{h.Svc.Engine}
	reply := h.Run(`{insert: "c", documents: [{_id: 1}], writeConcern: {j: true}, maxTimeMS: 5}`)
	if !reply.Lookup("ok").Truthy() || reply.Lookup("n").Int32() != 1 || reply.Lookup("writeConcernError").Doc().Lookup("code").Int32() != 50 {
		t.Errorf("answered %s", reply)
	}
}

// slowToSync is an engine whose disk does not answer.
type slowToSync struct{ storage.Engine }

func (slowToSync) Sync(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// If a later part of an insert cannot be committed, the reply has the number of inserted
// documents and an error for each of the others.
func TestInsertFailsInPart(t *testing.T) {
	const n = 3*write.InsertChunk + 5
	var docs []value.Value
	for id := range int32(n) {
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(id))))
	}
	for ordered, failures := range map[bool]int{true: 1, false: n - write.InsertChunk} {
		writes, armed := 0, false
		manual := clock.NewManual(harness.TestStart)
		engine, err := bunt.Open(bunt.Options{Path: t.TempDir(), Clock: manual, Indexer: catalog.NewIndexer(), Fault: func(step, _ string) error {
			if !armed || step != "write" {
				return nil
			}
			if writes++; writes == 1 {
				return nil
			}
			return syscall.ENOSPC
		}})
		if err != nil {
			t.Fatal(err)
		}
		h := harness.NewOver(t, engine, manual, kernel.Options{Log: zerolog.Nop()})
		h.OK(`{create: "c"}`)
		armed = true
		reply := h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(docs...), "ordered", value.Bool(ordered)))
		errs := reply.Lookup("writeErrors").Doc()
		first := errs.Index(0).Doc()
		if !reply.Lookup("ok").Truthy() || reply.Lookup("n").Int32() != write.InsertChunk || errs.Len() != failures || first.Lookup("index").Int32() != write.InsertChunk || first.Lookup("code").Int32() != 14031 {
			t.Errorf("ordered %v: answered %.300s", ordered, reply)
		}
		if got := h.OK(`{count: "c"}`).Lookup("n").Int32(); got != write.InsertChunk {
			t.Errorf("ordered %v: %d documents", ordered, got)
		}
		armed = false
	}
}
