package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The commands and fields that apiStrict refuses (reference/stable-api,
// jstests/core/api). The message shows which rule applied.
func TestStrictAPI(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	strict := func(command, text string) harness.Refusal {
		code := int32(323)
		if text == "" {
			code = 0
		}
		return harness.Refusal{DB: "test", Command: command[:len(command)-1] + `, apiVersion: "1", apiStrict: true}`, Code: code, Text: text}
	}
	index := func(options, text string) harness.Refusal {
		return strict(`{createIndexes: "c", indexes: [{key: {b: 1}, name: "b_1"`+options+`}]}`, text)
	}
	h.Refuses([]harness.Refusal{
		strict(`{find: "c", filter: {a: 1}}`, ""),
		strict(`{count: "c"}`, ""),
		strict(`{distinct: "c", key: "a"}`, "Provided apiStrict:true, but the command distinct is not in API Version 1. Information on supported commands and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api"),
		strict(`{find: "c", returnKey: true}`, "BSON field 'FindCommandRequest.returnKey' is not allowed with apiStrict:true."),
		strict(`{insert: "c", documents: [{}], collectionUUID: {$uuid: "00000000-0000-4000-8000-000000000001"}}`, "BSON field 'insert.collectionUUID' is not allowed with apiStrict:true."),
		strict(`{find: "c", filter: {$expr: {$function: {body: "function() {}", args: [], lang: "js"}}}}`, "$function is not allowed with 'apiStrict: true' in API Version 1"),
		strict(`{aggregate: "c", pipeline: [{$planCacheStats: {}}], cursor: {}}`, "stage $planCacheStats is not allowed with 'apiStrict: true' in API Version 1"),
		strict(`{collMod: "c", index: {name: "a_1", prepareUnique: true}}`, "BSON field 'collMod.index.prepareUnique' is not allowed with apiStrict:true."),
		strict(`{collMod: "c", index: {name: "a_1", hidden: false}}`, ""),
		strict(`{create: "d", capped: true, size: 4096}`, "BSON field 'create.capped' is not allowed with apiStrict:true."),
		strict(`{create: "d", capped: false}`, ""),
		index(`, sparse: true`, "BSON field 'createIndexes.indexes.sparse' is not allowed with apiStrict:true."),
		index(`, background: false`, "BSON field 'createIndexes.indexes.background' is not allowed with apiStrict:true."),
		index(`, storageEngine: {}`, "BSON field 'createIndexes.indexes.storageEngine' is not allowed with apiStrict:true."),
		strict(`{createIndexes: "c", indexes: [{key: {b: 1, t: "text"}, name: "t"}]}`, "Index type 'text' is not allowed with apiStrict:true."),
		index(`, unique: false`, ""),
		{DB: "test", Command: `{createIndexes: "c", indexes: 1, apiVersion: "1", apiStrict: true}`, Code: 14},
	})
	if got := h.IndexNames("c"); got != "_id_ a_1 b_1 " {
		t.Errorf("indexes %s", got)
	}
}

// The existing versions, and servers that require one
// (requireApiVersion; jstests/core/api/require_api_version).
func TestAPIVersions(t *testing.T) {
	t.Parallel()
	h := harness.NewTestCommands(t)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{ping: 1, apiVersion: "2"}`, Code: 322, Text: `API version must be "1"`},
		{DB: "test", Command: `{ping: 1, apiVersion: ""}`, Code: 322, Text: `API version must be "1"`},
		{DB: "test", Command: `{ping: 1, apiStrict: true}`, Code: 4886600, Text: "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion"},
		{DB: "test", Command: `{testDeprecation: 1, apiVersion: "1", apiDeprecationErrors: true}`, Code: 324, Text: "Provided apiDeprecationErrors:true, but the command testDeprecation is deprecated in API Version 1."},
		{DB: "test", Command: `{testDeprecation: 1, apiVersion: "1"}`},
		{DB: "test", Command: `{testVersion2: 1, apiVersion: "1", apiStrict: true}`, Code: 323, Text: "Provided apiStrict:true, but the command testVersion2 is not in API Version 1.*"},
	})
	if r := h.Admin(`{setParameter: 1, requireApiVersion: true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	const text = "The apiVersion parameter is required, please configure your MongoClient's API version"
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{ping: 1}`, Code: 498870, Text: text},
		{DB: "test", Command: `{ping: 1, apiVersion: "1"}`},
	})
}
