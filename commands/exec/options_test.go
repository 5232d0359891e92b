package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// What a find shows besides the fields of its documents.
func TestMetadataOfFinds(t *testing.T) {
	t.Parallel()
	harness.SkipHostile(t, "names ids of records")
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: [5, 2], b: {c: "x"}}, {_id: 2, a: [], b: {c: "y"}}, {_id: 3, a: 3}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {"b.c": 1, _id: 1}, name: "bc"}, {key: {t: "text"}, name: "text"}]}`)
	for _, tt := range []struct{ command, want string }{
		// An array is sorted by its least element, an empty one by undefined, before null.
		{`{find: "c", sort: {a: 1}, hint: {$natural: 1}, projection: {_id: 1, k: {$meta: "sortKey"}}}`, `[{"_id":2,"k":[{"$undefined":true}]},{"_id":1,"k":[2]},{"_id":3,"k":[3]}]`},
		{`{find: "c", sort: {a: -1}, hint: {$natural: 1}, projection: {_id: 1, k: {$meta: "sortKey"}}}`, `[{"_id":1,"k":[5]},{"_id":3,"k":[3]},{"_id":2,"k":[{"$undefined":true}]}]`},
		{`{find: "c", sort: {"b.c": 1}, hint: {$natural: 1}, projection: {_id: 1, k: {$meta: "sortKey"}}}`, `[{"_id":3,"k":[null]},{"_id":1,"k":["x"]},{"_id":2,"k":["y"]}]`},
		{`{find: "c", filter: {_id: {$gt: 1}}, sort: {_id: 1}, projection: {_id: 1, k: {$meta: "sortKey"}}}`, `[{"_id":2,"k":[2]},{"_id":3,"k":[3]}]`},
		{`{find: "c", filter: {"b.c": "x"}, projection: {_id: 1, k: {$meta: "indexKey"}}}`, `[{"_id":1,"k":{"b.c":"x","_id":1}}]`},
		{`{find: "c", filter: {"b.c": "x"}, returnKey: true}`, `[{"b.c":"x","_id":1}]`},
		{`{find: "c", filter: {a: 3}, returnKey: true, hint: {$natural: 1}}`, `[{}]`},
		{`{find: "c", filter: {_id: 2}, showRecordId: true, projection: {_id: 1}}`, `[{"_id":2,"$recordId":{"$numberLong":"2"}}]`},
		{`{find: "c", filter: {_id: 2}, projection: {_id: 1, r: {$meta: "recordId"}}}`, `[{"_id":2,"r":{"$numberLong":"2"}}]`},
		{`{find: "c", filter: {_id: 2}, projection: {_id: 1, r: {x: {$meta: "recordId"}}}}`, `[{"_id":2,"r":{"x":{"$numberLong":"2"}}}]`},
		// An index covers fields of embedded documents.
		{`{find: "c", filter: {"b.c": {$gte: "x"}}, projection: {_id: 0, "b.c": 1}, hint: "bc"}`, `[{"b":{"c":"x"}},{"b":{"c":"y"}}]`},
		{`{find: "c", filter: {"b.c": {$gte: "x"}}, projection: {_id: 0, "b.c": 1}, sort: {"b.c": -1}, hint: "bc"}`, `[{"b":{"c":"y"}},{"b":{"c":"x"}}]`},
		{`{find: "c", filter: {_id: 2}, projection: {b: 1}}`, `[{"_id":2,"b":{"c":"y"}}]`},
		{`{find: "c", filter: {_id: 1, a: 2}, projection: {"a.$": 1}}`, `[{"_id":1,"a":[2]}]`},
		{`{find: "c", filter: {$expr: {$eq: ["$_id", "$$x"]}}, let: {x: 3}, projection: {_id: 1}}`, `[{"_id":3}]`},
	} {
		h.Finds(tt.command, tt.want)
	}
}

// Who asks for a collection by its UUID finds it; a UUID that belongs to no collection,
// or to another than the one named, is an error.
func TestCollectionsByUUID(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{insert: "d", documents: [{_id: 2}]}`)
	uuid := harness.JSONOf(h.UUIDOf("c"))
	const none = `{"$uuid": "00000000-0000-4000-8000-000000000001"}`
	for _, command := range []string{
		`{find: ` + uuid + `}`, `{find: "c", collectionUUID: ` + uuid + `}`, `{find: "c", filter: {_id: 1}, collectionUUID: ` + uuid + `}`,
		`{aggregate: "c", pipeline: [], cursor: {}, collectionUUID: ` + uuid + `}`,
	} {
		h.Finds(command, `[{"_id":1}]`)
	}
	for _, tt := range []struct {
		command string
		code    int32
		text    string // how it begins
	}{
		{`{find: ` + none + `}`, 26, "Unable to resolve "},
		{`{count: ` + none + `}`, 26, "Unable to resolve "},
		{`{find: "d", collectionUUID: ` + uuid + `}`, 361, ""},
		{`{find: "d", filter: {_id: 2}, collectionUUID: ` + uuid + `}`, 361, ""},
		{`{aggregate: "d", pipeline: [], cursor: {}, collectionUUID: ` + uuid + `}`, 361, ""},
		{`{aggregate: 1, pipeline: [{$documents: []}], cursor: {}, collectionUUID: ` + uuid + `}`, 4928901, "collectionUUID is not supported for a collectionless aggregation"},
		{`{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}, collectionUUID: ` + uuid + `}`, 4928900, "collectionUUID is not supported for a change stream"},
	} {
		if text := h.Fails(tt.code, tt.command); !strings.HasPrefix(text, tt.text) {
			t.Errorf("%s said %q, want %q", tt.command, text, tt.text)
		}
	}
}

