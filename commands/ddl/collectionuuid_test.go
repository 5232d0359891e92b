package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// The commands that support collectionUUID in MongoDB 8.0 fail if the collection has
// another UUID; the error names the collection that has the given one.
func TestCollectionUUID(t *testing.T) {
	for _, command := range []string{
		`{find: "$c", collectionUUID: $u}`,
		`{find: "$c", filter: {_id: 0}, collectionUUID: $u}`,
		`{explain: {find: "$c", collectionUUID: $u}}`,
		`{aggregate: "$c", pipeline: [], cursor: {}, collectionUUID: $u}`,
		`{aggregate: "$c", pipeline: [{$group: {_id: null}}], explain: true, collectionUUID: $u}`,
		`{insert: "$c", documents: [{}], collectionUUID: $u}`,
		`{update: "$c", updates: [{q: {_id: 0}, u: {$set: {a: 1}}}], collectionUUID: $u}`,
		`{update: "$c", updates: [{q: {}, u: {$set: {a: 1}}, upsert: true}], collectionUUID: $u}`,
		`{delete: "$c", deletes: [{q: {_id: 0}, limit: 1}], collectionUUID: $u}`,
		`{delete: "$c", deletes: [{q: {}, limit: 0}], collectionUUID: $u}`,
		`{explain: {delete: "$c", deletes: [{q: {}, limit: 0}], collectionUUID: $u}}`,
		`{explain: {update: "$c", updates: [{q: {}, u: {}}], collectionUUID: $u}}`,
		`{createIndexes: "$c", indexes: [{key: {x: 1}, name: "x_1"}], collectionUUID: $u}`,
		`{dropIndexes: "$c", index: {y: 1}, collectionUUID: $u}`,
		`{collMod: "$c", collectionUUID: $u}`,
	} {
		h := harness.New(t)
		h.OK(`{insert: "coll", documents: [{_id: 0}]}`)
		h.OK(`{insert: "coll_2", documents: [{_id: 1}]}`)
		h.OK(`{createIndexes: "coll", indexes: [{key: {y: 1}, name: "y_1"}]}`)
		h.OK(`{create: "view", viewOn: "coll", pipeline: []}`)
		id := harness.JSONOf(h.UUIDOf("coll"))
		on := func(coll, id string) string { return strings.NewReplacer("$c", coll, "$u", id).Replace(command) }
		const unknown = `{$uuid: "00000000-0000-4000-8000-000000000001"}`
		for _, c := range []struct{ db, coll, uuid, actual string }{
			{"test", "coll", unknown, "null"},
			{"test", "coll_2", id, `"coll"`},
			{"test", "view", id, `"coll"`},
			{"test", "missing", id, `"coll"`},
			{"other", "missing", id, "null"},
		} {
			reply := h.RunOn(c.db, harness.Relaxed(on(c.coll, c.uuid)))
			if e := reply.Lookup("writeErrors").Doc().Index(0).Doc(); e != nil {
				reply = e
			}
			if reply.Lookup("code").Int32() != 361 || reply.Lookup("errmsg").Str() != "Collection UUID does not match that specified" ||
				reply.Lookup("db").Str() != c.db || reply.Lookup("expectedCollection").Str() != c.coll ||
				reply.Lookup("collectionUUID").Kind() != value.KindBinary || harness.JSONOf(reply.Lookup("actualCollection")) != c.actual {
				t.Errorf("%s in %s answered %s", on(c.coll, c.uuid), c.db, reply)
			}
		}
		h.OK(on("coll", id))
		if n := h.OK(`{listCollections: 1, filter: {name: "missing"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Len(); n != 0 {
			t.Errorf("%s has created the collection", command)
		}
	}
}

// An unordered insert has an error for each document, an ordered one the first.
func TestCollectionUUIDOfBatches(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "coll"}`)
	for ordered, want := range map[bool]int{true: 1, false: 3} {
		reply := h.Run(fmt.Sprintf(`{insert: "coll", documents: [{}, {}, {}], ordered: %v, collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, ordered))
		if n := reply.Lookup("writeErrors").Doc().Len(); n != want || reply.Lookup("n").Int32() != 0 {
			t.Errorf("ordered %v: %s", ordered, reply)
		}
	}
}

func TestCollectionUUIDRefusals(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "coll"}`)
	const u = `{$uuid: "00000000-0000-4000-8000-000000000001"}`
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: "coll", pipeline: [{$changeStream: {}}], cursor: {}, collectionUUID: ` + u + `}`, Code: 4928900, Text: "collectionUUID is not supported for a change stream"},
		{DB: "test", Command: `{aggregate: 1, pipeline: [{$documents: []}], cursor: {}, collectionUUID: ` + u + `}`, Code: 4928901, Text: "collectionUUID is not supported for a collectionless aggregation"},
		{DB: "test", Command: `{find: "coll", collectionUUID: 1}`, Code: 14, Text: ""},
		{DB: "test", Command: `{find: "coll", collectionUUID: {$binary: {base64: "AA==", subType: "04"}}}`, Code: 207, Text: ""},
		{DB: "test", Command: `{count: "coll", collectionUUID: ` + u + `}`, Code: 40415, Text: "BSON field 'count.collectionUUID' is an unknown field."},
		{DB: "test", Command: `{findAndModify: "coll", remove: true, collectionUUID: ` + u + `}`, Code: 40415, Text: "BSON field 'findAndModify.collectionUUID' is an unknown field."},
		{DB: "test", Command: `{insert: "coll", documents: [{}], collectionUUID: ` + u + `, apiVersion: "1", apiStrict: true}`, Code: 323, Text: "BSON field 'insert.collectionUUID' is not allowed with apiStrict:true."},
		{DB: "test", Command: `{collMod: "coll", collectionUUID: ` + u + `, apiVersion: "1", apiStrict: true}`, Code: 323, Text: "BSON field 'collMod.collectionUUID' is not allowed with apiStrict:true."},
	})
}
