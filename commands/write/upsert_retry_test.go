package write_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
)

// preemptedEngine is an engine in which another client writes before an update.
type preemptedEngine struct {
	storage.Engine
	first func()
}

func (e *preemptedEngine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	if first := e.first; first != nil {
		e.first = nil
		first()
	}
	return e.Engine.Update(ctx, fn)
}

// If another client has inserted a document that the filter of an upsert requires by
// equality, the upsert updates that document; otherwise it fails with the duplicate key.
func TestUpsertMeetsAnInsert(t *testing.T) {
	t.Parallel()
	const retried = `{"n": 1, "nModified": 1, "ok": 1.0}`
	for _, tt := range []struct {
		statement, meanwhile string
		want                 string // "": error 11000
		left                 string
	}{
		{`"q": {"a": 1}, "u": {"$set": {"b": 2}}`, `{"_id": 9, "a": 1}`, retried, `{_id: 9, a: 1, b: 2}`},
		{`"q": {"a": 1, "c": {"$exists": false}}, "u": {"$set": {"b": 2}}`, `{"_id": 9, "a": 1}`, retried, `{_id: 9, a: 1, b: 2}`},
		{`"q": {"_id": 9, "z": null}, "u": {"$set": {"b": 2}}`, `{"_id": 9}`, retried, `{_id: 9, b: 2}`},
		{`"q": {"a": {"$gte": 1}}, "u": {"$setOnInsert": {"a": 1}}`, `{"_id": 9, "a": 1}`, "", `{_id: 9, a: 1}`},
		{`"q": {"a": 1}, "u": {"$setOnInsert": {"k": 5}}`, `{"_id": 9, "a": 2, "k": 5}`, "", `{_id: 9, a: 2, k: 5}`},
	} {
		h := harness.New(t)
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true, "sparse": true}, {"key": {"k": 1}, "name": "k", "unique": true, "sparse": true}]}`)
		plain, by := h.Svc.Engine, other(h)
		h.Svc.Engine = &preemptedEngine{plain, func() { by.OK(`{"insert": "c", "documents": [` + tt.meanwhile + `]}`) }}
		command := `{"update": "c", "updates": [{` + tt.statement + `, "upsert": true}]}`
		if tt.want == "" {
			h.Fails(11000, command)
		} else if got := harness.Plain(h.Run(command)); got.String() != harness.Relaxed(tt.want).String() {
			t.Errorf("%s answered %s, want %s", command, got, tt.want)
		}
		h.Svc.Engine = plain
		h.Holds("c", tt.left)
	}
}

// The second attempt of a findAndModify or an update has the same reply as the first and
// changes nothing.
func TestRetriedModifications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, left string }{
		{`{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"a": 1}}}`, `{_id: 1, a: 2} {_id: 2, a: 1}`},
		{`{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"a": 1}}, "new": true}`, `{_id: 1, a: 2} {_id: 2, a: 1}`},
		{`{"findAndModify": "c", "query": {"_id": 3}, "update": {"$inc": {"a": 1}}, "upsert": true, "new": true}`, `{_id: 1, a: 1} {_id: 2, a: 1} {_id: 3, a: 1}`},
		{`{"findAndModify": "c", "query": {}, "sort": {"_id": 1}, "remove": true}`, `{_id: 2, a: 1}`},
		{`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}, {"q": {"_id": 3}, "u": {"$inc": {"a": 1}}, "upsert": true}]}`, `{_id: 1, a: 2} {_id: 2, a: 1} {_id: 3, a: 1}`},
		{`{"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}]}`, `{_id: 2, a: 1}`},
	} {
		h := harness.New(t).AsMember()
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]}`)
		command := harness.RetryArgs(tt.command, 1)
		first := h.OK(command)
		again := h.OK(command)
		for _, field := range []string{"n", "nModified", "upserted", "value", "lastErrorObject"} {
			if got, want := again.Lookup(field).String(), first.Lookup(field).String(); got != want {
				t.Errorf("%s: the retry has %s: %s, the first attempt %s", tt.command, field, got, want)
			}
		}
		h.Holds("c", tt.left)
	}
}

// A positional projection of the new document is refused, because the filter applies to
// the old one.
func TestPositionalProjectionOfTheNewDocument(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "l": [1, 2, 3]}]}`)
	const command = `{"findAndModify": "c", "query": {"l": 2}, "update": {"$set": {"x": 1}}, "fields": {"l.$": 1}`
	if text, want := h.Fails(2, command+`, "new": true}`), "cannot use a positional projection and return the new document"; text != want {
		t.Errorf("said %q, want %q", text, want)
	}
	if got, want := h.OK(command+`}`).Lookup("value").String(), `{ _id: 1, l: [ 2 ] }`; got != want {
		t.Errorf("the document before is %s, want %s", got, want)
	}
	h.Holds("c", `{_id: 1, l: [1, 2, 3], x: 1}`)
}

// The limit of a delete is 0 or 1, as a number of any type; what is no number counts as 0.
func TestDeleteLimit(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	remove := func(limit string) string {
		return `{"delete": "c", "deletes": [{"q": {"a": {"$gt": 0}}, "limit": ` + limit + `}]}`
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: remove(`2`), Code: 9, Text: "The limit field in delete objects must be 0 or 1. Got 2"},
		{DB: "test", Command: remove(`-1`), Code: 9, Text: "The limit field in delete objects must be 0 or 1. Got -1"},
		{DB: "test", Command: remove(`0.5`), Code: 9, Text: "The limit field in delete objects must be 0 or 1. Got 0.5"},
		{DB: "test", Command: `{"delete": "c", "deletes": [{"q": 1, "limit": 1}]}`, Code: 14, Text: "BSON field 'delete.deletes.q' is the wrong type 'int', expected type 'object'"},
	})
	for limit, n := range map[string]int64{`1`: 1, `1.0`: 1, `{"$numberLong": "1"}`: 1, `0`: 3, `{"$numberDecimal": "0"}`: 3, `"1"`: 3, `true`: 3, `{}`: 3, `null`: 3} {
		h.OK(`{"insert": "c", "documents": [{"a": 1}, {"a": 2}, {"a": 3}]}`)
		if got := h.OK(remove(limit)).Lookup("n").SafeInt64(); got != n {
			t.Errorf("limit %s removed %d documents, want %d", limit, got, n)
		}
		h.OK(remove(`0`))
	}
}
