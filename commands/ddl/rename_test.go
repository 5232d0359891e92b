package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The arguments of commands on whole collections; the codes are those that the
// functional tests of documentdb expect from mongod.
func TestCatalogArguments(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "ts", timeseries: {timeField: "t"}}`)
	h.OK(`{insert: "target", documents: [{_id: 1}]}`)
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{renameCollection: null, to: "test.d"}`, Code: 40414, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", dropTarget: 1}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", dropTarget: null}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", dropTarget: {$binary: {base64: "AA==", subType: "04"}}}`, Code: 207, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.target", dropTarget: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, Code: 361, Text: "Collection UUID does not match that specified"},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "other.target", dropTarget: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, Code: 72, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", stayTemp: 1}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", collectionUUID: 1}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.d", collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, Code: 361, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.$d"}`, Code: 20, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.` + strings.Repeat("x", 251) + `"}`, Code: 20, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.system.views"}`, Code: 20, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.system.users", to: "test.d"}`, Code: 20, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.ts", to: "test.d"}`, Code: 166, Text: ""},
		{DB: "admin", Command: `{renameCollection: "test.c", to: "test.ts", dropTarget: true}`, Code: 48, Text: ""},
		{DB: "test", Command: `{drop: "c", collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, Code: 361, Text: ""},
		{DB: "test", Command: `{dropDatabase: null}`, Code: 40414, Text: ""},
		{DB: "test", Command: `{dropDatabase: true}`, Code: 14, Text: ""},
		{DB: "test", Command: `{dropDatabase: 2}`, Code: 5255100, Text: ""},
		{DB: "test", Command: `{listCollections: 1, nameOnly: 1}`, Code: 14, Text: ""},
		{DB: "admin", Command: `{listDatabases: 1, authorizedDatabases: 1}`, Code: 14, Text: ""},
		{DB: "test", Command: `{validateDBMetadata: 1, apiParameters: {version: "1", strict: null}}`, Code: 14, Text: ""},
		{DB: "test", Command: `{validateDBMetadata: 1, apiParameters: {version: "1"}, db: "a b"}`, Code: 13280, Text: ""},
		{DB: "test", Command: `{validateDBMetadata: 1, apiParameters: {version: "1"}, collection: ""}`, Code: 73, Text: ""},
		{DB: "test", Command: `{convertToCapped: "system.buckets.ts", size: 1000}`, Code: 20, Text: ""},
		{DB: "test", Command: `{convertToCapped: "$none", size: 1000}`, Code: 26, Text: ""},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", toCollection: "v", size: 1000}`, Code: 166, Text: ""},
		{DB: "test", Command: `{cloneCollectionAsCapped: "c", size: 1000}`, Code: 14, Text: ""},
	})
	h.OK(`{cloneCollectionAsCapped: "c", toCollection: "capped", size: {$numberDecimal: "4096.5"}, other: 1}`)
	id := h.OK(`{listCollections: 1, filter: {name: "target"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("info").Doc().Lookup("uuid")
	h.Admin(fmt.Sprintf(`{renameCollection: "test.c", to: "test.target", dropTarget: %s}`, harness.JSONOf(id)))
	if reply := h.OK(`{drop: "v"}`); reply.Has("nIndexesWas") || reply.Lookup("ns").Str() != "test.v" {
		t.Errorf("the drop of a view answers %s", reply)
	}
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	if reply := h.OK(`{drop: "system.views"}`); reply.Lookup("nIndexesWas").Int32() != 1 {
		t.Errorf("the drop of system.views answers %s", reply)
	}
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	if list := h.OK(`{listCollections: 1, filter: {name: "v"}, cursor: {batchSize: 1}}`).Lookup("cursor").Doc(); list.Lookup("id").Int64() != 0 {
		t.Errorf("a list that fits leaves a cursor: %s", list)
	}
	if dbs := h.Admin(`{listDatabases: 1, nameOnly: true, filter: {sizeOnDisk: {$gte: 0}}}`); !dbs.Lookup("databases").Doc().IsEmpty() {
		t.Errorf("a filter sees sizes: %s", dbs)
	}
}
