package transaction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func TestTransactionIsolation(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c"}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	if n := h.Count("c"); n != 0 {
		t.Errorf("others see %d documents of an open transaction", n)
	}
	if n := len(harness.Docs(h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, false)))); n != 1 {
		t.Errorf("the transaction sees %d of its own documents", n)
	}
	h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`)
	if n := len(harness.Docs(h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, false)))); n != 1 {
		t.Errorf("the transaction sees what was written after its beginning: %d", n)
	}
	for range 2 { // a commit may be repeated
		if r := h.EndTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
			t.Fatal(r)
		}
	}
	if n := h.Count("c"); n != 2 {
		t.Errorf("%d documents after the commit", n)
	}
}

// A commit knows where the session's record is, and stores it anew where it is no longer.
func TestCommitStoresTheRecord(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	commit := func(n int) {
		t.Helper()
		h.OK(harness.InTxnArgs(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}]}`, n), n, true))
		if r := h.EndTxn("commitTransaction", n); !r.Lookup("ok").Truthy() {
			t.Fatal(r)
		}
		records := harness.Docs(h.RunOn("config", harness.Relaxed(`{find: "transactions"}`)))
		if len(records) != 1 || records[0].Lookup("txnNum").Int64() != int64(n) || records[0].Lookup("state").Str() != "committed" {
			t.Errorf("after transaction %d the records are %v", n, records)
		}
	}
	commit(1)
	commit(2)
	change := func(fn func(storage.Tx) error) {
		t.Helper()
		if err := storage.Retry(t.Context(), h.Svc.Engine, fn); err != nil {
			t.Fatal(err)
		}
	}
	change(func(tx storage.Tx) error { // as a reaper on another server may
		coll, err := tx.Collection(oplog.Transactions)
		if err != nil {
			return err
		}
		return coll.Truncate()
	})
	commit(3)
	change(func(tx storage.Tx) error { return tx.Drop(oplog.Transactions) })
	commit(4)
	h.OK(harness.RetryArgs(`{"insert": "c", "documents": [{"_id": 5}]}`, 5))
	commit(6)
}

// A cursor of a transaction keeps its Call while further statements use the connection.
func TestCursorBetweenStatements(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}]}`)
	cursor := h.OK(harness.InTxnArgs(`{"find": "c", "filter": {"_id": {"$gt": 0}}, "batchSize": 1}`, 1, true)).Lookup("cursor").Doc().Lookup("id").Int64()
	for n := range 3 {
		h.OK(harness.InTxnArgs(fmt.Sprintf(`{"insert": "d", "documents": [{"_id": %d}]}`, n), 1, false))
		h.OK(`{"find": "c", "filter": {"_id": 1}}`)
		h.OK(harness.InTxnArgs(fmt.Sprintf(`{"update": "d", "updates": [{"q": {"_id": %d}, "u": {"$set": {"a": 1}}}]}`, n), 1, false))
		more := h.OK(harness.InTxnArgs(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1}`, cursor), 1, false))
		if batch := more.Lookup("cursor").Doc().Lookup("nextBatch").Doc(); batch.Len() != 1 || batch.Index(0).Doc().Lookup("_id").Int32() != int32(n+2) {
			t.Errorf("batch %d: %s", n, more)
		}
	}
	if r := h.EndTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	if n := h.Count("d"); n != 3 {
		t.Errorf("%d documents were written", n)
	}
}