// Options that contradict themselves or each other, in the words of mongod.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	numbers(h, 3)
	h.OK(`{create: "view", viewOn: "c", pipeline: []}`)
	for _, tt := range []struct {
		command string
		code    int32
		text    string
	}{
		{`{aggregate: "c", pipeline: [], explain: 1}`, 14, "explain must be a boolean"},
		{`{aggregate: "c", pipeline: [], cursor: 1}`, 14, "cursor field must be missing or an object"},
		{`{aggregate: "c", pipeline: []}`, 9, "The 'cursor' option is required, except for aggregate with the explain argument"},
		{`{count: "c", limit: "x"}`, 2, "limit value is not a valid number"},
		{`{count: "c", limit: {$numberDouble: "NaN"}}`, 9, "Expected an integer, but found NaN in: limit: nan"},
		{`{count: "c", limit: 1.5}`, 9, "Expected an integer: limit: 1.5"},
		{`{count: "c", limit: {$numberDouble: "1e30"}}`, 9, "Cannot represent as a 64-bit integer: limit: "},
		{`{count: "c", limit: {$numberLong: "-9223372036854775808"}}`, 2, "Limit value for count cannot be min long"},
		{`{distinct: "c", key: "a\u0000b"}`, 31032, "Key field cannot contain an embedded null byte"},
		{`{find: "c", min: {a: 1}, max: {b: 1}, hint: "a"}`, 51176, "min and max must have the same field names"},
		{`{find: "c", min: {a: 1, b: 1}, max: {a: 1}, hint: "ab"}`, 51176, "min and max must have the same field names"},
		{`{find: "c", tailable: true, sort: {a: 1}}`, 2, "cannot use tailable option with a sort other than {$natural: 1}"},
		{`{find: "c", tailable: true, singleBatch: true}`, 2, "cannot use tailable option with the 'singleBatch' option"},
		{`{find: "c", ntoreturn: 1}`, 40415, "BSON field 'FindCommandRequest.ntoreturn' is an unknown field."},
		{`{find: "view", collation: {locale: "fr"}}`, 167, "Cannot override a view's default collation"},
		{`{find: "c", filter: {_id: 1}, projection: {a: 1, b: 0}}`, 31254, ""},
		{`{find: "c", filter: {_id: 1}, projection: {a: {$divide: [1, 0]}}}`, 2, ""},
		{`{find: "c", filter: {a: 1}, sort: {a: "x"}}`, 15974, ""},
	} {
		if text := h.Fails(tt.code, tt.command); !strings.HasPrefix(strings.ToLower(text), strings.ToLower(tt.text)) {
			t.Errorf("%s said %q, want %q", tt.command, text, tt.text)
		}
	}
	for command, n := range map[string]int32{`{count: "c", limit: -2}`: 2, `{count: "c", limit: 2.0}`: 2, `{count: "c", limit: 0}`: 3, `{count: "c", query: {a: {$gte: 1}}, limit: {$numberLong: "1"}}`: 1} {
		if got := h.OK(command).Lookup("n").Int32(); got != n {
			t.Errorf("%s counts %d, want %d", command, got, n)
		}
	}
}

