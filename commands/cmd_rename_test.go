package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// The arguments of commands about whole collections; the codes are those that
// functional-tests of documentdb found on mongod.
func TestCatalogArguments(t *testing.T) {
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{_id: 1}]}`)
	h.ok(`{create: "v", viewOn: "c", pipeline: []}`)
	h.ok(`{create: "ts", timeseries: {timeField: "t"}}`)
	h.ok(`{insert: "target", documents: [{_id: 1}]}`)
	h.refuses([]refusal{
		{"admin", `{renameCollection: null, to: "test.d"}`, 40414, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", dropTarget: 1}`, 14, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", dropTarget: null}`, 14, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", dropTarget: {$binary: {base64: "AA==", subType: "04"}}}`, 207, ""},
		{"admin", `{renameCollection: "test.c", to: "test.target", dropTarget: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, 361, "Collection UUID does not match that specified"},
		{"admin", `{renameCollection: "test.c", to: "other.target", dropTarget: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, 72, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", stayTemp: 1}`, 14, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", collectionUUID: 1}`, 14, ""},
		{"admin", `{renameCollection: "test.c", to: "test.d", collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, 361, ""},
		{"admin", `{renameCollection: "test.c", to: "test.$d"}`, 20, ""},
		{"admin", `{renameCollection: "test.c", to: "test.` + strings.Repeat("x", 251) + `"}`, 20, ""},
		{"admin", `{renameCollection: "test.c", to: "test.system.views"}`, 20, ""},
		{"admin", `{renameCollection: "test.system.users", to: "test.d"}`, 20, ""},
		{"admin", `{renameCollection: "test.ts", to: "test.d"}`, 166, ""},
		{"admin", `{renameCollection: "test.c", to: "test.ts", dropTarget: true}`, 48, ""},
		{"test", `{drop: "c", collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, 361, ""},
		{"test", `{dropDatabase: null}`, 40414, ""},
		{"test", `{dropDatabase: true}`, 14, ""},
		{"test", `{dropDatabase: 2}`, 5255100, ""},
		{"test", `{listCollections: 1, nameOnly: 1}`, 14, ""},
		{"admin", `{listDatabases: 1, authorizedDatabases: 1}`, 14, ""},
		{"test", `{validateDBMetadata: 1, apiParameters: {version: "1", strict: null}}`, 14, ""},
		{"test", `{validateDBMetadata: 1, apiParameters: {version: "1"}, db: "a b"}`, 13280, ""},
		{"test", `{validateDBMetadata: 1, apiParameters: {version: "1"}, collection: ""}`, 73, ""},
		{"test", `{convertToCapped: "system.buckets.ts", size: 1000}`, 20, ""},
		{"test", `{convertToCapped: "$none", size: 1000}`, 26, ""},
		{"test", `{cloneCollectionAsCapped: "c", toCollection: "v", size: 1000}`, 166, ""},
		{"test", `{cloneCollectionAsCapped: "c", size: 1000}`, 14, ""},
	})
	h.ok(`{cloneCollectionAsCapped: "c", toCollection: "capped", size: {$numberDecimal: "4096.5"}, other: 1}`)
	id := h.ok(`{listCollections: 1, filter: {name: "target"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("info").Doc().Lookup("uuid")
	h.admin(fmt.Sprintf(`{renameCollection: "test.c", to: "test.target", dropTarget: %s}`, jsonOf(id)))
	if reply := h.ok(`{drop: "v"}`); reply.Has("nIndexesWas") || reply.Lookup("ns").Str() != "test.v" {
		t.Errorf("the drop of a view answers %s", reply)
	}
	h.ok(`{create: "v", viewOn: "c", pipeline: []}`)
	if reply := h.ok(`{drop: "system.views"}`); reply.Lookup("nIndexesWas").Int32() != 1 {
		t.Errorf("the drop of system.views answers %s", reply)
	}
	h.ok(`{create: "v", viewOn: "c", pipeline: []}`)
	if list := h.ok(`{listCollections: 1, filter: {name: "v"}, cursor: {batchSize: 1}}`).Lookup("cursor").Doc(); list.Lookup("id").Int64() != 0 {
		t.Errorf("a list that fits leaves a cursor: %s", list)
	}
	if dbs := h.admin(`{listDatabases: 1, nameOnly: true, filter: {sizeOnDisk: {$gte: 0}}}`); !dbs.Lookup("databases").Doc().IsEmpty() {
		t.Errorf("a filter sees sizes: %s", dbs)
	}
}

func jsonOf(v value.Value) string {
	s := value.NewDoc("v", v).CanonicalJSON()
	return s[len(`{"v":`) : len(s)-1]
}
