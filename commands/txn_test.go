package commands

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/value"
)

// lsid is the session of a test.
const lsid = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`

// inTxn adds the arguments of a statement of transaction n.
func inTxnArgs(command string, n int, first bool) string {
	start := ""
	if first {
		start = `, "startTransaction": true`
	}
	return strings.TrimSuffix(command, "}") + fmt.Sprintf(`, %s, "txnNumber": {"$numberLong": "%d"}, "autocommit": false%s}`, lsid, n, start)
}

// retryArgs adds the arguments of a retryable write.
func retryArgs(command string, n int) string {
	return strings.TrimSuffix(command, "}") + fmt.Sprintf(`, %s, "txnNumber": {"$numberLong": "%d"}}`, lsid, n)
}

func (h *harness) endTxn(name string, n int) value.Doc {
	return h.admin(inTxnArgs(`{"`+name+`": 1}`, n, false))
}

func (h *harness) count(coll string) int { return len(docs(h.ok(`{"find": "` + coll + `"}`))) }

func TestTransactionIsolation(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c"}`)
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	if n := h.count("c"); n != 0 {
		t.Errorf("others see %d documents of an open transaction", n)
	}
	if n := len(docs(h.ok(inTxnArgs(`{"find": "c"}`, 1, false)))); n != 1 {
		t.Errorf("the transaction sees %d of its own documents", n)
	}
	h.ok(`{"insert": "c", "documents": [{"_id": 2}]}`)
	if n := len(docs(h.ok(inTxnArgs(`{"find": "c"}`, 1, false)))); n != 1 {
		t.Errorf("the transaction sees what was written after its beginning: %d", n)
	}
	for range 2 { // a commit may be repeated
		if r := h.endTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
			t.Fatal(r)
		}
	}
	if n := h.count("c"); n != 2 {
		t.Errorf("%d documents after the commit", n)
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
		"unknown number":         {nil, inTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"started twice":          {[]string{inTxnArgs(find, 3, true)}, inTxnArgs(find, 3, true), 117, ""},
		"older number":           {[]string{inTxnArgs(find, 3, true)}, inTxnArgs(find, 2, true), 225, ""},
		"count":                  {nil, inTxnArgs(`{"count": "c"}`, 1, true), 263, ""},
		"listCollections":        {nil, inTxnArgs(`{"listCollections": 1}`, 1, true), 263, ""},
		"readConcern later":      {[]string{inTxnArgs(find, 3, true)}, inTxnArgs(`{"find": "c", "readConcern": {"level": "local"}}`, 3, false), 72, ""},
		"writeConcern":           {nil, inTxnArgs(`{"insert": "c", "documents": [{}], "writeConcern": {"w": 1}}`, 3, true), 72, ""},
		"linearizable":           {nil, inTxnArgs(`{"find": "c", "readConcern": {"level": "linearizable"}}`, 3, true), 72, ""},
		"no session":             {nil, `{"find": "c", "txnNumber": {"$numberLong": "1"}}`, 72, ""},
		"autocommit true":        {nil, `{"find": "c", ` + lsid + `, "txnNumber": {"$numberLong": "1"}, "autocommit": true}`, 72, ""},
		"not retryable":          {nil, retryArgs(find, 1), 50768, ""},
		"retry of a transaction": {[]string{inTxnArgs(insert, 3, true)}, retryArgs(insert, 3), 217, ""},
		"transaction on a retry": {[]string{retryArgs(insert, 3)}, inTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"after a failed one":     {[]string{retryArgs(insert, 1), inTxnArgs(insert, 3, true)}, inTxnArgs(find, 3, false), 251, "TransientTransactionError"},
		"capped":                 {[]string{`{"create": "capped", "capped": true, "size": 1000}`}, inTxnArgs(`{"insert": "capped", "documents": [{}]}`, 1, true), 263, ""},
		"local":                  {nil, inTxnArgs(`{"find": "x", "$db": "local"}`, 1, true), 263, ""},
		"killCursors first":      {nil, inTxnArgs(`{"killCursors": "c", "cursors": []}`, 1, true), 263, ""},
		"multi in a retryable":   {nil, retryArgs(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "multi": true}]}`, 1), 72, ""},
		"limit 0 in a retryable": {nil, retryArgs(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`, 1), 72, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.ok(`{"create": "c"}`)
			for _, command := range test.before {
				h.run(command)
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
			reply := h.runOn(db, b.Doc())
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
	h := newHarness(t)
	h.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
	update := `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`
	h.ok(inTxnArgs(`{"find": "c"}`, 1, true))
	h.ok(update)
	reply := h.run(inTxnArgs(update, 1, false))
	if reply.Lookup("code").Int32() != 112 || reply.Lookup("errorLabels").Doc().Index(0).Str() != "TransientTransactionError" {
		t.Fatalf("answered %s", reply)
	}
	if r := h.endTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("commit after a conflict: %s", r)
	}
}

func TestTransactionCatalog(t *testing.T) {
	h := newHarness(t)
	h.ok(inTxnArgs(`{"create": "made"}`, 1, true))
	h.ok(inTxnArgs(`{"createIndexes": "made", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`, 1, false))
	h.ok(inTxnArgs(`{"insert": "made", "documents": [{"a": 1}]}`, 1, false))
	h.ok(inTxnArgs(`{"insert": "implied", "documents": [{"a": 1}]}`, 1, false))
	if r := h.endTxn("commitTransaction", 1); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	if len(docs(h.ok(`{"listIndexes": "made"}`))) != 2 || h.count("made") != 1 || h.count("implied") != 1 {
		t.Error("what the transaction made is not there")
	}
}

