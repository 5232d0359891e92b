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
