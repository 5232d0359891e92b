package ddl_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// A clustered index can have a name of its own. Commands that add up the sizes of
// indexes find it.
func TestNamedClusteredIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true, name: "own"}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	h.Admin(`{listDatabases: 1}`)
	for _, command := range []string{`{listDatabases: 1, $db: "admin"}`, `{dbStats: 1}`, `{collStats: "c"}`, `{validate: "c"}`, `{aggregate: "c", pipeline: [{$collStats: {storageStats: {}}}], cursor: {}}`} {
		db := "test"
		if command[1] == 'l' {
			db, command = "admin", `{listDatabases: 1}`
		}
		if reply := h.RunOn(db, harness.Relaxed(command)); reply.Lookup("ok").AsDouble() != 1 {
			t.Errorf("%s: %s", command, reply)
		}
	}
	h.Finds(`{find: "c", filter: {_id: 2}}`, `[{"_id":2}]`)
	h.Finds(`{find: "c", filter: {_id: {$gt: 1}}}`, `[{"_id":2}]`)
	h.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`)
	h.OK(`{delete: "c", deletes: [{q: {_id: 2}, limit: 1}]}`)
	h.Finds(`{find: "c"}`, `[{"_id":1,"a":1}]`)
}

// A hint may name a clustered index by its own name, and then not by the default one.
func TestHintAtNamedClusteredIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, tt := range []struct{ coll, name, other string }{{"c", "own", "_id_"}, {"d", "_id_", "own"}} {
		h.OK(`{create: "` + tt.coll + `", clusteredIndex: {key: {_id: 1}, unique: true, name: "` + tt.name + `"}}`)
		h.OK(`{createIndexes: "` + tt.coll + `", indexes: [{key: {a: 1}, name: "a_1"}]}`)
		h.OK(`{insert: "` + tt.coll + `", documents: [{_id: 1, a: 3}, {_id: 2, a: 2}, {_id: 3, a: 1}]}`)
		for _, hint := range []string{`"` + tt.name + `"`, `{_id: 1}`} {
			h.Finds(`{find: "`+tt.coll+`", filter: {_id: {$gte: 2}}, hint: `+hint+`}`, `[{"_id":2,"a":2},{"_id":3,"a":1}]`)
			h.Finds(`{find: "`+tt.coll+`", filter: {a: {$lt: 3}}, sort: {_id: -1}, hint: `+hint+`}`, `[{"_id":3,"a":1},{"_id":2,"a":2}]`)
			h.Finds(`{find: "`+tt.coll+`", min: {_id: 2}, max: {_id: 3}, hint: `+hint+`}`, `[{"_id":2,"a":2}]`)
			h.OK(`{update: "` + tt.coll + `", updates: [{q: {_id: 1}, u: {$inc: {b: 1}}, hint: ` + hint + `}]}`)
			if n := h.OK(`{count: "` + tt.coll + `", query: {_id: {$gt: 1}}, hint: ` + hint + `}`).Lookup("n").SafeInt64(); n != 2 {
				t.Errorf("count with the hint %s: %d", hint, n)
			}
		}
		h.Finds(`{find: "`+tt.coll+`", filter: {_id: 1}}`, `[{"_id":1,"a":3,"b":2}]`)
		h.Finds(`{find: "`+tt.coll+`", filter: {a: 2}, hint: "a_1"}`, `[{"_id":2,"a":2}]`)
		h.Fails(2, `{find: "`+tt.coll+`", hint: "`+tt.other+`"}`)
		h.Fails(2, `{find: "`+tt.coll+`", hint: {_id: -1}}`)
		explained := h.OK(`{explain: {find: "` + tt.coll + `", filter: {_id: {$gt: 1}}}, verbosity: "executionStats"}`)
		if n := explained.Lookup("executionStats").Doc().Lookup("totalDocsExamined").SafeInt64(); n != 2 {
			t.Errorf("%s: %d documents were read, want 2", tt.coll, n)
		}
	}
}
