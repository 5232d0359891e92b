package write_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// changesOf returns the entries of the change log about a collection.
func changesOf(h *harness.Harness, coll string) (list []value.Doc) {
	h.Helper()
	err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
		log, err := tx.Collection(oplog.Namespace)
		if err != nil {
			return err
		}
		return log.Scan(storage.Range{}, func(r storage.Record) bool {
			if r.Doc.Lookup("ns").Str() == "test."+coll {
				list = append(list, value.NewDoc("op", r.Doc.Lookup("op"), "o", r.Doc.Lookup("o"), "o2", r.Doc.Lookup("o2")))
			}
			return true
		})
	})
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// expressStatement is an update or delete of one document, as a client may send it.
type expressStatement struct {
	id      value.Value
	update  value.Doc // nil: delete
	returns string    // "old" or "new": it is a findAndModify
}

func drawStatement(t *rapid.T) expressStatement {
	s := expressStatement{
		id:      value.Int32(int32(rapid.IntRange(0, 4).Draw(t, "_id"))),
		returns: rapid.SampledFrom([]string{"", "", "old", "new"}).Draw(t, "findAndModify"),
	}
	if rapid.IntRange(0, 9).Draw(t, "delete") == 0 {
		return s
	}
	field := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "_id", "a.x", "$bad", ""})
	b := value.NewBuilder()
	for _, op := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"$inc", "$set", "$unset"}), 1, 2, rapid.ID).Draw(t, "operators") {
		b.StartDocument(op)
		for _, name := range rapid.SliceOfNDistinct(field, 1, 3, rapid.ID).Draw(t, "fields") {
			b.Append(name, drawScalar(t))
		}
		b.End()
	}
	s.update = b.Doc()
	return s
}

func drawScalar(t *rapid.T) value.Value {
	return rapid.SampledFrom([]value.Value{
		value.Int32(0), value.Int32(1), value.Int32(-7), value.Int64(1 << 40), value.Double(0.5), value.String("x"), value.String("a longer one"),
		value.Null(), value.Bool(true), value.NewArray(value.Int32(1)), value.Document(value.NewDoc("x", value.Int32(1))),
	}).Draw(t, "value")
}

// run sends the statement; with a hint it cannot use the fast path.
func (s *expressStatement) run(h *harness.Harness, coll string, slow bool) value.Doc {
	if s.returns != "" {
		return s.findAndModify(h, coll, slow)
	}
	b := value.NewBuilder()
	command, list := "update", "updates"
	if s.update == nil {
		command, list = "delete", "deletes"
	}
	b.String(command, coll).StartArray(list).StartDocument("").StartDocument("q").Append("_id", s.id).End()
	if s.update == nil {
		b.Int32("limit", 1)
	} else {
		b.Document("u", s.update)
	}
	if slow {
		b.String("hint", reserved.IDIndex)
	}
	b.End().End()
	return harness.Plain(h.RunOn("test", b.Doc()))
}

// findAndModify sends the statement as a findAndModify.
func (s *expressStatement) findAndModify(h *harness.Harness, coll string, slow bool) value.Doc {
	b := value.NewBuilder()
	b.String("findAndModify", coll).StartDocument("query").Append("_id", s.id).End()
	if s.update == nil {
		b.Bool("remove", true)
	} else {
		b.Document("update", s.update).Bool("new", s.returns == "new")
	}
	if slow {
		b.String("hint", reserved.IDIndex)
	}
	return harness.Plain(h.RunOn("test", b.Doc()))
}