func TestTransactionErrors(t *testing.T) {
	insert := `{"insert": "c", "documents": [{"_id": 1}]}`
	find := `{"find": "c"}`
	for name, test := range map[string]struct {
		before []string
		run    string
		code   int32
		label  string
	}{
		"unknown number":         {nil, harness.InTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"started twice":          {[]string{harness.InTxnArgs(find, 3, true)}, harness.InTxnArgs(find, 3, true), 117, ""},
		"older number":           {[]string{harness.InTxnArgs(find, 3, true)}, harness.InTxnArgs(find, 2, true), 225, ""},
		"count":                  {nil, harness.InTxnArgs(`{"count": "c"}`, 1, true), 263, ""},
		"listCollections":        {nil, harness.InTxnArgs(`{"listCollections": 1}`, 1, true), 263, ""},
		"readConcern later":      {[]string{harness.InTxnArgs(find, 3, true)}, harness.InTxnArgs(`{"find": "c", "readConcern": {"level": "local"}}`, 3, false), 72, ""},
		"writeConcern":           {nil, harness.InTxnArgs(`{"insert": "c", "documents": [{}], "writeConcern": {"w": 1}}`, 3, true), 72, ""},
		"linearizable":           {nil, harness.InTxnArgs(`{"find": "c", "readConcern": {"level": "linearizable"}}`, 3, true), 72, ""},
		"no session":             {nil, `{"find": "c", "txnNumber": {"$numberLong": "1"}}`, 72, ""},
		"autocommit true":        {nil, `{"find": "c", ` + harness.Lsid + `, "txnNumber": {"$numberLong": "1"}, "autocommit": true}`, 72, ""},
		"not retryable":          {nil, harness.RetryArgs(find, 1), 50768, ""},
		"retry of a transaction": {[]string{harness.InTxnArgs(insert, 3, true)}, harness.RetryArgs(insert, 3), 217, ""},
		"transaction on a retry": {[]string{harness.RetryArgs(insert, 3)}, harness.InTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"after a failed one":     {[]string{harness.RetryArgs(insert, 1), harness.InTxnArgs(insert, 3, true)}, harness.InTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"capped":                 {[]string{`{"create": "capped", "capped": true, "size": 1000}`}, harness.InTxnArgs(`{"insert": "capped", "documents": [{}]}`, 1, true), 263, ""},
		"local":                  {nil, harness.InTxnArgs(`{"find": "x", "$db": "local"}`, 1, true), 263, ""},
		"killCursors first":      {nil, harness.InTxnArgs(`{"killCursors": "c", "cursors": []}`, 1, true), 263, ""},
		"multi in a retryable":   {nil, harness.RetryArgs(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "multi": true}]}`, 1), 72, ""},
		"limit 0 in a retryable": {nil, harness.RetryArgs(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`, 1), 72, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{"create": "c"}`)
			for _, command := range test.before {
				h.Run(command)
			}
			body := value.MustJSON(test.run)
			db := "test"
			if v, ok := body.Get("$db"); ok {
				db = v.Str()
			}
			b := value.NewBuilder()
			for it := body.Iter(); it.Next(); {
				if it.Key() != "$db" {
					b.Raw(it.Element())
				}
			}
			reply := h.RunOn(db, b.Doc())
			code := reply.Lookup("code")
			if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
				code = first.Doc().Lookup("code")
			}
			if code.Int32() != test.code {
				t.Errorf("answered %s, want code %d", reply, test.code)
			}
			if label := reply.Lookup("errorLabels").Doc().Index(0).Str(); label != test.label {
				t.Errorf("label %q, want %q", label, test.label)
			}
		})
	}
}

func TestTransactionConflict(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
	update := `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`
	h.OK(harness.InTxnArgs(`{"find": "c"}`, 1, true))
	h.OK(update)
	reply := h.Run(harness.InTxnArgs(update, 1, false))
	if reply.Lookup("code").Int32() != 112 || reply.Lookup("errorLabels").Doc().Index(0).Str() != "TransientTransactionError" {
		t.Fatalf("answered %s", reply)
	}
	if r := h.EndTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("commit after a conflict: %s", r)
	}
}

func TestTransactionCatalog(t *testing.T) {
	h := harness.New(t)
	h.OK(harness.InTxnArgs(`{"create": "made"}`, 1, true))
	h.OK(harness.InTxnArgs(`{"createIndexes": "made", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`, 1, false))
	h.OK(harness.InTxnArgs(`{"insert": "made", "documents": [{"a": 1}]}`, 1, false))
	h.OK(harness.InTxnArgs(`{"insert": "implied", "documents": [{"a": 1}]}`, 1, false))
	if r := h.EndTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	if len(harness.Docs(h.OK(`{"listIndexes": "made"}`))) != 2 || h.Count("made") != 1 || h.Count("implied") != 1 {
		t.Error("what the transaction made is not there")
	}
}

// A transaction cannot create a collection that exists outside it, nor add indexes to
// one, whether or not it is empty.
func TestTransactionCatalogRefusals(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "empty"}`)
	h.OK(`{"create": "empty"}`)
	for n, command := range []string{
		`{"create": "empty"}`,
		`{"createIndexes": "empty", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`,
	} {
		reply := h.Run(harness.InTxnArgs(command, n+1, true))
		if want := []int32{48, 263}[n]; reply.Lookup("code").Int32() != want {
			t.Errorf("%s: answered %s, not %d", command, reply, want)
		}
	}
	h.OK(harness.InTxnArgs(`{"createIndexes": "empty", "indexes": [{"key": {"_id": 1}, "name": "_id_"}]}`, 3, true)) // it is there
	h.OK(harness.InTxnArgs(`{"create": "made"}`, 3, false))
	if r := h.Run(harness.InTxnArgs(`{"create": "made"}`, 3, false)); r.Lookup("code").Int32() != 48 {
		t.Errorf("made twice in one transaction: %s", r)
	}
}

func TestTransactionReaper(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c"}`)
	h.Admin(`{"setParameter": 1, "transactionLifetimeLimitSeconds": 1}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	transaction.Reap(h.Svc, h.Svc.Real.Now().Add(2e9))
	if r := h.EndTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("commit of a transaction that was open for too long: %s", r)
	}
}

func TestTransactionCursor(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`)
	reply := h.OK(harness.InTxnArgs(`{"find": "c", "batchSize": 1}`, 1, true))
	id := reply.Lookup("cursor").Doc().Lookup("id").Int64()
	h.OK(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`)
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, id)
	h.Fails(50740, strings.TrimSuffix(more, "}")+", "+harness.Lsid+"}")
	r := h.OK(harness.InTxnArgs(more, 1, false))
	if n := r.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len(); n != 2 {
		t.Errorf("%d documents in the next batch: %s", n, r)
	}
	reply = h.OK(harness.InTxnArgs(`{"find": "c", "batchSize": 1}`, 1, false))
	if h.EndTxn("abortTransaction", 1); len(h.Svc.Cursors.Open) != 0 {
		t.Error("cursors outlive the transaction")
	}
	_ = reply
}

func TestPlainWriteWaitsForTransaction(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
	update := `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`
	h.OK(harness.InTxnArgs(update, 1, true))
	done := make(chan value.Doc)
	go func() {
		b := value.NewBuilder()
		it := value.MustJSON(update).Iter()
		out, _ := harness.Answer(h.Svc, context.Background(), h.Svc.NewConn("", ""), &kernel.Request{Body: b.Raw(it.Rest()).String("$db", "test").Doc()}, nil)
		done <- out
	}()
	h.EndTxn("commitTransaction", 1)
	if r := <-done; r.Lookup("nModified").Int32() != 1 {
		t.Fatal(r)
	}
	if n := harness.Docs(h.OK(`{"find": "c"}`))[0].Lookup("n").Int32(); n != 2 {
		t.Errorf("n is %d", n)
	}
}

// Session ids in messages have the digest of their user, here that of no user.
func TestSessionsInMessages(t *testing.T) {
	const mine, other = "00000000-0000-4000-8000-000000000001 - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - ", "00000000-0000-4000-8000-000000000002 - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - "
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	open := func(args string) int64 {
		return h.OK(`{find: "c", batchSize: 1` + args + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
	}
	within := ", " + scriptSession
	plain, owned, txn := open(""), open(within), open(within+`, txnNumber: {$numberLong: "5"}, autocommit: false, startTransaction: true`)
	more := func(id int64, args string) string {
		return fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"%s}`, id, args)
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: more(plain, within), Code: 50736, Text: fmt.Sprintf("Cannot run getMore on cursor %d, which was not created in a session, in session %s", plain, mine)},
		{DB: "test", Command: more(owned, ""), Code: 50737, Text: fmt.Sprintf("Cannot run getMore on cursor %d, which was created in session %s, without an lsid", owned, mine)},
		{DB: "test", Command: more(owned, strings.Replace(within, "001", "002", 1)), Code: 50738, Text: fmt.Sprintf("Cannot run getMore on cursor %d, which was created in session %s, in session %s", owned, mine, other)},
		{DB: "test", Command: more(txn, within), Code: 50740, Text: fmt.Sprintf("Cannot run getMore on cursor %d, which was created in transaction 5, without a txnNumber", txn)},
		{DB: "test", Command: more(owned, within+`, txnNumber: {$numberLong: "5"}, autocommit: false`), Code: 50739, Text: fmt.Sprintf("Cannot run getMore on cursor %d, which was not created in a transaction, in transaction 5", owned)},
		{DB: "test", Command: `{insert: "c", documents: [{}]` + within + `, txnNumber: {$numberLong: "4"}}`, Code: 225, Text: "Retryable write with txnNumber 4 is prohibited on session " + mine + " because a newer transaction with txnNumber 5 has already started on this session."},
		{DB: "test", Command: `{find: "c"` + within + `, txnNumber: {$numberLong: "4"}, autocommit: false, startTransaction: true}`, Code: 225, Text: "Cannot start transaction with { txnNumber: 4 } on session " + mine + " because a newer transaction with txnNumberAndRetryCounter { txnNumber: 5, txnRetryCounter: 0 } has already started on this session."},
	})
}
