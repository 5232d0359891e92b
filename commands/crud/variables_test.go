package crud_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// $$NOW and $$CLUSTER_TIME keep their value for the whole life of a cursor.
func TestVariablesStayTheSame(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]}`)
	for _, command := range []string{
		`{"aggregate": "c", "pipeline": [{"$project": {"n": "$$NOW", "t": "$$CLUSTER_TIME"}}], "cursor": {"batchSize": 1}}`,
		`{"find": "c", "projection": {"n": "$$NOW", "t": "$$CLUSTER_TIME"}, "batchSize": 1}`,
	} {
		reply := h.OK(command)
		first := harness.Docs(reply)[0]
		if first.Lookup("n").Kind() != value.KindDateTime || first.Lookup("t").Kind() != value.KindTimestamp {
			t.Fatalf("%s gives %s", command, first)
		}
		h.Clock.Advance(time.Minute)
		h.OK(`{"insert": "other", "documents": [{}]}`)
		for range 3 {
			reply = h.OK(fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1}`, reply.Lookup("cursor").Doc().Lookup("id").Int64()))
			for _, d := range harness.Docs(reply) {
				if value.Compare(d.Lookup("n"), first.Lookup("n")) != 0 || value.Compare(d.Lookup("t"), first.Lookup("t")) != 0 {
					t.Errorf("%s gives %s, then %s", command, first, d)
				}
			}
		}
	}
}

func TestClusterTime(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "d": {"$date": "2020-01-01T00:00:00Z"}}]}`)
	const pipeline = `{"aggregate": "c", "pipeline": [{"$project": {"t": "$$CLUSTER_TIME"}}], "cursor": {}}`
	if !h.Svc.InCluster() {
		h.Fails(10071200, pipeline) // a standalone has none
	}
	h.AsMember()
	before := harness.Docs(h.OK(pipeline))[0].Lookup("t")
	h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`)
	if after := harness.Docs(h.OK(pipeline))[0].Lookup("t"); value.Compare(before, after) >= 0 {
		t.Errorf("%s before a write, %s after it", before, after)
	}
	h.OK(`{"update": "c", "updates": [{"q": {"$expr": {"$lt": ["$missing", "$$CLUSTER_TIME"]}}, "u": [{"$set": {"t": "$$CLUSTER_TIME"}}], "multi": true}]}`)
	for _, d := range harness.Docs(h.OK(`{"find": "c"}`)) {
		if d.Lookup("t").Kind() != value.KindTimestamp {
			t.Errorf("the update left %s", d)
		}
	}
	h.OK(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"s": "$$CLUSTER_TIME"}}]}, {"q": {"_id": 2}, "u": [{"$set": {"s": "$$CLUSTER_TIME"}}]}]}`)
	if n := len(harness.Docs(h.OK(`{"aggregate": "c", "pipeline": [{"$group": {"_id": "$s"}}], "cursor": {}}`))); n != 1 {
		t.Errorf("the statements of one command saw %d cluster times", n)
	}
	h.Admin(`{"bulkWrite": 1, "ops": [{"update": 0, "filter": {"_id": 1}, "updateMods": [{"$set": {"s": "$$CLUSTER_TIME"}}]}, {"update": 0, "filter": {"_id": 2}, "updateMods": [{"$set": {"s": "$$CLUSTER_TIME"}}]}], "nsInfo": [{"ns": "test.c"}]}`)
	if n := len(harness.Docs(h.OK(`{"aggregate": "c", "pipeline": [{"$group": {"_id": "$s"}}], "cursor": {}}`))); n != 2 {
		t.Errorf("the operations of a bulkWrite saw %d cluster times", n)
	}
	h.OK(`{"create": "v", "validator": {"$expr": {"$lte": ["$t", "$$CLUSTER_TIME"]}}}`)
	h.OK(`{"insert": "v", "documents": [{"t": {"$timestamp": {"t": 1, "i": 1}}}]}`)
	if r := h.Run(`{"insert": "v", "documents": [{"t": {"$timestamp": {"t": 4294967295, "i": 1}}}]}`); !r.Has("writeErrors") {
		t.Errorf("the validator let it pass: %s", r)
	}
}

// Commands that have no runtime constants in mongod refuse these variables.
func TestVariablesThatAreNotAvailable(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "d": {"$date": "2020-01-01T00:00:00Z"}}]}`)
	const filter = `{"$expr": {"$lt": ["$d", "$$NOW"]}}`
	h.Fails(51144, `{"count": "c", "query": `+filter+`}`)
	h.Fails(51144, `{"distinct": "c", "key": "_id", "query": `+filter+`}`)
	h.Fails(51144, `{"listCollections": 1, "filter": {"$expr": {"$gt": ["$$CLUSTER_TIME", null]}}}`)
	if r := h.Admin(`{"listDatabases": 1, "filter": ` + filter + `}`); r.Lookup("code").Int32() != 51144 {
		t.Errorf("listDatabases: %s", r)
	}
	if n := len(harness.Docs(h.OK(`{"find": "c", "filter": ` + filter + `}`))); n != 1 {
		t.Errorf("find gives %d", n)
	}
}