// Statements on the fast path have the same reply, the same documents and the same change
// log as planned ones.
func TestExpressWritesDoAsPlanned(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := harness.New(t)
		for _, coll := range []string{"fast", "slow"} {
			h.OK(`{create: "` + coll + `", validator: {d: {$ne: true}}}`)
			h.OK(`{createIndexes: "` + coll + `", indexes: [{key: {b: 1}, name: "b", unique: true, sparse: true}, {key: {c: 1}, name: "c"}]}`)
			h.OK(`{insert: "` + coll + `", documents: [{_id: 0, a: 1, b: 1, c: "x"}, {_id: 1, a: 1.5, b: 2, d: {x: 1}, e: [1]}, {_id: 2, c: 3, a: {"$numberLong": "9223372036854775807"}}, {_id: 3}]}`)
		}
		for range rapid.IntRange(1, 12).Draw(r, "statements") {
			s := drawStatement(r)
			fast, slow := s.run(h, "fast", false), s.run(h, "slow", true)
			if want := bytes.ReplaceAll([]byte(slow.String()), []byte("test.slow"), []byte("test.fast")); fast.String() != string(want) {
				r.Fatalf("%s: answered %s, planned %s", s.update, fast, want)
			}
		}
		same := func(what string, fast, slow []value.Doc) {
			if len(fast) != len(slow) {
				r.Fatalf("%s: %d, planned %d", what, len(fast), len(slow))
			}
			for i := range fast {
				if !bytes.Equal(fast[i], slow[i]) {
					r.Fatalf("%s: %s, planned %s", what, fast[i], slow[i])
				}
			}
		}
		same("documents", harness.Docs(h.OK(`{find: "fast"}`)), harness.Docs(h.OK(`{find: "slow"}`)))
		same("changes", changesOf(h, "fast"), changesOf(h, "slow"))
	})
}

// Statements that the fast path does not support: on views, with other collations, on
// queues, on collections without an index on _id.
func TestExpressWritesElsewhere(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Fails(166, `{update: "v", updates: [{q: {_id: 1}, u: {$inc: {n: 1}}}]}`)
	h.Fails(166, `{delete: "v", deletes: [{q: {_id: 1}, limit: 1}]}`)
	h.OK(`{create: "loose", collation: {locale: "en", strength: 1}}`)
	h.OK(`{insert: "loose", documents: [{_id: "a", n: 1}]}`)
	if reply := h.OK(`{update: "loose", updates: [{q: {_id: "A"}, u: {$inc: {n: 1}}}]}`); reply.Lookup("nModified").Int32() != 1 {
		t.Errorf("answered %s", reply)
	}
	h.Holds("loose", `{_id: "a", n: 2}`)
	if reply := h.OK(`{update: "missing", updates: [{q: {_id: 1}, u: {$inc: {n: 1}}}]}`); reply.Lookup("n").Int32() != 0 {
		t.Errorf("answered %s", reply)
	}
	if reply := h.OK(`{find: "missing", filter: {_id: 1}}`); len(harness.Docs(reply)) != 0 {
		t.Errorf("answered %s", reply)
	}
	reply := h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", filter: {_id: 1}}`))
	if !reply.Lookup("ok").Truthy() || len(harness.Docs(reply)) != 0 {
		t.Errorf("of a collection without an index on _id: %s", reply)
	}
}

// transactions counts the engine transactions that write; each takes the write lock.
type transactions struct {
	storage.Engine
	n int
}

func (e *transactions) Update(ctx context.Context, fn func(storage.Tx) error) error {
	e.n++
	return e.Engine.Update(ctx, fn)
}

// A write by _id takes the write lock once, whether it changes a field, adds one, or both.
func TestExpressWritesTakeTheWriterOnce(t *testing.T) {
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	counted := &transactions{Engine: engine}
	h := harness.NewOver(t, counted, manual, kernel.Options{Log: zerolog.Nop()})
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	for _, command := range []string{
		`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}`,
		`{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}}]}`,
		`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 3, d: 1}, $inc: {c: 1}}}]}`,
		`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`,
	} {
		before := counted.n
		if reply := h.OK(command); reply.Lookup("n").Int32() != 1 {
			t.Errorf("%s: answered %s", command, reply)
		}
		if n := counted.n - before; n != 1 {
			t.Errorf("%s: %d transactions, want 1", command, n)
		}
	}
}
