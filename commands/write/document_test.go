package write_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Invalid documents, with the errors of mongod's fixDocumentForInsert.
func TestDocumentsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	nested := func(levels int, innermost string) string {
		return strings.Repeat(`{"a": `, levels) + innermost + strings.Repeat(`}`, levels)
	}
	insert := func(d string) string { return `{"insert": "c", "documents": [` + d + `]}` }
	const tooDeep = "cannot insert document because it exceeds 180 levels of nesting"
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: insert(`{"_id": {"$regularExpression": {"pattern": "a", "options": ""}}}`), Code: 53, Text: "The '_id' value cannot be of type regex"},
		{DB: "test", Command: insert(`{"_id": {"$undefined": true}}`), Code: 53, Text: "The '_id' value cannot be of type undefined"},
		{DB: "test", Command: insert(`{"a": 1, "_id": [1]}`), Code: 53, Text: "The '_id' value cannot be of type array"},
		{DB: "test", Command: insert(`{"_id": {"x": 1, "$y": 2}}`), Code: 52, Text: "_id fields may not contain '$'-prefixed fields: $y is not valid for storage."},
		{DB: "test", Command: insert(nested(181, `1`)), Code: 15, Text: tooDeep},
		{DB: "test", Command: insert(nested(180, `[1]`)), Code: 15, Text: tooDeep},
		{DB: "test", Command: insert(nested(180, `1`)), Code: 0, Text: ""},
		{DB: "test", Command: insert(nested(180, `[]`)), Code: 0, Text: ""}, // what is empty makes no level
		{DB: "test", Command: insert(`{"_id": {"x": [{"$y": 2}]}}`), Code: 52, Text: "_id fields may not contain '$'-prefixed fields: $y is not valid for storage."},
		{DB: "test", Command: insert(`{"_id": {"x": 1}, "$z": 1, "p": "` + strings.Repeat("x", 2000) + `"}`), Code: 0, Text: ""},
	})
	twice := value.NewDoc("_id", value.Int32(1), "a", value.Int32(1), "_id", value.Int32(2))
	reply := h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(twice))))
	failed := reply.Lookup("writeErrors").Doc().Index(0).Doc()
	if failed.Lookup("code").Int32() != 2 || failed.Lookup("errmsg").Str() != "can't have multiple _id fields in one document" {
		t.Errorf("two _id: %s", reply)
	}
	if n := h.Count("c"); n != 3 {
		t.Errorf("%d documents are stored, want the 3 that may be", n)
	}
}

// A document of one byte more than the limit is a write error with code 10334; by an update,
// 17419.
func TestDocumentsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	const head = 22 // of {_id: 1, a: ""}
	insert := func(length int) value.Doc {
		d := value.NewDoc("_id", value.Int32(1), "a", value.String(strings.Repeat("x", length)))
		return h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d))))
	}
	failed := insert(kernel.MaxDocumentBytes - head + 1).Lookup("writeErrors").Doc().Index(0).Doc()
	if got, want := failed.Lookup("errmsg").Str(), "object to insert too large. size in bytes: 16777217, max size: 16777216"; failed.Lookup("code").Int32() != 10334 || got != want {
		t.Errorf("refused with %s: %q, want code 10334: %q", failed.Lookup("code"), got, want)
	}
	if reply := insert(kernel.MaxDocumentBytes - head); reply.Lookup("n").Int32() != 1 {
		t.Errorf("a document of the greatest size: %s", reply.Lookup("writeErrors"))
	}
	// A pipeline can make a document that is larger than any message.
	h.OK(`{"insert": "one", "documents": [{"_id": 2}]}`)
	reply := h.Run(`{"aggregate": "one", "pipeline": [{"$lookup": {"from": "c", "pipeline": [], "as": "a"}}, {"$set": {"b": "$a"}}, {"$merge": "c"}], "cursor": {}}`)
	if text := reply.Lookup("errmsg").Str(); reply.Lookup("code").Int32() != 10334 || !strings.Contains(text, "is invalid. Size must be between 0 and 16793600(16MB)") {
		t.Errorf("a document of twice the limit: %s", reply)
	}
	for _, hint := range []string{``, `, "hint": "_id_"`} {
		h.Fails(17419, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"b": 1}}`+hint+`}]}`)
	}
	h.Finds(`{"find": "c", "projection": {"a": 0}}`, `[{"_id":1}]`)
}

// A stored document has its _id first, a new one if the client gave none, and the present
// time in place of empty timestamps at the top level.
func TestDocumentsAsStored(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	const zero = `{"$timestamp": {"t": 0, "i": 0}}`
	stored := func(options, d string) value.Doc {
		h.Run(`{"drop": "c"}`)
		h.OK(`{"insert": "c", "documents": [` + d + `]` + options + `}`)
		return harness.Docs(h.OK(`{"find": "c"}`))[0]
	}
	if d := stored(``, `{"a": 1, "_id": 2, "b": 3}`); d.String() != `{ _id: 2, a: 1, b: 3 }` {
		t.Errorf("_id is not first: %s", d)
	}
	d := stored(``, `{"a": 1}`)
	if id, _ := d.First(); id != "_id" || d.Lookup("_id").Kind() != value.KindObjectID {
		t.Errorf("no _id was made: %s", d)
	}
	d = stored(``, `{"_id": `+zero+`, "a": `+zero+`, "b": {"c": `+zero+`}}`)
	seconds, _ := d.Lookup("a").Timestamp()
	if int64(seconds) != harness.TestStart.Unix() {
		t.Errorf("the empty timestamp became %s", d.Lookup("a"))
	}
	for _, path := range []value.Value{d.Lookup("_id"), d.Lookup("b").Doc().Lookup("c")} {
		if s, n := path.Timestamp(); s != 0 || n != 0 {
			t.Errorf("a timestamp that is not a field of the root became %s", path)
		}
	}
	d = stored(`, "bypassEmptyTsReplacement": true`, `{"_id": 1, "a": `+zero+`}`)
	if s, n := d.Lookup("a").Timestamp(); s != 0 || n != 0 {
		t.Errorf("bypassEmptyTsReplacement stored %s", d)
	}
}
