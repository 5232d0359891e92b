package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// Reads in a transaction see its snapshot; some are not allowed there.
func TestReadsInTransaction(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}`)
	first := true
	in := func(command string) value.Doc {
		defer func() { first = false }()
		return h.Run(harness.InTxnArgs(command, 1, first))
	}
	if n := in(`{aggregate: "c", pipeline: [{$count: "n"}], cursor: {}}`); harness.Docs(n)[0].Lookup("n").Int32() != 2 {
		t.Errorf("counted %s", n)
	}
	h.OK(`{insert: "c", documents: [{_id: 3, a: 3}]}`) // outside
	if got := in(`{distinct: "c", key: "a"}`).Lookup("values").String(); got != "[ 1 ]" {
		t.Errorf("distinct values %s", got)
	}
	if n := len(harness.Docs(in(`{find: "c"}`))); n != 2 {
		t.Errorf("%d documents", n)
	}
	h.EndTxn("abortTransaction", 1)
	for n, tt := range []struct {
		command string
		code    int32
	}{
		{`{count: "c"}`, 263},
		{`{find: "capped", tailable: true}`, 72},
		{`{find: "c", readOnce: true}`, 263},
	} {
		h.Fails(tt.code, harness.InTxnArgs(tt.command, n+2, true))
	}
}

// Outside a transaction, replies to reads with the level snapshot have the snapshot's time
// (reference/read-concern-snapshot).
func TestSnapshotReads(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	reply := h.OK(`{distinct: "c", key: "a", readConcern: {level: "snapshot"}}`)
	at := reply.Lookup("atClusterTime")
	if at.Kind() != value.KindTimestamp {
		t.Fatalf("answered %s", reply)
	}
	h.OK(`{insert: "c", documents: [{_id: 2, a: 2}, {_id: 3, a: 3}]}`)
	then := `, readConcern: {level: "snapshot", atClusterTime: ` + harness.JSONOf(at) + `}}`
	if got := h.OK(`{distinct: "c", key: "a"` + then).Lookup("values").String(); got != "[ 1 ]" {
		t.Errorf("the values at %s are %s", at, got)
	}
	more := open(h, `{find: "c", batchSize: 0`+then)
	next := h.OK(more).Lookup("cursor").Doc()
	if next.Lookup("nextBatch").Doc().Len() != 1 || !value.Equal(next.Lookup("atClusterTime"), at) {
		t.Errorf("getMore answered %s", next)
	}
}

// A failed write in a transaction aborts it; none of its writes stays.
func TestWritesInTransaction(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	bulk := func(n int, ops string) value.Doc {
		return h.Admin(harness.InTxnArgs(`{bulkWrite: 1, ops: [`+ops+`], nsInfo: [{ns: "test.c"}], ordered: false}`, n, true))
	}
	reply := bulk(1, `{insert: 0, document: {_id: 2}}, {insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 3}}`)
	if got := harness.Docs(reply); reply.Lookup("nErrors").Int32() != 1 || got[len(got)-1].Lookup("code").Int32() != 11000 {
		t.Errorf("answered %s", reply)
	}
	if r := h.EndTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("committing answered %s", r)
	}
	h.Holds("c", `{_id: 1}`)
	if reply := bulk(2, `{update: 0, filter: {_id: 5}, updateMods: {$set: {a: 1}}, upsert: true}, {delete: 0, filter: {_id: 1}}`); reply.Lookup("nUpserted").Int32() != 1 || reply.Lookup("nDeleted").Int32() != 1 {
		t.Errorf("answered %s", reply)
	}
	h.Holds("c", `{_id: 1}`)
	h.EndTxn("commitTransaction", 2)
	h.Holds("c", `{_id: 5, a: 1}`)
}
