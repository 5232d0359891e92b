package kernel_test

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// What one server over the data has done, another one answers that has run all the time,
// if the statements are in parts, too.
func TestRetryOnAnotherServer(t *testing.T) {
	const n = 100
	first, stop := openOn(t, t.TempDir())
	defer stop()
	svc, err := harness.NewService(kernel.Options{Engine: first.Svc.Engine, Clock: first.Clock, Log: zerolog.Nop(), TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	second := &harness.Harness{TB: t, Svc: svc, Clock: first.Clock, Conn: svc.NewConn("", "")}
	want := first.OK(harness.RetryArgs(upserts(n), 1))
	for _, h := range []*harness.Harness{second, first, second} {
		reply := h.OK(harness.RetryArgs(upserts(n), 1))
		if reply.Lookup("retriedStmtIds").Doc().Len() != n || reply.Lookup("upserted").JSON() != want.Lookup("upserted").JSON() {
			t.Errorf("answered %.200s", reply)
		}
	}
	for _, d := range harness.Docs(first.OK(`{"find": "c", "batchSize": 1000}`)) {
		if d.Lookup("n").Int32() != 1 {
			t.Errorf("%s was changed twice", d)
		}
	}
	// The second server goes on with the session: it still has one record, and the parts
	// of the number before are removed.
	second.OK(harness.RetryArgs(`{"update": "c", "updates": [{"q": {"_id": "id0"}, "u": {"$inc": {"n": 1}}}]}`, 2))
	if records, parts := kept(first, oplog.Transactions), kept(first, oplog.Statements); len(records) != 1 || len(parts) != 0 {
		t.Errorf("%d records and %d parts are kept: %s", len(records), len(parts), records)
	}
}

// indexNames returns the names of the indexes of a collection.
func indexNames(h *harness.Harness, ns storage.Namespace) (names []string) {
	h.Helper()
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		for _, x := range coll.Info().Indexes {
			names = append(names, x.Name)
		}
		return nil
	})
	if err != nil {
		h.Fatal(err)
	}
	return names
}

// Records and parts in collections without indexes, as earlier versions made them, get
// their indexes, and the statements in them are answered.
func TestRecordsWithoutIndexes(t *testing.T) {
	const n = 100
	dir := t.TempDir()
	h, stop := openOn(t, dir)
	h.OK(harness.RetryArgs(upserts(n), 1))
	for _, ns := range []storage.Namespace{oplog.Transactions, oplog.Statements} {
		docs := kept(h, ns)
		if len(docs) == 0 {
			t.Fatalf("%s is empty", ns)
		}
		err := h.Svc.Engine.Update(t.Context(), func(tx storage.Tx) error {
			if err := tx.Drop(ns); err != nil {
				return err
			}
			coll, err := tx.Create(ns, value.EmptyDoc, nil)
			for i := 0; i < len(docs) && err == nil; i++ {
				_, err = coll.Insert(docs[i], h.Svc.Clock.NowMillis())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	h, stop = openOn(t, dir)
	defer func() { stop() }()
	if got := indexNames(h, oplog.Transactions); len(got) != 1 || got[0] != reserved.IDIndex {
		t.Errorf("%s has the indexes %v", oplog.Transactions, got)
	}
	if got := indexNames(h, oplog.Statements); len(got) != 1 || got[0] != "session_1" {
		t.Errorf("%s has the indexes %v", oplog.Statements, got)
	}
	if reply := h.OK(harness.RetryArgs(upserts(n), 1)); reply.Lookup("retriedStmtIds").Doc().Len() != n {
		t.Errorf("answered %.200s", reply)
	}
	// With the session, what is kept of it is removed.
	h.Clock.Advance(2 * session.Timeout)
	reap(h)
	if records, parts := kept(h, oplog.Transactions), kept(h, oplog.Statements); len(records)+len(parts) != 0 {
		t.Errorf("%d records and %d parts are left", len(records), len(parts))
	}
}

// reap removes what is kept of all sessions.
func reap(h *harness.Harness) {
	h.Helper()
	ended := func(session.RecordKey) bool { return false }
	if _, err := session.Reap(h.Context(), h.Svc.Engine, ended, h.Svc.Clock.NowMillis()); err != nil {
		h.Fatal(err)
	}
}
