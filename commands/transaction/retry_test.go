package transaction_test

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

func TestRetryableWrites(t *testing.T) {
	for name, test := range map[string]struct{ setup, write, want, retry string }{
		"insert": {
			write: `{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`,
			want:  `{"n": 2, "ok": 1.0}`,
			retry: `{"n": 2, "retriedStmtIds": [0, 1], "ok": 1.0}`,
		},
		"update": {
			setup: `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`,
			write: `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`,
			want:  `{"n": 1, "nModified": 1, "ok": 1.0}`,
			retry: `{"n": 1, "nModified": 1, "retriedStmtIds": [0], "ok": 1.0}`,
		},
		"upsert": {
			write: `{"update": "c", "updates": [{"q": {"_id": 7}, "u": {"$inc": {"n": 1}}, "upsert": true}]}`,
			want:  `{"n": 1, "upserted": [{"index": 0, "_id": 7}], "nModified": 0, "ok": 1.0}`,
			retry: `{"n": 1, "upserted": [{"index": 0, "_id": 7}], "nModified": 0, "retriedStmtIds": [0], "ok": 1.0}`,
		},
		"delete": {
			setup: `{"insert": "c", "documents": [{"a": 1}, {"a": 1}]}`,
			write: `{"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}]}`,
			want:  `{"n": 1, "ok": 1.0}`,
			retry: `{"n": 1, "retriedStmtIds": [0], "ok": 1.0}`,
		},
		"findAndModify, old": {
			setup: `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`,
			write: `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}}`,
			want:  `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 0}, "ok": 1.0}`,
			retry: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 0}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		"findAndModify, new": {
			setup: `{"insert": "c", "documents": [{"_id": 1, "n": 0, "x": 1}]}`,
			write: `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, "new": true, "fields": {"x": 0}}`,
			want:  `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 1}, "ok": 1.0}`,
			retry: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 1}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		"findAndModify, fields that need filter and let": {
			setup: `{"insert": "c", "documents": [{"_id": 1, "a": [4, 5]}]}`,
			write: `{"findAndModify": "c", "query": {"_id": 1, "a": 5}, "update": {"$set": {"a.$": 6}}, "fields": {"a.$": 1, "y": "$$x"}, "let": {"x": 3}}`,
			want:  `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "a": [5], "y": 3}, "ok": 1.0}`,
			retry: `{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "a": [5], "y": 3}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		"findAndModify, remove": {
			setup: `{"insert": "c", "documents": [{"_id": 1}]}`,
			write: `{"findAndModify": "c", "query": {"_id": 1}, "remove": true}`,
			want:  `{"lastErrorObject": {"n": 1}, "value": {"_id": 1}, "ok": 1.0}`,
			retry: `{"lastErrorObject": {"n": 1}, "value": {"_id": 1}, "retriedStmtId": 0, "ok": 1.0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			if test.setup != "" {
				h.OK(test.setup)
			}
			for _, want := range []string{test.want, test.retry, test.retry} {
				if got := harness.Plain(h.OK(harness.RetryArgs(test.write, 1))); got.JSON() != value.MustJSON(want).JSON() {
					t.Errorf("answered %s, want %s", got, want)
				}
			}
			if got := h.Fails(225, harness.RetryArgs(test.write, 0)); got == "" {
				t.Error("no message")
			}
		})
	}
}

// A retried findAndModify with another kind of modification than the first attempt is
// refused, because the stored result belongs to the first (write_ops_retryability.cpp).
func TestRetryOfAnotherModification(t *testing.T) {
	const update, remove = `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}}`, `{"findAndModify": "c", "query": {"_id": 1}, "remove": true}`
	const upsert = `{"findAndModify": "c", "query": {"_id": 9}, "update": {"$inc": {"n": 1}}, "upsert": true}`
	for _, tt := range []struct {
		first, then string
		code        int32
	}{
		{remove, update, 40606}, {upsert, update, 40608}, {upsert, remove, 40608}, {update, remove, 40609},
	} {
		h := harness.New(t)
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
		h.OK(harness.RetryArgs(tt.first, 1))
		h.Fails(tt.code, harness.RetryArgs(tt.then, 1))
		h.OK(harness.RetryArgs(tt.first, 1))
	}
}

func TestRetryOfPartOfABatch(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`)
	insert := harness.RetryArgs(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`, 1)
	h.Fails(11000, insert)
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 2}, "limit": 1}]}`)
	if got, want := harness.Plain(h.OK(insert)).JSON(), value.MustJSON(`{"n": 3, "retriedStmtIds": [0], "ok": 1.0}`).JSON(); got != want {
		t.Errorf("answered %s, want %s", got, want)
	}
}

// TestRetryAfterRestart sends a write again to a server that was restarted
// meanwhile, and commits a transaction once more.
func TestRetryAfterRestart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*harness.Harness, func()) {
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
	update := harness.RetryArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}]}`, 1)
	h, stop := open()
	first := h.OK(update)
	stop()
	h, stop = open()
	if second := h.OK(update); second.Lookup("upserted").JSON() != first.Lookup("upserted").JSON() {
		t.Errorf("answered %s, then %s", first, second)
	}
	if n := harness.Docs(h.OK(`{"find": "c"}`))[0].Lookup("n").Int32(); n != 1 {
		t.Errorf("applied %d times", n)
	}
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 2, true))
	h.EndTxn("commitTransaction", 2)
	stop()
	h, stop = open()
	defer stop()
	if r := h.EndTxn("commitTransaction", 2); !r.Lookup("ok").Truthy() {
		t.Errorf("commit sent again after a restart: %s", r)
	}
	h.Fails(225, update)
}
