package commands

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/value"
)

// testStream is an open change stream.
type testStream struct {
	h    *harness
	id   int64
	db   string // "": test
	coll string
	last value.Doc // token
}

// watch opens a stream on a collection ("": the database).
func (h *harness) watch(coll, options, stages string) *testStream {
	h.Helper()
	on := `"` + coll + `"`
	s := &testStream{h: h, coll: coll}
	if coll == "" {
		on, s.coll = "1", "$cmd.aggregate"
	}
	reply := h.ok(fmt.Sprintf(`{"aggregate": %s, "pipeline": [{"$changeStream": %s}%s], "cursor": {"batchSize": 0}}`, on, options, stages))
	cur := reply.Lookup("cursor").Doc()
	s.id, s.last = cur.Lookup("id").Int64(), cur.Lookup("postBatchResumeToken").Doc().Clone()
	return s
}

// events reads what there is.
func (s *testStream) events() (list []value.Doc) {
	s.h.Helper()
	reply := s.h.runOn(cmp.Or(s.db, "test"), value.MustJSON(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "maxTimeMS": 1}`, s.id, s.coll)))
	if !reply.Lookup("ok").Truthy() {
		s.h.Fatal(reply)
	}
	cur := reply.Lookup("cursor").Doc()
	for v := range cur.Lookup("nextBatch").Doc().Values() {
		list = append(list, v.Doc().Clone())
	}
	if id := cur.Lookup("id").Int64(); id == 0 {
		s.id = 0
	}
	s.last = cur.Lookup("postBatchResumeToken").Doc().Clone()
	return list
}

// brief leaves out of an event what differs from run to run.
func brief(d value.Doc) string {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		switch it.Key() {
		case "_id", "clusterTime", "wallTime", "collectionUUID", "lsid":
		default:
			b.Raw(it.Element())
		}
	}
	return b.Doc().JSON()
}

func (s *testStream) expect(want ...string) {
	s.h.Helper()
	got := s.events()
	if len(got) != len(want) {
		s.h.Fatalf("events %v, want %v", got, want)
	}
	for i, d := range got {
		if w := value.MustJSON(want[i]).JSON(); brief(d) != w {
			s.h.Errorf("event %d is %s, want %s", i, brief(d), w)
		}
	}
}

const nsC = `"ns": {"db": "test", "coll": "c"}`

func TestStreamOfDocuments(t *testing.T) {
	h := newHarness(t)
	s := h.watch("c", `{}`, "")
	h.ok(`{"insert": "c", "documents": [{"_id": 1, "a": {"b": 1, "c": [1, 2, 3]}, "d": 1, "s": {"long": "a text that is longer than a difference", "l": [1, 2, 3]}}, {"_id": 2}]}`)
	h.ok(`{"insert": "other", "documents": [{"_id": 1}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.b": 2, "e": 5}, "$unset": {"d": 1}, "$push": {"a.c": 4}}}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"s.l": [1, 9]}}]}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"x": 1}}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"x": 1}}}]}`)
	h.ok(`{"delete": "c", "deletes": [{"q": {"_id": 2}, "limit": 1}]}`)
	s.expect(
		`{"operationType": "insert", "fullDocument": {"_id": 1, "a": {"b": 1, "c": [1, 2, 3]}, "d": 1, "s": {"long": "a text that is longer than a difference", "l": [1, 2, 3]}}, `+nsC+`, "documentKey": {"_id": 1}}`,
		`{"operationType": "insert", "fullDocument": {"_id": 2}, `+nsC+`, "documentKey": {"_id": 2}}`,
		`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "updateDescription": {"updatedFields": {"e": 5, "a.b": 2, "a.c.3": 4}, "removedFields": ["d"], "truncatedArrays": []}}`,
		`{"operationType": "update", `+nsC+`, "documentKey": {"_id": 1}, "updateDescription": {"updatedFields": {"s.l": [1, 9]}, "removedFields": [], "truncatedArrays": []}}`,
		`{"operationType": "replace", "fullDocument": {"_id": 2, "x": 1}, `+nsC+`, "documentKey": {"_id": 2}}`,
		`{"operationType": "delete", `+nsC+`, "documentKey": {"_id": 2}}`,
	)
	s.expect()
}

func TestStreamOfTransaction(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c"}`)
	s := h.watch("", `{}`, "")
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	s.expect()
	h.ok(inTxnArgs(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`, 1, false))
	h.endTxn("commitTransaction", 1)
	s.expect(
		`{"operationType": "insert", "txnNumber": 1, "fullDocument": {"_id": 1}, `+nsC+`, "documentKey": {"_id": 1}}`,
		`{"operationType": "delete", "txnNumber": 1, `+nsC+`, "documentKey": {"_id": 1}}`,
	)
	h.ok(inTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 2, true))
	h.endTxn("abortTransaction", 2)
	s.expect()
}

func TestStreamInvalidation(t *testing.T) {
	for name, test := range map[string]struct{ coll, run, want string }{
		"drop":         {"c", `{"drop": "c"}`, `{"operationType": "drop", ` + nsC + `}`},
		"rename":       {"c", `{"renameCollection": "test.c", "to": "test.d"}`, `{"operationType": "rename", ` + nsC + `, "to": {"db": "test", "coll": "d"}}`},
		"dropDatabase": {"c", `{"dropDatabase": 1}`, `{"operationType": "drop", ` + nsC + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.ok(`{"create": "c"}`)
			s := h.watch(test.coll, `{}`, "")
			db := "test"
			if name == "rename" {
				db = "admin"
			}
			h.runOn(db, value.MustJSON(test.run))
			s.expect(test.want, `{"operationType": "invalidate"}`)
			if s.id != 0 {
				t.Error("the cursor is open behind an invalidation")
			}
			token := s.last.JSON()
			resume := fmt.Sprintf(`{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": %s}}], "cursor": {}}`, token)
			h.fails(260, resume)
			again := h.watch("c", `{"startAfter": `+token+`}`, "")
			h.ok(`{"insert": "c", "documents": [{"_id": 1}]}`)
			again.expect(`{"operationType": "insert", "fullDocument": {"_id": 1}, ` + nsC + `, "documentKey": {"_id": 1}}`)
		})
	}
}

func TestStreamResume(t *testing.T) {
	h := newHarness(t)
	s := h.watch("c", `{}`, "")
	begin := s.last
	for i := range 20 {
		h.ok(fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %d}, {"_id": %d}]}`, 2*i, 2*i+1))
	}
	all := s.events()
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
		if got := len(h.watch("c", `{"resumeAfter": `+token.JSON()+`}`, "").events()); got != len(all)-i-1 {
			t.Errorf("%d events behind event %d", got, i)
		}
	}
	if got := len(h.watch("c", `{"resumeAfter": `+begin.JSON()+`}`, "").events()); got != 40 {
		t.Errorf("%d events from the beginning", got)
	}
	at := all[20].Lookup("clusterTime").JSON()
	if got := len(h.watch("c", `{"startAtOperationTime": `+at+`}`, "").events()); got != 20 {
		t.Errorf("%d events from a time", got)
	}
	h.svc.Oplog.Limit.Store(500)
	if err := h.svc.Oplog.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := h.fails(286, `{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": `+begin.JSON()+`}}], "cursor": {}}`); text != "PlanExecutor error during aggregation :: caused by :: "+changestream.HistoryLost {
		t.Error(text)
	}
}

func TestStreamImages(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c", "changeStreamPreAndPostImages": {"enabled": true}}`)
	h.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 1, "l": [1, 2]}]}`)
	s := h.watch("c", `{"fullDocument": "required", "fullDocumentBeforeChange": "required"}`, `, {"$project": {"updateDescription": 0, "ns": 0, "documentKey": 0}}`)
	now := h.watch("c", `{"fullDocument": "updateLookup"}`, `, {"$match": {"operationType": "update"}}, {"$project": {"fullDocument": 1}}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}, "$push": {"l": 3}}}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`)
	h.ok(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	s.expect(
		`{"operationType": "update", "fullDocument": {"_id": 1, "n": 2, "l": [1, 2, 3]}, "fullDocumentBeforeChange": {"_id": 1, "n": 1, "l": [1, 2]}}`,
		`{"operationType": "update", "fullDocument": {"_id": 1, "n": 3, "l": [1, 2, 3]}, "fullDocumentBeforeChange": {"_id": 1, "n": 2, "l": [1, 2, 3]}}`,
		`{"operationType": "delete", "fullDocumentBeforeChange": {"_id": 1, "n": 3, "l": [1, 2, 3]}}`,
	)
	now.expect(`{"fullDocument": null}`, `{"fullDocument": null}`)
	h.ok(`{"insert": "plain", "documents": [{"_id": 1}]}`)
	missing := h.watch("plain", `{"fullDocumentBeforeChange": "required"}`, "")
	h.ok(`{"delete": "plain", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`)
	h.fails(47, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "plain"}`, missing.id))
}

