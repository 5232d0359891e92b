package write_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// numbered returns the insert of the documents {_id: from}…{_id: to-1}.
func numbered(from, to int, options string) string {
	var docs []string
	for i := from; i < to; i++ {
		docs = append(docs, fmt.Sprintf(`{"_id": %d}`, i))
	}
	return `{"insert": "c", "documents": [` + strings.Join(docs, ", ") + `]` + options + `}`
}

// outcome formats the reply of an insert: n, then index and code of each error.
func outcome(reply value.Doc) string {
	text := fmt.Sprintf("ok %v n %d", reply.Lookup("ok").Truthy(), reply.Lookup("n").SafeInt64())
	if code := reply.Lookup("code"); !code.IsMissing() {
		text = fmt.Sprintf("code %d", code.Int32())
	}
	for v := range reply.Lookup("writeErrors").Doc().Values() {
		text += fmt.Sprintf(", %d: %d", v.Doc().Lookup("index").Int32(), v.Doc().Lookup("code").Int32())
	}
	return text
}

// An ordered batch stops at its first error, after it has inserted the documents before
// it; an unordered batch continues.
func TestBatchesWithErrors(t *testing.T) {
	t.Parallel()
	const unordered = `, "ordered": false`
	for _, tt := range []struct {
		batch     string
		want      string
		documents int // in the end, with {_id: 1} from before
	}{
		{`{"insert": "c", "documents": [{"_id": 2}, {"_id": [1]}, {"_id": 3}]}`, "ok true n 1, 1: 53", 2},
		{`{"insert": "c", "documents": [{"_id": 2}, {"_id": [1]}, {"_id": 1}, {"_id": 3}]` + unordered + `}`, "ok true n 2, 1: 53, 2: 11000", 3},
		{`{"insert": "c", "documents": [{"_id": 1}, {"_id": [1]}]}`, "ok true n 0, 0: 11000", 1},
		{`{"insert": "c", "documents": [{"_id": 2}, {"_id": 2}, {"_id": 3}]}`, "ok true n 1, 1: 11000", 2},
		// More than goes into one transaction of the storage.
		{numbered(-1200, 3, ``), "ok true n 1201, 1201: 11000", 1202},
		{numbered(-1200, 3, unordered), "ok true n 1202, 1201: 11000", 1203},
		{`{"insert": "view", "documents": [{"_id": 2}, {"_id": 3}]` + unordered + `}`, "code 166", 1},
		{`{"insert": "system.unknown", "documents": [{"_id": 2}]}`, "code 73", 1},
		{`{"insert": "c", "documents": [{"_id": 2}, {"_id": 3}], "collectionUUID": {"$uuid": "00000000-0000-4000-8000-000000000001"}}`, "ok true n 0, 0: 361", 1},
		{`{"insert": "c", "documents": [{"_id": 2}, {"_id": 3}], "collectionUUID": {"$uuid": "00000000-0000-4000-8000-000000000001"}` + unordered + `}`, "ok true n 0, 0: 361, 1: 361", 1},
	} {
		h := harness.New(t)
		h.OK(`{"create": "view", "viewOn": "c", "pipeline": []}`)
		h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
		if got := outcome(h.Run(tt.batch)); got != tt.want {
			t.Errorf("%.120s\nanswered %s, want %s", tt.batch, got, tt.want)
		}
		if n := int(h.OK(`{"count": "c"}`).Lookup("n").SafeInt64()); n != tt.documents {
			t.Errorf("%.120s\nleft %d documents, want %d", tt.batch, n, tt.documents)
		}
	}
}

// A large batch is divided by bytes as well: an error stops only its own part.
func TestLargeDocumentsInOneBatch(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	text := value.String(strings.Repeat("x", 3<<20/2))
	var docs []value.Value
	for _, id := range []int32{1, 2, 3, 4, 5, 1} {
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(id), "text", text)))
	}
	reply := h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(docs...)))
	if got, want := outcome(reply), "ok true n 5, 5: 11000"; got != want {
		t.Errorf("answered %s, want %s", got, want)
	}
}

// failingEngine is an engine whose n-th update cannot be committed.
type failingEngine struct {
	storage.Engine
	n   int
	err error
}

func (e *failingEngine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	e.n--
	return e.Engine.Update(ctx, func(tx storage.Tx) error {
		if err := fn(tx); err != nil || e.n != 0 {
			return err
		}
		return e.err
	})
}

// If a later part of a batch cannot be committed, the earlier parts stay stored, and the
// reply has an error for each document that was not stored.
func TestBatchWhoseEndCannotBeStored(t *testing.T) {
	harness.SkipHostile(t, "it counts the writes until one fails")
	t.Parallel()
	for _, tt := range []struct {
		err     error
		options string
		want    string
	}{
		{syscall.ENOSPC, ``, "ok true n 1000, 1000: 14031"},
		{syscall.ENOSPC, `, "ordered": false`, "ok true n 1000, 1000: 14031, 1001: 14031, 1002: 14031"},
		{syscall.EIO, ``, "ok true n 1000, 1000: 1"},
		{context.Canceled, ``, "code 11601"},
	} {
		h := harness.New(t)
		h.OK(`{"insert": "c", "documents": [{"_id": 1001}]}`) // an error that the last part meets before
		plain := h.Svc.Engine
		h.Svc.Engine = &failingEngine{plain, 2, tt.err}
		got := outcome(h.Run(numbered(0, 1003, tt.options)))
		h.Svc.Engine = plain
		if got != tt.want {
			t.Errorf("%v%s: answered %s, want %s", tt.err, tt.options, got, tt.want)
		}
		if n := h.OK(`{"count": "c"}`).Lookup("n").SafeInt64(); n != 1001 {
			t.Errorf("%v: %d documents are stored, want 1001", tt.err, n)
		}
	}
}

// A retried batch stores only the documents that its first attempt did not, and its reply
// includes both.
func TestRetriedBatch(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 3}]}`)
	batch := harness.RetryArgs(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]}`, 1)
	if got := outcome(h.Run(batch)); got != "ok true n 2, 2: 11000" {
		t.Fatal(got)
	}
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 3}, "limit": 1}]}`)
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	reply := h.Run(batch)
	if got := outcome(reply); got != "ok true n 4" || reply.Lookup("retriedStmtIds").String() != "[ 0, 1 ]" {
		t.Errorf("the retry answered %s", reply)
	}
	h.Holds("c", `{_id: 2} {_id: 3} {_id: 4}`)
}

// An error within a transaction ends both the batch and the transaction.
func TestBatchWithinTransaction(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
	reply := h.Run(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}, {"_id": 1}, {"_id": 3}], "ordered": false}`, 1, true))
	if got := outcome(reply); got != "ok true n 1, 1: 11000" {
		t.Errorf("answered %s", reply)
	}
	if reply := h.Run(harness.InTxnArgs(`{"find": "c"}`, 1, false)); reply.Lookup("code").Int32() != 251 {
		t.Errorf("the transaction goes on: %s", reply)
	}
	h.Holds("c", `{_id: 1}`)
}