// What others can see already cannot be made again in a transaction, nor can
// indexes be added to it, be it empty or not.
func TestTransactionCatalogRefusals(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "empty"}`)
	h.ok(`{"create": "empty"}`)
	for n, command := range []string{
		`{"create": "empty"}`,
		`{"createIndexes": "empty", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`,
	} {
		reply := h.run(inTxnArgs(command, n+1, true))
		if want := []int32{48, 263}[n]; reply.Lookup("code").Int32() != want {
			t.Errorf("%s: answered %s, not %d", command, reply, want)
		}
	}
	h.ok(inTxnArgs(`{"createIndexes": "empty", "indexes": [{"key": {"_id": 1}, "name": "_id_"}]}`, 3, true)) // it is there
	h.ok(inTxnArgs(`{"create": "made"}`, 3, false))
	if r := h.run(inTxnArgs(`{"create": "made"}`, 3, false)); r.Lookup("code").Int32() != 48 {
		t.Errorf("made twice in one transaction: %s", r)
	}
}

func TestTransactionReaper(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c"}`)
	h.admin(`{"setParameter": 1, "transactionLifetimeLimitSeconds": 1}`)
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	transaction.ReapTransactions(h.svc, h.svc.Real.Now().Add(2e9))
	if r := h.endTxn("commitTransaction", 1); r.Lookup("code").Int32() != 251 {
		t.Errorf("commit of a transaction that was open for too long: %s", r)
	}
}

func TestTransactionCursor(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`)
	reply := h.ok(inTxnArgs(`{"find": "c", "batchSize": 1}`, 1, true))
	id := reply.Lookup("cursor").Doc().Lookup("id").Int64()
	h.ok(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`)
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, id)
	h.fails(50740, strings.TrimSuffix(more, "}")+", "+lsid+"}")
	r := h.ok(inTxnArgs(more, 1, false))
	if n := r.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Len(); n != 2 {
		t.Errorf("%d documents in the next batch: %s", n, r)
	}
	reply = h.ok(inTxnArgs(`{"find": "c", "batchSize": 1}`, 1, false))
	if h.endTxn("abortTransaction", 1); len(h.svc.Cursors.Cursors) != 0 {
		t.Error("cursors outlive the transaction")
	}
	_ = reply
}

func TestPlainWriteWaitsForTransaction(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
	update := `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`
	h.ok(inTxnArgs(update, 1, true))
	done := make(chan value.Doc)
	go func() {
		b := value.NewBuilder()
		it := value.MustJSON(update).Iter()
		out, _ := answer(h.svc, context.Background(), h.svc.NewConn("", ""), &kernel.Request{Body: b.Raw(it.Rest()).String("$db", "test").Doc()}, nil)
		done <- out
	}()
	h.endTxn("commitTransaction", 1)
	if r := <-done; r.Lookup("nModified").Int32() != 1 {
		t.Fatal(r)
	}
	if n := docs(h.ok(`{"find": "c"}`))[0].Lookup("n").Int32(); n != 2 {
		t.Errorf("n is %d", n)
	}
}

// How sessions stand in messages: with the digest of their user, which is
// that of nobody here.
func TestSessionsInMessages(t *testing.T) {
	const mine, other = "00000000-0000-4000-8000-000000000001 - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - ", "00000000-0000-4000-8000-000000000002 - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - "
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	open := func(args string) int64 {
		return h.ok(`{find: "c", batchSize: 1` + args + `}`).Lookup("cursor").Doc().Lookup("id").Int64()
	}
	within := ", " + scriptSession
	plain, owned, txn := open(""), open(within), open(within+`, txnNumber: {$numberLong: "5"}, autocommit: false, startTransaction: true`)
	more := func(id int64, args string) string {
		return fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"%s}`, id, args)
	}
	h.refuses([]refusal{
		{"test", more(plain, within), 50736, fmt.Sprintf("Cannot run getMore on cursor %d, which was not created in a session, in session %s", plain, mine)},
		{"test", more(owned, ""), 50737, fmt.Sprintf("Cannot run getMore on cursor %d, which was created in session %s, without an lsid", owned, mine)},
		{"test", more(owned, strings.Replace(within, "001", "002", 1)), 50738, fmt.Sprintf("Cannot run getMore on cursor %d, which was created in session %s, in session %s", owned, mine, other)},
		{"test", more(txn, within), 50740, fmt.Sprintf("Cannot run getMore on cursor %d, which was created in transaction 5, without a txnNumber", txn)},
		{"test", more(owned, within+`, txnNumber: {$numberLong: "5"}, autocommit: false`), 50739, fmt.Sprintf("Cannot run getMore on cursor %d, which was not created in a transaction, in transaction 5", owned)},
		{"test", `{insert: "c", documents: [{}]` + within + `, txnNumber: {$numberLong: "4"}}`, 225, "Retryable write with txnNumber 4 is prohibited on session " + mine + " because a newer transaction with txnNumber 5 has already started on this session."},
		{"test", `{find: "c"` + within + `, txnNumber: {$numberLong: "4"}, autocommit: false, startTransaction: true}`, 225, "Cannot start transaction with { txnNumber: 4 } on session " + mine + " because a newer transaction with txnNumberAndRetryCounter { txnNumber: 5, txnRetryCounter: 0 } has already started on this session."},
	})
}