func TestStreamExpandedEvents(t *testing.T) {
	h := newHarness(t)
	s := h.watch("", `{"showExpandedEvents": true}`, "")
	h.ok(`{"create": "c"}`)
	h.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}`)
	h.ok(`{"collMod": "c"}`)
	h.ok(`{"collMod": "c", "index": {"name": "a_1", "hidden": true}}`)
	h.ok(`{"dropIndexes": "c", "index": "a_1"}`)
	h.ok(`{"insert": "c", "documents": [{"_id": 1, "a": {"0": 1}, "b.c": 1}]}`)
	h.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.0": 2}}}]}`)
	h.ok(`{"drop": "c"}`)
	got := []string{}
	for _, d := range s.events() {
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
	h := newHarness(t)
	h.ok(`{"create": "v", "viewOn": "c", "pipeline": []}`)
	h.fails(166, `{"aggregate": "v", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
	for _, db := range []string{"admin", "config", "local"} {
		if r := h.runOn(db, relaxed(`{aggregate: 1, pipeline: [{$changeStream: {}}], cursor: {}}`)); r.Lookup("code").Int32() != 73 {
			t.Errorf("%s: answered %s", db, r)
		}
	}
	h.fails(40647, `{"aggregate": "c", "pipeline": [{"$changeStream": {"resumeAfter": {}}}], "cursor": {}}`)
	s := h.watch("c", `{}`, `, {"$project": {"_id": 0}}`)
	h.ok(`{"insert": "c", "documents": [{"_id": 1}]}`)
	h.fails(280, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, s.id))
}
