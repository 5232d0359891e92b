package write_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// idDoors are the ways to store a document with an _id of one's own; ID stands for it.
var idDoors = []struct {
	name, db, command string
	updates           bool // the rules are those of updates, which differ from those of inserts
}{
	{"insert", "test", `{insert: "c", documents: [{_id: ID, a: 1}]}`, false},
	{"insert, _id last", "test", `{insert: "c", documents: [{a: 1, _id: ID}]}`, false},
	{"bulkWrite insert", "admin", `{bulkWrite: 1, ops: [{insert: 0, document: {_id: ID, a: 1}}], nsInfo: [{ns: "test.c"}]}`, false},
	{"applyOps", "admin", `{applyOps: [{op: "i", ns: "test.c", o: {_id: ID, a: 1}}]}`, false},
	{"$out", "test", `{aggregate: "one", pipeline: [{$replaceWith: {$literal: {_id: ID, a: 1}}}, {$out: "c"}], cursor: {}}`, false},
	{"$merge insert", "test", `{aggregate: "one", pipeline: [{$replaceWith: {$literal: {_id: ID, a: 1}}}, {$merge: {into: "c", whenMatched: "fail"}}], cursor: {}}`, false},
	{"upsert of a replacement", "test", `{update: "c", updates: [{q: {}, u: {_id: ID, a: 1}, upsert: true}]}`, true},
	{"upsert by $set", "test", `{update: "c", updates: [{q: {}, u: {$set: {_id: ID, a: 1}}, upsert: true}]}`, true},
	{"upsert by a pipeline", "test", `{update: "c", updates: [{q: {}, u: [{$replaceWith: {$literal: {_id: ID, a: 1}}}], upsert: true}]}`, true},
	{"upsert of a query", "test", `{update: "c", updates: [{q: {_id: {$eq: ID}}, u: {$set: {a: 1}}, upsert: true}]}`, true},
	{"findAndModify", "test", `{findAndModify: "c", query: {}, update: {_id: ID, a: 1}, upsert: true}`, true},
	{"bulkWrite upsert", "admin", `{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {_id: ID, a: 1}, upsert: true}], nsInfo: [{ns: "test.c"}]}`, true},
}

// A DBRef may be an _id, any other name with $ may not.
func TestReferenceAsID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id             string
		insert, update int32 // codes, 0: it is stored
	}{
		{`{$ref: "x", $id: 1}`, 0, 0},
		{`{$ref: "x", $id: 1, $db: "y"}`, 0, 0},
		{`{$ref: "x", $id: 1, $db: "y", z: 1}`, 0, 0},
		{`{$ref: "x", $id: 1, z: 1}`, 0, 0},
		{`{$ref: "x", $id: {$y: 1}}`, 0, 0}, // nobody looks into $id
		{`{a: {$ref: "x", $id: 1}}`, 0, 0},
		{`{a: 1, $ref: "x", $id: 1}`, 52, 0},
		{`{$ref: "x", $id: 1, $z: 1}`, 52, 52},
		{`{$ref: "x", $id: 1, $db: 1}`, 52, 55},
		{`{$ref: "x", $id: 1, z: 1, $db: "y"}`, 52, 55},
		{`{$ref: 1, $id: 1}`, 52, 55},
		{`{$ref: "x"}`, 52, 55},
		{`{$ref: "x", a: 1, $id: 1}`, 52, 55},
		{`{$id: 1, $ref: "x"}`, 52, 55},
		{`{$db: "y"}`, 52, 55},
		{`{a: 1, $z: 1}`, 52, 52},
		{`{a: {$z: 1}}`, 52, 0}, // updates look at the first level only
	} {
		h := harness.New(t)
		h.OK(`{insert: "one", documents: [{_id: 1}]}`)
		h.OK(`{create: "c"}`)
		for _, door := range idDoors {
			reply := h.RunOn(door.db, harness.Relaxed(strings.ReplaceAll(door.command, "ID", tt.id)))
			want := tt.insert
			if door.updates {
				want = tt.update
			}
			stored := 0
			if want == 0 {
				stored = 1
			}
			if code := firstCode(reply); code != want || h.Count("c") != stored {
				t.Errorf("%s of %s answered %s, want code %d; %d documents are stored", door.name, tt.id, reply, want, h.Count("c"))
			}
			h.RunOn("test", harness.Relaxed(`{delete: "c", deletes: [{q: {}, limit: 0}]}`))
		}
	}
}

// firstCode is the code of a reply or of its first write error.
func firstCode(reply value.Doc) int32 {
	for _, d := range []value.Doc{
		reply, reply.Lookup("writeErrors").Doc().Index(0).Doc(), reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc(),
	} {
		if code := d.Lookup("code"); !code.IsMissing() {
			return code.Int32()
		}
	}
	return 0
}
