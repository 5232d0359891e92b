package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// openOn starts a service over a data directory.
func openOn(t *testing.T, dir string) (h *harness.Harness, stop func()) {
	t.Helper()
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: dir, Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	svc, err := harness.NewService(kernel.Options{Engine: engine, Clock: manual, Log: zerolog.Nop(), TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &harness.Harness{TB: t, Svc: svc, Clock: manual, Conn: svc.NewConn("", "")}, func() { housekeeping.Close(svc); _ = engine.Close() }
}

// upserts returns an update of n statements, each of which inserts.
func upserts(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"q": {"_id": "id%d"}, "u": {"$inc": {"n": 1}}, "upsert": true}`, i))
	}
	return `{"update": "c", "updates": [` + strings.Join(list, ", ") + `]}`
}

// kept returns the documents of one of the server's own collections.
func kept(h *harness.Harness, ns storage.Namespace) (list []value.Doc) {
	h.Helper()
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return nil
		}
		return coll.Scan(storage.Range{}, func(r storage.Record) bool {
			list = append(list, r.Doc.Clone())
			return true
		})
	})
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// TestManyStatements: the results of many statements are stored, also across restarts,
// and the cost of one does not grow with the number of earlier ones.
func TestManyStatements(t *testing.T) {
	const n = 500
	dir := t.TempDir()
	h, stop := openOn(t, dir)
	defer func() { stop() }()
	first := h.OK(harness.RetryArgs(upserts(n), 1))
	if got := first.Lookup("upserted").Doc().Len(); got != n {
		t.Fatalf("%d upserted", got)
	}
	records := kept(h, oplog.Transactions)
	if len(records) != 1 || records[0].Lookup("statements").Doc().Len() > session.MaxRecent {
		t.Errorf("config.transactions has %s", records)
	}
	for round := range 3 {
		again := h.OK(harness.RetryArgs(upserts(n), 1))
		if again.Lookup("upserted").JSON() != first.Lookup("upserted").JSON() || again.Lookup("retriedStmtIds").Doc().Len() != n {
			t.Errorf("round %d: answered %.200s", round, again)
		}
		stop()
		h, stop = openOn(t, dir)
	}
	for _, d := range harness.Docs(h.OK(`{"find": "c", "batchSize": 1000}`)) {
		if d.Lookup("n").Int32() != 1 {
			t.Errorf("%s was changed twice", d)
		}
	}
	// More statements of the same number, then of the next: the records of the old
	// number are removed.
	more := `{"update": "c", "stmtIds": [700, 650, 3], "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}, {"q": {"_id": 2}, "u": {"$inc": {"n": 1}}, "upsert": true}, {"q": {"_id": 3}, "u": {"$inc": {"n": 1}}, "upsert": true}]}`
	want := `[{"index":0,"_id":1},{"index":1,"_id":2},{"index":2,"_id":"id3"}]`
	for round := range 3 {
		reply := h.OK(harness.RetryArgs(more, 1))
		if got := reply.Lookup("upserted").JSON(); got != want {
			t.Errorf("round %d: %s, want %s", round, got, want)
		}
		if round == 1 {
			stop()
			h, stop = openOn(t, dir)
		}
	}
	if len(kept(h, oplog.Statements)) == 0 {
		t.Error("nothing was moved out of the session's record")
	}
	h.OK(harness.RetryArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`, 2))
	if left := kept(h, oplog.Statements); len(left) != 0 {
		t.Errorf("%d parts of the number before are left", len(left))
	}
	h.Fails(225, harness.RetryArgs(upserts(1), 1))
}

// TestPartsEndWithATransaction: a transaction of the session replaces the record of the
// retryable write before it, including its parts.
func TestPartsEndWithATransaction(t *testing.T) {
	h, stop := openOn(t, t.TempDir())
	defer stop()
	h.OK(harness.RetryArgs(upserts(100), 1))
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 2, true))
	h.EndTxn("commitTransaction", 2)
	if left := kept(h, oplog.Statements); len(left) != 0 {
		t.Errorf("%d parts are left", len(left))
	}
	h.OK(harness.RetryArgs(upserts(100), 3))
	if again := h.OK(harness.RetryArgs(upserts(100), 3)); again.Lookup("retriedStmtIds").Doc().Len() != 100 {
		t.Errorf("answered %.200s", again)
	}
}

// TestOldSessionRecord: a record of an older version, with all statements, is read, and
// is replaced by parts when more statements follow.
func TestOldSessionRecord(t *testing.T) {
	const n = 40
	dir := t.TempDir()
	h, stop := openOn(t, dir)
	h.OK(harness.RetryArgs(upserts(n), 1))
	b := value.NewBuilder()
	for i := range n {
		s := session.RetriedStatement{First: int32(i), Last: int32(i), Kind: 'i', ID: value.String(fmt.Sprintf("id%d", i))}
		if i == 0 {
			b.Document("_id", kept(h, oplog.Transactions)[0].Lookup("_id").Doc()).Int64("txnNum", 1).StartArray("statements")
		}
		s.Append(b)
	}
	old := b.End().Doc()
	err := h.Svc.Engine.Update(t.Context(), func(tx storage.Tx) error {
		if err := tx.Drop(oplog.Statements); err != nil {
			return err
		}
		coll, err := tx.Collection(oplog.Transactions)
		if err != nil {
			return err
		}
		var id storage.RecordID
		if err := coll.Scan(storage.Range{}, func(r storage.Record) bool { id = r.ID; return false }); err != nil {
			return err
		}
		return storagetest.Done(coll.Update(id, old, h.Svc.Clock.NowMillis()))
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	h, stop = openOn(t, dir)
	defer func() { stop() }()
	for round := range 3 {
		reply := h.OK(harness.RetryArgs(upserts(n+20), 1))
		retried := n
		if round > 0 {
			retried += 20
		}
		if reply.Lookup("upserted").Doc().Len() != n+20 || reply.Lookup("retriedStmtIds").Doc().Len() != retried {
			t.Errorf("round %d: %.200s", round, reply)
		}
		stop()
		h, stop = openOn(t, dir)
	}
}

// TestInsertsOfABulkWrite: consecutive inserts have one stored result, whichever command
// contained them.
func TestInsertsOfABulkWrite(t *testing.T) {
	h := harness.New(t)
	var ops []string
	for i := range 50 {
		ops = append(ops, fmt.Sprintf(`{"insert": 0, "document": {"_id": %d}}`, i))
	}
	bulk := harness.RetryArgs(`{"bulkWrite": 1, "ops": [`+strings.Join(ops, ", ")+`], "nsInfo": [{"ns": "test.c"}]}`, 1)
	if reply := h.Admin(bulk); reply.Lookup("nInserted").Int32() != 50 {
		t.Fatalf("answered %s", reply)
	}
	if n := kept(h, oplog.Transactions)[0].Lookup("statements").Doc().Len(); n != 1 {
		t.Errorf("%d outcomes are kept", n)
	}
	if again := h.Admin(bulk); again.Lookup("nInserted").Int32() != 50 || again.Lookup("retriedStmtIds").Doc().Len() != 50 {
		t.Errorf("answered %s", again)
	}
}
