package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// uuidOf is the UUID of a collection as listCollections shows it.
func (h *harness) uuidOf(name string) value.Value {
	h.Helper()
	first := h.ok(fmt.Sprintf(`{listCollections: 1, filter: {name: %q}}`, name)).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()
	return first.Lookup("info").Doc().Lookup("uuid")
}

// The commands that take collectionUUID in MongoDB 8.0 run on no other
// collection than the expected one, and name the one that has the UUID.
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
		h := newHarness(t)
		h.ok(`{insert: "coll", documents: [{_id: 0}]}`)
		h.ok(`{insert: "coll_2", documents: [{_id: 1}]}`)
		h.ok(`{createIndexes: "coll", indexes: [{key: {y: 1}, name: "y_1"}]}`)
		h.ok(`{create: "view", viewOn: "coll", pipeline: []}`)
		id := jsonOf(h.uuidOf("coll"))
		on := func(coll, id string) string { return strings.NewReplacer("$c", coll, "$u", id).Replace(command) }
		const unknown = `{$uuid: "00000000-0000-4000-8000-000000000001"}`
		for _, c := range []struct{ db, coll, uuid, actual string }{
			{"test", "coll", unknown, "null"},
			{"test", "coll_2", id, `"coll"`},
			{"test", "view", id, `"coll"`},
			{"test", "missing", id, `"coll"`},
			{"other", "missing", id, "null"},
		} {
			reply := h.runOn(c.db, relaxed(on(c.coll, c.uuid)))
			if e := reply.Lookup("writeErrors").Doc().Index(0).Doc(); e != nil {
				reply = e
			}
			if reply.Lookup("code").Int32() != 361 || reply.Lookup("errmsg").Str() != "Collection UUID does not match that specified" ||
				reply.Lookup("db").Str() != c.db || reply.Lookup("expectedCollection").Str() != c.coll ||
				reply.Lookup("collectionUUID").Kind() != value.KindBinary || jsonOf(reply.Lookup("actualCollection")) != c.actual {
				t.Errorf("%s in %s answered %s", on(c.coll, c.uuid), c.db, reply)
			}
		}
		h.ok(on("coll", id))
		if n := h.ok(`{listCollections: 1, filter: {name: "missing"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Len(); n != 0 {
			t.Errorf("%s has created the collection", command)
		}
	}
}

// An unordered insert has an error for each document, an ordered one the first.
func TestCollectionUUIDOfBatches(t *testing.T) {
	h := newHarness(t)
	h.ok(`{create: "coll"}`)
	for ordered, want := range map[bool]int{true: 1, false: 3} {
		reply := h.run(fmt.Sprintf(`{insert: "coll", documents: [{}, {}, {}], ordered: %v, collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, ordered))
		if n := reply.Lookup("writeErrors").Doc().Len(); n != want || reply.Lookup("n").Int32() != 0 {
			t.Errorf("ordered %v: %s", ordered, reply)
		}
	}
}

func TestCollectionUUIDRefusals(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{create: "coll"}`)
	const u = `{$uuid: "00000000-0000-4000-8000-000000000001"}`
	h.refuses([]refusal{
		{"test", `{aggregate: "coll", pipeline: [{$changeStream: {}}], cursor: {}, collectionUUID: ` + u + `}`, 4928900, "collectionUUID is not supported for a change stream"},
		{"test", `{aggregate: 1, pipeline: [{$documents: []}], cursor: {}, collectionUUID: ` + u + `}`, 4928901, "collectionUUID is not supported for a collectionless aggregation"},
		{"test", `{find: "coll", collectionUUID: 1}`, 14, ""},
		{"test", `{find: "coll", collectionUUID: {$binary: {base64: "AA==", subType: "04"}}}`, 207, ""},
		{"test", `{count: "coll", collectionUUID: ` + u + `}`, 40415, "BSON field 'count.collectionUUID' is an unknown field."},
		{"test", `{findAndModify: "coll", remove: true, collectionUUID: ` + u + `}`, 40415, "BSON field 'findAndModify.collectionUUID' is an unknown field."},
		{"test", `{insert: "coll", documents: [{}], collectionUUID: ` + u + `, apiVersion: "1", apiStrict: true}`, 323, "BSON field 'insert.collectionUUID' is not allowed with apiStrict:true."},
		{"test", `{collMod: "coll", collectionUUID: ` + u + `, apiVersion: "1", apiStrict: true}`, 323, "BSON field 'collMod.collectionUUID' is not allowed with apiStrict:true."},
	})
}