// A command's let is evaluated before the command has its constants; a definition may be
// any other expression without fields.
func TestVariablesOfLet(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
	for _, let := range []string{`"$$NOW"`, `"$$CLUSTER_TIME"`, `"$$USER_ROLES"`, `{"$add": ["$$NOW", 1]}`} {
		for _, command := range []string{
			`{"aggregate": "c", "pipeline": [], "cursor": {}, "let": {"x": ` + let + `}}`,
			`{"find": "c", "let": {"x": ` + let + `}}`,
			`{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"a": "$$x"}}]}], "let": {"x": ` + let + `}}`,
			`{"delete": "c", "deletes": [{"q": {}, "limit": 0}], "let": {"x": ` + let + `}}`,
			`{"findAndModify": "c", "remove": true, "let": {"x": ` + let + `}}`,
			`{"explain": {"find": "c", "let": {"x": ` + let + `}}}`,
		} {
			if text := h.Fails(51144, command); !strings.HasPrefix(text, "Builtin variable '$$") || !strings.HasSuffix(text, "' is not available") {
				t.Errorf("%s: %s", command, text)
			}
		}
	}
	h.OK(`{"aggregate": "c", "pipeline": [{"$project": {"n": "$$NOW"}}], "cursor": {}, "let": {"x": 1}}`)
	got := harness.Docs(h.OK(`{"aggregate": "c", "pipeline": [{"$project": {"x": "$$x", "y": "$$y"}}], "cursor": {}, "let": {"x": {"$add": [1, 2]}, "y": {"$concat": ["a", {"$toString": "$$x"}]}}}`))[0]
	if got.Lookup("x").AsDouble() != 3 || got.Lookup("y").Str() != "a3" {
		t.Errorf("got %s", got)
	}
}

// A message that quotes bytes of the client is valid UTF-8: drivers cannot decode other
// replies.
func TestMessagesAreText(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
	for _, command := range []string{
		`{"aggregate": "c", "pipeline": [{"$project": {"r": {"$toInt": "\u00a05"}}}], "cursor": {}}`,
		`{"aggregate": "c", "pipeline": [{"$project": {"r": {"$toDate": "2024-06-15é"}}}], "cursor": {}}`,
		`{"aggregate": "c", "pipeline": [{"$project": {"r": {"$dateToString": {"date": "$d", "format": "%é"}}}}], "cursor": {}}`,
		`{"aggregate": "c", "pipeline": [{"$project": {"r": {"$regexMatch": {"input": "a", "regex": "a", "options": "é"}}}}], "cursor": {}}`,
		`{"aggregate": "c", "pipeline": [{"$project": {"r": "$$aé.b!é"}}], "cursor": {}}`,
		`{"find": "c", "filter": {"a": {"$regex": "é(", "$options": "é"}}}`,
		`{"find": "c", "filter": {"a": {"$regex": "(?é)"}}}`,
		`{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"a": {"$toInt": "５"}}}]}]}`,
	} {
		for _, r := range []value.Doc{h.Run(command)} {
			text := r.Lookup("errmsg").Str() + r.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("errmsg").Str()
			if text == "" || !utf8.ValidString(text) {
				t.Errorf("%s: %q", command, text)
			}
		}
	}
}
