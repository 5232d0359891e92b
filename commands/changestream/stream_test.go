package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

const nsC = `"ns": {"db": "test", "coll": "c"}`

func TestStreamOfDocuments(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": {"b": 1, "c": [1, 2, 3]}, "d": 1, "s": {"long": "a text that is longer than a difference", "l": [1, 2, 3]}}, {"_id": 2}]}`)
	h.OK(`{"insert": "other", "documents": [{"_id": 1}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.b": 2, "e": 5}, "$unset": {"d": 1}, "$push": {"a.c": 4}}}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"s.l": [1, 9]}}]}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"x": 1}}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"x": 1}}}]}`)
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 2}, "limit": 1}]}`)
	s.Expect(
		`{"operationType": "insert", "fullDocument": {"_id": 1, "a": {"b": 1, "c": [1, 2, 3]}, "d": 1, "s": {"long": "a text that is longer than a difference", "l": [1, 2, 3]}}, `+nsC+`, "documentKey": {"_id": 1}}`,
		`{"operationType": "insert", "fullDocument": {"_id": 2}, `+nsC+`, "documentKey": {"_id": 2}}`,
		`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "updateDescription": {"updatedFields": {"e": 5, "a.b": 2, "a.c.3": 4}, "removedFields": ["d"], "truncatedArrays": []}}`,
		`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "updateDescription": {"updatedFields": {"s.l": [1, 9]}, "removedFields": [], "truncatedArrays": []}}`,
		`{"operationType": "replace", "fullDocument": {"_id": 2, "x": 1}, `+nsC+`, "documentKey": {"_id": 2}}`,
		`{"operationType": "delete", `+nsC+`, "documentKey": {"_id": 2}}`,
	)
	s.Expect()
}

func TestStreamOfTransaction(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c"}`)
	s := h.Watch("", `{}`, "")
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	s.Expect()
	h.OK(harness.InTxnArgs(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`, 1, false))
	h.EndTxn("commitTransaction", 1)
	s.Expect(
		`{"operationType": "insert", "txnNumber": 1, "fullDocument": {"_id": 1}, `+nsC+`, "documentKey": {"_id": 1}}`,
		`{"operationType": "delete", "txnNumber": 1, `+nsC+`, "documentKey": {"_id": 1}}`,
	)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 2, true))
	h.EndTxn("abortTransaction", 2)
	s.Expect()
}

func TestStreamInvalidation(t *testing.T) {
	for name, test := range map[string]struct{ coll, run, want string }{
		"drop":         {"c", `{"drop": "c"}`, `{"operationType": "drop", ` + nsC + `}`},
		"rename":       {"c", `{"renameCollection": "test.c", "to": "test.d"}`, `{"to": {"db": "test", "coll": "d"}, "operationType": "rename", ` + nsC + `}`},
		"dropDatabase": {"c", `{"dropDatabase": 1}`, `{"operationType": "drop", ` + nsC + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(`{"create": "c"}`)
			s := h.Watch(test.coll, `{}`, "")
			db := "test"
			if name == "rename" {
				db = "admin"
			}
			h.RunOn(db, value.MustJSON(test.run))
			s.Expect(test.want, `{"operationType": "invalidate"}`)
			if s.ID != 0 {
				t.Error("the cursor is open behind an invalidation")
			}
			token := s.Last.JSON()
			resume := fmt.Sprintf(`{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": %s}}], "cursor": {}}`, token)
			h.Fails(260, resume)
			again := h.Watch("c", `{"startAfter": `+token+`}`, "")
			h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
			again.Expect(`{"operationType": "insert", "fullDocument": {"_id": 1}, ` + nsC + `, "documentKey": {"_id": 1}}`)
		})
	}
}

