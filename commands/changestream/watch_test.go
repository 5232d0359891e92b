package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// mixedOperations runs operations of all kinds on three collections of two databases.
func mixedOperations(h *harness.Harness) {
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	h.OK(`{insert: "d", documents: [{_id: 1}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 3}}}, {q: {_id: 2}, u: {b: 1}}]}`)
	h.RunOn("more", harness.Relaxed(`{insert: "c", documents: [{_id: 1}]}`))
	h.OK(`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`)
	h.OK(`{delete: "d", deletes: [{q: {}, limit: 0}]}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 7}, {"_id": 8}]}`, 1, true))
	h.OK(harness.InTxnArgs(`{"delete": "d", "deletes": [{"q": {"_id": 7}, "limit": 1}]}`, 1, false))
	h.EndTxn("commitTransaction", 1)
	h.OK(`{drop: "d"}`)
}

// A $match directly after $changeStream lets the same events through as a $match after
// a stage that prevents its early evaluation.
func TestStreamInterest(t *testing.T) {
	for _, filter := range []string{
		`{"operationType": "insert"}`,
		`{"operationType": {"$in": ["update", "replace", "drop"]}}`,
		`{"operationType": {"$ne": "insert"}}`,
		`{"ns.coll": "d"}`,
		`{"ns": {"db": "more", "coll": "c"}}`,
		`{"ns.db": {"$regex": "^m"}, "operationType": "insert"}`,
		`{"ns.coll": "c", "fullDocument.a": {"$gt": 1}}`,
		`{"$or": [{"operationType": "delete"}, {"ns.coll": "d"}]}`,
		`{"$or": [{"operationType": "delete"}, {"documentKey._id": 1}]}`,
		`{"$nor": [{"operationType": "insert"}, {"ns.coll": "d"}]}`,
		`{"$expr": {"$eq": ["$ns.db", "more"]}}`,
		`{"$expr": {"$and": [{"$eq": ["$operationType", "update"]}, {"$eq": ["$documentKey._id", 1]}]}}`,
		`{"ns.other": {"$exists": false}}`,
		`{"operationType": {"$type": "string"}, "ns.coll": {"$exists": true}}`,
	} {
		t.Run(filter, func(t *testing.T) {
			h := harness.New(t)
			early, late := watchCluster(h, `{"$match": `+filter+`}`), watchCluster(h, `{"$redact": "$$KEEP"}, {"$match": `+filter+`}`)
			mixedOperations(h)
			got, want := early.Events(), late.Events()
			if len(got) != len(want) || len(want) == 0 {
				t.Fatalf("%d events, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i].JSON() != want[i].JSON() {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
		})
	}
}

func watchCluster(h *harness.Harness, stages string) *harness.TestStream {
	h.Helper()
	reply := h.Admin(`{"aggregate": 1, "pipeline": [{"$changeStream": {"allChangesForCluster": true}}, ` + stages + `], "cursor": {"batchSize": 0}}`)
	if !reply.Lookup("ok").Truthy() {
		h.Fatal(reply)
	}
	return &harness.TestStream{H: h, DB: "admin", Coll: "$cmd.aggregate", ID: reply.Lookup("cursor").Doc().Lookup("id").Int64()}
}

// The names of events can be compared with a collation.
func TestStreamInterestWithCollation(t *testing.T) {
	h := harness.New(t)
	reply := h.OK(`{aggregate: "c", pipeline: [{$changeStream: {}}, {$match: {operationType: "DELETE"}}], cursor: {batchSize: 0}, collation: {locale: "en", strength: 2}}`)
	s := &harness.TestStream{H: h, Coll: "c", ID: reply.Lookup("cursor").Doc().Lookup("id").Int64()}
	mixedOperations(h)
	s.Expect(`{"operationType": "delete", "ns": {"db": "test", "coll": "c"}, "documentKey": {"_id": 1}}`)
}

// A write wakes a group of streams once, and only groups that it may concern; the resume
// tokens of the others advance as well.
func TestStreamsAreWokenInGroups(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	const deletes = `, {"$match": {"operationType": "delete"}}`
	all := []*harness.TestStream{h.Watch("c", `{}`, ""), h.Watch("c", `{}`, ""), h.Watch("c", `{}`, "")}
	only := []*harness.TestStream{h.Watch("c", `{}`, deletes), h.Watch("c", `{"showExpandedEvents": true}`, deletes)}
	groups := h.Svc.Oplog.Groups[storage.Namespace{DB: "test", Coll: "c"}]
	if len(groups) != 2 || groups[0].Streams != 3 || groups[1].Streams != 2 {
		t.Fatalf("groups %+v", groups)
	}
	before := only[0].Last
	for _, step := range []struct {
		run        string
		everything int64
		deletes    int64
	}{
		{`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`, 1, 0},
		{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, multi: true}]}`, 2, 0},
		{`{insert: "other", documents: [{_id: 1}]}`, 2, 0},
		{`{delete: "c", deletes: [{q: {}, limit: 0}]}`, 3, 1},
		{`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`, 4, 2},
	} {
		h.OK(step.run)
		if a, d := groups[0].Count(), groups[1].Count(); a != step.everything || d != step.deletes {
			t.Errorf("%s: woken %d and %d times, want %d and %d", step.run, a, d, step.everything, step.deletes)
		}
	}
	for _, s := range all {
		if n := len(s.Events()); n != 6 {
			t.Errorf("%d events of all, want 6", n)
		}
	}
	for _, s := range only {
		if n := len(s.Events()); n != 2 {
			t.Errorf("%d deletes, want 2", n)
		}
	}
	h.OK(`{insert: "c", documents: [{_id: 3}]}`)
	if events := only[0].Events(); len(events) != 0 || value.Equal(value.Document(before), value.Document(only[0].Last)) {
		t.Errorf("%v; the token stays at %s", events, before)
	}
	if made := len(groups[0].Made); made != 6 {
		t.Errorf("three streams made %d events, want 6", made)
	}
	for _, s := range append(all, only...) {
		h.OK(fmt.Sprintf(`{killCursors: "c", cursors: [{"$numberLong": "%d"}]}`, s.ID))
	}
	if n := len(h.Svc.Oplog.Groups); n != 0 {
		t.Errorf("%d groups are left", n)
	}
}

// A stream that joins a group and begins earlier receives the earlier events as well; a
// stream that is behind does not depend on the events that others keep.
func TestStreamJoinsGroupFromEarlier(t *testing.T) {
	h := harness.New(t)
	first := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	h.OK(`{insert: "other", documents: [{_id: 1}]}`)
	begin := first.Last.JSON()
	one := first.Events()
	h.Watch("c", `{}`, "").Expect()
	late := h.Watch("c", `{"startAfter": `+begin+`}`, "")
	for i, e := range late.Events() {
		if e.JSON() != one[i].JSON() {
			t.Errorf("got  %s\nwant %s", e, one[i])
		}
	}
	large := `{insert: "c", documents: [{_id: %d, text: "` + strings.Repeat("x", 64<<10) + `"}]}`
	for i := range 40 { // more than is shared
		h.OK(fmt.Sprintf(large, 10+i))
	}
	if a, b := len(first.Events()), len(late.Events()); a != 40 || b != 40 {
		t.Errorf("%d and %d events, want 40", a, b)
	}
	w := h.Svc.Oplog.Groups[storage.Namespace{DB: "test", Coll: "c"}][0]
	if w.Bytes > oplog.MaxSharedBytes {
		t.Errorf("%d bytes are kept", w.Bytes)
	}
}