// A sort holds however its documents are found, also for what it chooses to change.
func TestSortedModifications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, left string }{
		{`{findAndModify: "c", query: {}, sort: {b: 1}, remove: true}`, `{_id: 0, a: 0, b: 0} {_id: 1, a: 1, b: -1}`},
		{`{findAndModify: "c", query: {a: {$lt: 2}}, sort: {b: 1}, remove: true}`, `{_id: 0, a: 0, b: 0} {_id: 2, a: 2, b: -2}`},
		{`{findAndModify: "c", query: {}, sort: {a: -1}, update: {$set: {b: 5}}}`, `{_id: 0, a: 0, b: 0} {_id: 1, a: 1, b: -1} {_id: 2, a: 2, b: 5}`},
		{`{update: "c", updates: [{q: {}, u: {$set: {b: 5}}, sort: {b: 1}}]}`, `{_id: 0, a: 0, b: 0} {_id: 1, a: 1, b: -1} {_id: 2, a: 2, b: 5}`},
		{`{update: "c", updates: [{q: {b: 9}, u: {$set: {b: 5}}, sort: {b: 1}}]}`, `{_id: 0, a: 0, b: 0} {_id: 1, a: 1, b: -1} {_id: 2, a: 2, b: -2}`},
	} {
		h := harness.New(t)
		numbers(h, 3)
		h.OK(tt.command)
		h.Holds("c", tt.left)
	}
}

// The distinct values of an index, with the first or last document of each.
func TestDistinctScans(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	var docs []string
	for i := range 60 {
		docs = append(docs, fmt.Sprintf(`{_id: %d, a: %d, b: %d}`, i, i%3, i))
	}
	h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `, {_id: 60}, {_id: 61, a: null}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, b: 1}, name: "ab"}]}`)
	for _, tt := range []struct{ pipeline, want string }{
		{`{$sort: {a: 1, b: 1}}, {$group: {_id: "$a", x: {$first: "$b"}}}, {$match: {_id: {$ne: null}}}, {$sort: {_id: 1}}`, `[{"_id":0,"x":0},{"_id":1,"x":1},{"_id":2,"x":2}]`},
		{`{$sort: {a: 1, b: 1}}, {$group: {_id: "$a", x: {$last: "$b"}}}, {$match: {_id: {$ne: null}}}, {$sort: {_id: 1}}`, `[{"_id":0,"x":57},{"_id":1,"x":58},{"_id":2,"x":59}]`},
		{`{$sort: {a: -1, b: -1}}, {$group: {_id: "$a", x: {$first: "$b"}}}, {$match: {_id: {$ne: null}}}, {$sort: {_id: 1}}`, `[{"_id":0,"x":57},{"_id":1,"x":58},{"_id":2,"x":59}]`},
		{`{$match: {a: {$gte: 1}}}, {$group: {_id: "$a"}}, {$sort: {_id: 1}}`, `[{"_id":1},{"_id":2}]`},
	} {
		h.Finds(`{aggregate: "c", pipeline: [`+tt.pipeline+`], cursor: {}}`, tt.want)
	}
	reply := h.OK(`{distinct: "c", key: "a", query: {a: {$gte: 0}}}`)
	if got := reply.Lookup("values").String(); got != "[ 0, 1, 2 ]" {
		t.Errorf("distinct values %s", got)
	}
	if n := h.OK(`{explain: {distinct: "c", key: "a", query: {a: {$gte: 0}}}}`).Lookup("executionStats").Doc().Lookup("totalKeysExamined").Int64(); n > 4 {
		t.Errorf("%d keys were looked at for 3 values", n)
	}
}

// $text in a pipeline over a view uses the index of the collection below.
func TestTextOverViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, t: "red apples"}, {_id: 2, t: "green pears"}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {t: "text"}, name: "t"}]}`)
	h.OK(`{create: "lower", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "upper", viewOn: "lower", pipeline: []}`)
	for _, coll := range []string{"c", "lower", "upper"} {
		h.Finds(`{aggregate: "`+coll+`", pipeline: [{$match: {$text: {$search: "apple"}}}, {$project: {_id: 1}}], cursor: {}}`, `[{"_id":1}]`)
	}
	h.Finds(`{find: "c", filter: {$text: {$search: "pear apple"}}, sort: {_id: 1}, projection: {_id: 1}}`, `[{"_id":1},{"_id":2}]`)
}