func TestStreamResume(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	begin := s.Last
	for i := range 20 {
		h.OK(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}, {"_id": %d}]}`, 2*i, 2*i+1))
	}
	all := s.Events()
	if len(all) != 40 {
		t.Fatalf("%d events", len(all))
	}
	before := begin.Lookup("_data").Str()
	for i, d := range all {
		token := d.Lookup("_id").Doc()
		if now := token.Lookup("_data").Str(); now <= before {
			t.Errorf("token %s does not follow %s", now, before)
		}
		before = token.Lookup("_data").Str()
		if got := len(h.Watch("c", `{"resumeAfter": `+token.JSON()+`}`, "").Events()); got != len(all)-i-1 {
			t.Errorf("%d events behind event %d", got, i)
		}
	}
	if got := len(h.Watch("c", `{"resumeAfter": `+begin.JSON()+`}`, "").Events()); got != 40 {
		t.Errorf("%d events from the beginning", got)
	}
	at := all[20].Lookup("clusterTime").JSON()
	if got := len(h.Watch("c", `{"startAtOperationTime": `+at+`}`, "").Events()); got != 20 {
		t.Errorf("%d events from a time", got)
	}
	h.Svc.Oplog.Limit.Store(500)
	if err := h.Svc.Oplog.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := h.Fails(286, `{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": `+begin.JSON()+`}}], "cursor": {}}`); text != "Executor error during aggregate command on namespace: test.c :: caused by :: "+changestream.HistoryLost {
		t.Error(text)
	}
}

func TestStreamImages(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c", "changeStreamPreAndPostImages": {"enabled": true}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "n": 1, "l": [1, 2]}]}`)
	s := h.Watch("c", `{"fullDocument": "required", "fullDocumentBeforeChange": "required"}`, `, {"$project": {"updateDescription": 0, "ns": 0, "documentKey": 0}}`)
	now := h.Watch("c", `{"fullDocument": "updateLookup"}`, `, {"$match": {"operationType": "update"}}, {"$project": {"fullDocument": 1}}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}, "$push": {"l": 3}}}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`)
	h.OK(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	s.Expect(
		`{"operationType": "update", "fullDocument": {"_id": 1, "n": 2, "l": [1, 2, 3]}, "fullDocumentBeforeChange": {"_id": 1, "n": 1, "l": [1, 2]}}`,
		`{"operationType": "update", "fullDocument": {"_id": 1, "n": 3, "l": [1, 2, 3]}, "fullDocumentBeforeChange": {"_id": 1, "n": 2, "l": [1, 2, 3]}}`,
		`{"operationType": "delete", "fullDocumentBeforeChange": {"_id": 1, "n": 3, "l": [1, 2, 3]}}`,
	)
	now.Expect(`{"fullDocument": null}`, `{"fullDocument": null}`)
	h.OK(`{"insert": "plain", "documents": [{"_id": 1}]}`)
	missing := h.Watch("plain", `{"fullDocumentBeforeChange": "required"}`, "")
	h.OK(`{"delete": "plain", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	h.Fails(47, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "plain"}`, missing.ID))
}

func TestStreamExpandedEvents(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("", `{"showExpandedEvents": true}`, "")
	h.OK(`{"create": "c"}`)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`)
	h.OK(`{"collMod": "c"}`)
	h.OK(`{"collMod": "c", "index": {"name": "a_1", "hidden": true}}`)
	h.OK(`{"dropIndexes": "c", "index": "a_1"}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": {"0": 1}, "b.c": 1}]}`)
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.0": 2}}}]}`)
	h.OK(`{"drop": "c"}`)
	got := []string{}
	for _, d := range s.Events() {
		got = append(got, d.Lookup("operationType").Str())
		switch d.Lookup("operationType").Str() {
		case "update":
			if p := d.Lookup("updateDescription").Doc().Lookup("disambiguatedPaths").JSON(); p != `{"a.0":["a","0"]}` {
				t.Errorf("disambiguatedPaths %s", p)
			}
		case "createIndexes":
			if n := d.Lookup("operationDescription").Doc().Lookup("indexes").Doc().Index(0).Doc().Lookup("name").Str(); n != "a_1" {
				t.Errorf("%s", d)
			}
		}
	}
	if want := "create createIndexes modify modify dropIndexes insert update drop"; strings.Join(got, " ") != want {
		t.Errorf("events %v, want %s", got, want)
	}
}

func TestStreamRefuses(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "v", "viewOn": "c", "pipeline": []}`)
	h.Fails(166, `{"aggregate": "v", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
	for _, db := range []string{"admin", "config", "local"} {
		if r := h.RunOn(db, harness.Relaxed(`{aggregate: 1, pipeline: [{$changeStream: {}}], cursor: {}}`)); r.Lookup("code").Int32() != 73 {
			t.Errorf("%s: answered %s", db, r)
		}
	}
	h.Fails(40647, `{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": {}}}], "cursor": {}}`)
	s := h.Watch("c", `{}`, `, {"$project": {"_id": 0}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
	h.Fails(280, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, s.ID))
}
