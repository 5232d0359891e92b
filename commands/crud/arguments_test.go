package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// wrongArguments has mongod's errors for wrong arguments, from its manual, its IDL definitions and
// jstests/core. An empty message is not compared.
var wrongArguments = []struct {
	command string
	code    int32
	text    string
}{
	// find
	{`{find: "c", foo: 1}`, 40415, "BSON field 'FindCommandRequest.foo' is an unknown field."},
	{`{find: "c", filter: 1}`, 14, "Expected field filterto be of type object"},
	{`{find: "c", sort: "a"}`, 14, "Expected field sortto be of type object"},
	{`{find: "c", skip: -1}`, 2, "BSON field 'skip' value must be >= 0, actual value '-1'"},
	{`{find: "c", limit: -1}`, 2, "BSON field 'limit' value must be >= 0, actual value '-1'"},
	{`{find: "c", batchSize: -1}`, 2, "BSON field 'batchSize' value must be >= 0, actual value '-1'"},
	// {batchSize: n}, SimpleCursorOptions of mongod's IDL: aggregate reads it by itself.
	{`{aggregate: "c", pipeline: [], cursor: {size: 1}}`, 40415, "BSON field 'cursor.size' is an unknown field."},
	{`{aggregate: "c", pipeline: [], cursor: {batchSize: "1"}}`, 14, "BSON field 'cursor.batchSize' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	{`{aggregate: "c", pipeline: [], cursor: {batchSize: -1}}`, 2, "BSON field 'batchSize' value must be >= 0, actual value '-1'"},
	{`{aggregate: "c", pipeline: [], cursor: {batchSize: 1, batchSize: 2}}`, 40413, "BSON field 'cursor.batchSize' is a duplicate field"},
	{`{listIndexes: "missing", cursor: {size: 1}}`, 40415, "BSON field 'listIndexes.cursor.size' is an unknown field."},
	{`{listCollections: 1, cursor: {batchSize: "1"}}`, 14, "BSON field 'listCollections.cursor.batchSize' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	{`{listCollections: 1, cursor: {batchSize: -1}}`, 2, "BSON field 'batchSize' value must be >= 0, actual value '-1'"},
	{`{find: "c", limit: "1"}`, 14, "BSON field 'FindCommandRequest.limit' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	{`{find: "c", singleBatch: "x"}`, 14, "Field 'singleBatch' should be a boolean value, but found: string"},
	{`{find: "c", filter: {}, filter: {}}`, 40413, "BSON field 'FindCommandRequest.filter' is a duplicate field"},
	{`{find: ""}`, 73, "Invalid namespace specified 'test.'"},
	{`{find: 1}`, 73, "collection name has invalid type int"},
	{`{find: "a$b"}`, 73, ""},
	{`{find: ".c"}`, 73, "Invalid namespace specified 'test..c'"},
	{`{find: "c", awaitData: true}`, 9, "Cannot set 'awaitData' without also setting 'tailable'"},
	{`{find: "c", tailable: true}`, 2, "error processing query: ns=test.c tailable cursor requested on non capped collection"},
	{`{find: "c", filter: {$foo: 1}}`, 2, "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField."},
	{`{find: "c", filter: {a: {$foo: 1}}}`, 2, "unknown operator: $foo"},
	{`{find: "c", hint: 1}`, 9, "Hint must be a string or an object"},
	{`{find: "c", hint: "none"}`, 2, ""},
	{`{find: "c", hint: {z: 1}}`, 2, ""},
	{`{find: "c", collation: {locale: "xx"}}`, 2, ""},
	{`{find: "c", maxTimeMS: "x"}`, 14, "BSON field 'FindCommandRequest.maxTimeMS' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	{`{findandmodify: "c", maxTimeMS: "x"}`, 14, "BSON field 'findAndModify.maxTimeMS' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	{`{find: "c", maxTimeMS: -1}`, 2, "BSON field 'maxTimeMS' value must be >= 0, actual value '-1'"},
	{`{find: "c", projection: {a: 1, b: 0}}`, 31254, "Cannot do exclusion on field b in inclusion projection"},
	{`{find: "c", sort: {a: 2}}`, 15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)"},
	{`{find: "c", readConcern: {level: "none"}}`, 2, "Enumeration value 'none' for field 'readConcern.level' is not a valid value."},

	// insert
	{`{insert: "c"}`, 40414, "BSON field 'insert.documents' is missing but a required field"},
	{`{insert: "c", documents: []}`, 16, "Write batch sizes must be between 1 and 100000. Got 0 operations."},
	{`{insert: "c", documents: [1]}`, 14, "BSON field 'insert.documents.0' is the wrong type 'int', expected type 'object'"},
	{`{insert: "c", documents: 1}`, 14, "BSON field 'insert.documents' is the wrong type 'int', expected type 'array'"},
	{`{insert: "c", documents: [{}], ordered: 1}`, 14, "BSON field 'insert.ordered' is the wrong type 'int', expected type 'bool'"},
	{`{insert: "c", documents: [{}], foo: 1}`, 40415, "BSON field 'insert.foo' is an unknown field."},
	{`{insert: "", documents: [{}]}`, 73, "Invalid namespace specified 'test.'"},
	{`{insert: "system.foo", documents: [{}]}`, 73, "Invalid system namespace: test.system.foo"},
	{`{insert: "system.profile", documents: [{}]}`, 73, "cannot write to test.system.profile"},
	{`{insert: "v", documents: [{}]}`, 166, "Namespace test.v is a view, not a collection"},
	{`{insert: "c", documents: [{_id: [1]}]}`, 53, "The '_id' value cannot be of type array"},
	{`{insert: "c", documents: [{_id: {$regularExpression: {pattern: "a", options: ""}}}]}`, 53, "The '_id' value cannot be of type regex"},
	{`{insert: "c", documents: [{_id: {$a: 1}}]}`, 52, "_id fields may not contain '$'-prefixed fields: $a is not valid for storage."},
	{`{insert: "c", documents: [{_id: 1}]}`, 11000, "E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: 1 }"},
	{`{insert: "c", documents: [{}], writeConcern: {w: 2}}`, 2, "cannot use 'w' > 1 when a host is not replicated"},
	{`{insert: "c", documents: [{}], writeConcern: {w: -1}}`, 9, "w has to be a non-negative number and not greater than 50; found: -1"},

	// update
	{`{update: "c"}`, 40414, "BSON field 'update.updates' is missing but a required field"},
	{`{update: "c", updates: []}`, 16, "Write batch sizes must be between 1 and 100000. Got 0 operations."},
	{`{update: "c", updates: [{u: {}}]}`, 40414, "BSON field 'update.updates.q' is missing but a required field"},
	{`{update: "c", updates: [{q: {}}]}`, 40414, "BSON field 'update.updates.u' is missing but a required field"},
	{`{update: "c", updates: [{q: {}, u: {}, foo: 1}]}`, 40415, "BSON field 'update.updates.foo' is an unknown field."},
	{`{update: "c", updates: [{q: {}, u: {}, multi: 1}]}`, 14, "BSON field 'update.updates.multi' is the wrong type 'int', expected type 'bool'"},
	{`{update: "c", updates: [{q: {}, u: {}, upsert: 1}]}`, 14, "BSON field 'update.updates.upsert' is the wrong type 'int', expected type 'bool'"},
	{`{update: "c", updates: [{q: {}, u: {$foo: {a: 1}}}]}`, 9, "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array"},
	{`{update: "c", updates: [{q: {}, u: {a: 1}, multi: true}]}`, 9, "multi update is not supported for replacement-style update"},
	{`{update: "c", updates: [{q: {_id: 1}, u: {$set: {_id: 2}}}]}`, 66, ""},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}, $inc: {a: 1}}}]}`, 40, "Updating the path 'a' would create a conflict at 'a'"},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, sort: {a: 1}, multi: true}]}`, 9, "Cannot specify sort with multi=true"},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, arrayFilters: [{x: 1}]}]}`, 9, "The array filter for identifier 'x' was not used in the update { $set: { a: 1 } }"},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, hint: 1}]}`, 9, ""},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, hint: "none"}]}`, 2, ""},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, c: {x: 1}}]}`, 51198, "Constant values may only be specified for pipeline updates"},
	{`{update: "v", updates: [{q: {}, u: {$set: {a: 1}}}]}`, 166, "Namespace test.v is a view, not a collection"},

	// delete
	{`{delete: "c"}`, 40414, "BSON field 'delete.deletes' is missing but a required field"},
	{`{delete: "c", deletes: []}`, 16, "Write batch sizes must be between 1 and 100000. Got 0 operations."},
	{`{delete: "c", deletes: [{limit: 1}]}`, 40414, "BSON field 'delete.deletes.q' is missing but a required field"},
	{`{delete: "c", deletes: [{q: {}}]}`, 40414, "BSON field 'delete.deletes.limit' is missing but a required field"},
	{`{delete: "c", deletes: [{q: {}, limit: 2}]}`, 9, "The limit field in delete objects must be 0 or 1. Got 2"},
	{`{delete: "c", deletes: [{q: {}, limit: 1, foo: 1}]}`, 40415, "BSON field 'delete.deletes.foo' is an unknown field."},
	{`{delete: "v", deletes: [{q: {}, limit: 0}]}`, 166, "Namespace test.v is a view, not a collection"},

	// findAndModify
	{`{findAndModify: "c"}`, 9, "Either an update or remove=true must be specified"},
	{`{findAndModify: "c", remove: true, update: {}}`, 9, "Cannot specify both an update and remove=true"},
	{`{findAndModify: "c", remove: true, upsert: true}`, 9, "Cannot specify both upsert=true and remove=true "},
	{`{findAndModify: "c", remove: true, new: true}`, 9, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document"},
	{`{findAndModify: "c", update: {$set: {a: 1}}, arrayFilters: [1]}`, 14, "BSON field 'findAndModify.arrayFilters.0' is the wrong type 'int', expected type 'object'"},
	{`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}, arrayFilters: [{}, 1]}]}`, 14, "BSON field 'update.updates.arrayFilters.1' is the wrong type 'int', expected type 'object'"},
	{`{findAndModify: "c", update: 1}`, 9, "Update argument must be either an object or an array"},
	{`{findAndModify: "c", remove: true, foo: 1}`, 40415, "BSON field 'findAndModify.foo' is an unknown field."},
	{`{findAndModify: "c", remove: true, arrayFilters: [{x: 1}]}`, 9, "Cannot specify arrayFilters and remove=true"},
	{`{findAndModify: "v", remove: true}`, 166, "Namespace test.v is a view, not a collection"},

	// count, distinct
	{`{count: "c", foo: 1}`, 40415, "BSON field 'count.foo' is an unknown field."},
	{`{count: "c", query: 1}`, 14, ""},
	{`{count: "c", skip: -1}`, 2, "BSON field 'skip' value must be >= 0, actual value '-1'"},
	{`{count: ""}`, 73, "Invalid namespace specified 'test.'"},
	{`{distinct: "c"}`, 40414, "BSON field 'distinctCommandRequest.key' is missing but a required field"},
	{`{distinct: "c", key: 1}`, 14, "BSON field 'distinctCommandRequest.key' is the wrong type 'int', expected type 'string'"},
	{`{distinct: "c", key: "a", foo: 1}`, 40415, "BSON field 'distinctCommandRequest.foo' is an unknown field."},
	{`{distinct: "c", key: "a", query: 1}`, 14, ""},

	// getMore, killCursors
	{`{getMore: 1, collection: "c"}`, 14, "BSON field 'getMore.getMore' is the wrong type 'int', expected type 'long'"},
	{`{getMore: {$numberLong: "1"}}`, 40414, "BSON field 'getMore.collection' is missing but a required field"},
	{`{getMore: {$numberLong: "1"}, collection: "c"}`, 43, "cursor id 1 not found"},
	{`{getMore: {$numberLong: "1"}, collection: "c", batchSize: -1}`, 2, "BSON field 'batchSize' value must be >= 0, actual value '-1'"},
	{`{killCursors: "c"}`, 40414, "BSON field 'killCursors.cursors' is missing but a required field"},
	{`{killCursors: "c", cursors: [1]}`, 14, "BSON field 'killCursors.cursors.0' is the wrong type 'int', expected type 'long'"},

	// aggregate
	{`{aggregate: "c", pipeline: []}`, 9, "The 'cursor' option is required, except for aggregate with the explain argument"},
	{`{aggregate: "c", cursor: {}}`, 40414, "BSON field 'aggregate.pipeline' is missing but a required field"},
	{`{aggregate: "c", pipeline: [1], cursor: {}}`, 14, "Each element of the 'pipeline' array must be an object"},
	{`{aggregate: "c", pipeline: [{$foo: 1}], cursor: {}}`, 40324, "Unrecognized pipeline stage name: '$foo'"},
	{`{aggregate: "c", pipeline: [{a: 1, b: 1}], cursor: {}}`, 40323, "A pipeline stage specification object must contain exactly one field."},
	{`{aggregate: "c", pipeline: [], cursor: {batchSize: -1}}`, 2, ""},
	{`{aggregate: 1, pipeline: [], cursor: {}}`, 73, ""},

	// catalog
	{`{create: ""}`, 73, "Invalid namespace specified 'test.'"},
	{`{create: "c", capped: true}`, 72, "the 'size' field is required when 'capped' is true"},
	{`{create: "n", size: 100}`, 72, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present"},
	{`{create: "n", foo: 1}`, 40415, "BSON field 'create.foo' is an unknown field."},
	{`{create: "n", validationLevel: "x"}`, 2, "Enumeration value 'x' for field 'validationLevel' is not a valid value."},
	{`{create: "n", expireAfterSeconds: 1}`, 72, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified"},
	{`{createIndexes: "c", indexes: []}`, 2, "Must specify at least one index to create"},
	{`{createIndexes: "c"}`, 40414, "BSON field 'createIndexes.indexes' is missing but a required field"},
	{`{dropIndexes: "c", index: "none"}`, 27, "index not found with name [none]"},
	{`{dropIndexes: "c", index: "_id_"}`, 72, "cannot drop _id index"},
	{`{dropIndexes: "none", index: "*"}`, 26, "ns not found test.none"},
	{`{listIndexes: "none"}`, 26, "ns does not exist: test.none"},
	{`{listIndexes: "v"}`, 166, "Namespace test.v is a view, not a collection"},
	{`{collMod: "none"}`, 26, "ns does not exist: test.none"},
	{`{drop: "system.foo"}`, 20, ""},

	// explain
	{`{explain: {find: "c"}, verbosity: "x"}`, 2, "Enumeration value 'x' for field 'explain.verbosity' is not a valid value."},
	{`{explain: {foo: "c"}}`, 59, "Explain failed due to unknown command: foo"},
	{`{explain: 1}`, 14, "BSON field 'explain.explain' is the wrong type 'int', expected type 'object'"},
}

func TestWrongArguments(t *testing.T) {
	for _, tt := range wrongArguments {
		h := harness.New(t)
		if h.Svc.InCluster() && strings.HasSuffix(tt.text, "when a host is not replicated") {
			continue
		}
		h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
		h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
		if text := h.Fails(tt.code, tt.command); tt.text != "" && text != tt.text {
			t.Errorf("%s\nsaid %s\nwant %s", tt.command, text, tt.text)
		}
	}
}

// A document of one byte over the limit is refused, as is one nested too
// deeply.
func TestOversizedDocuments(t *testing.T) {
	h := harness.New(t)
	insert := func(text int) value.Doc { // not as JSON, of which reading so much takes seconds
		d := value.NewDoc("_id", value.Int32(1), "a", value.String(strings.Repeat("x", text)))
		return h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d))))
	}
	first := insert(kernel.MaxDocumentBytes).Lookup("writeErrors").Doc().Index(0).Doc()
	want := fmt.Sprintf("object to insert too large. size in bytes: %d, max size: %d", kernel.MaxDocumentBytes+22, kernel.MaxDocumentBytes)
	if first.Lookup("code").Int32() != 10334 || first.Lookup("errmsg").Str() != want {
		t.Errorf("answered %s, want %s", first, want)
	}
	if reply := insert(kernel.MaxDocumentBytes - 22); reply.Lookup("n").Int32() != 1 {
		t.Fatalf("answered %s", reply)
	}
	h.Fails(17419, `{update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}}]}`)
	deep := strings.Repeat(`{a: `, 181) + `1` + strings.Repeat(`}`, 181)
	h.Fails(15, `{insert: "c", documents: [`+deep+`]}`)
}

func TestCappedCollections(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096, max: 3}`)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}]}`)
	h.Holds("c", `{_id: 2} {_id: 3} {_id: 4}`)
	h.OK(`{delete: "c", deletes: [{q: {_id: 3}, limit: 1}]}`)
	h.OK(`{update: "c", updates: [{q: {_id: 4}, u: {$set: {longer: "than before"}}}]}`)
	stats := h.OK(`{collStats: "c"}`)
	if !stats.Lookup("capped").Bool() || stats.Lookup("max").SafeInt64() != 3 || stats.Lookup("maxSize").SafeInt64() != 4096 {
		t.Errorf("stats %s", stats)
	}
	reversed := harness.Docs(h.OK(`{find: "c", sort: {$natural: -1}}`))
	if len(reversed) != 2 || reversed[0].Lookup("_id").Int32() != 4 {
		t.Errorf("backwards %v", reversed)
	}
	h.Fails(2, `{create: "d", capped: true, size: 0}`)
}

// A tailable cursor stays open at the end and returns later documents.
func TestTailableCursor(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	cursor := h.OK(`{find: "c", tailable: true}`).Lookup("cursor").Doc()
	id := cursor.Lookup("id").Int64()
	more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id)
	for _, want := range []string{``, `{_id: 2}`, ``} {
		if want != "" {
			h.OK(`{insert: "c", documents: [` + want + `]}`)
		}
		next := h.OK(more).Lookup("cursor").Doc()
		if got := next.Lookup("nextBatch").Doc(); (want != "") != (got.Len() == 1) || next.Lookup("id").Int64() != id {
			t.Errorf("want %q, got %s", want, next)
		}
	}
	h.Fails(13, strings.Replace(more, `"c"}`, `"d"}`, 1))
	killed := h.OK(fmt.Sprintf(`{killCursors: "c", cursors: [{$numberLong: "%d"}, {$numberLong: "7"}]}`, id))
	if killed.Lookup("cursorsKilled").Doc().Len() != 1 || killed.Lookup("cursorsNotFound").Doc().Index(0).Int64() != 7 {
		t.Errorf("killed %s", killed)
	}
	h.Fails(43, more)
}

// Validators name the document and the rules that it breaks.
func TestValidatorDetails(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", validator: {$jsonSchema: {required: ["a"], properties: {a: {bsonType: "int"}}}}}`)
	reply := h.Run(`{insert: "c", documents: [{_id: 7, a: "x"}]}`)
	e := reply.Lookup("writeErrors").Doc().Index(0).Doc()
	info := e.Lookup("errInfo").Doc()
	if e.Lookup("code").Int32() != 121 || e.Lookup("errmsg").Str() != "Document failed validation" || info.Lookup("failingDocumentId").Int32() != 7 ||
		info.Lookup("details").Doc().Lookup("operatorName").Str() != "$jsonSchema" {
		t.Errorf("answered %s", reply)
	}
	h.OK(`{insert: "c", documents: [{_id: 7, a: "x"}], bypassDocumentValidation: true}`)
	h.Fails(121, `{update: "c", updates: [{q: {_id: 7}, u: {$set: {b: 1}}}]}`)
	h.OK(`{collMod: "c", validationLevel: "moderate"}`)
	h.OK(`{update: "c", updates: [{q: {_id: 7}, u: {$set: {b: 1}}}]}`)
	h.OK(`{collMod: "c", validationAction: "warn", validationLevel: "strict"}`)
	h.OK(`{insert: "c", documents: [{_id: 8}]}`)
}

// An invalid statement fails the whole command before anything is written.
func TestUnreadableStatement(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	for _, command := range []string{
		`{update: "c", updates: [{q: {}, u: {$set: {a: 1}}}, {q: {}, u: {}, foo: 1}]}`,
		`{delete: "c", deletes: [{q: {}, limit: 0}, {q: {}, limit: 2}]}`,
		`{update: "c", updates: [{q: {}, u: {}, foo: 1}]}`,
		`{delete: "c", deletes: [{q: {}, limit: 2}]}`,
	} {
		if reply := h.Run(command); reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
			t.Errorf("%s answered %s", command, reply)
		}
	}
	h.Holds("c", `{_id: 1}`)
}

// The statements of a retryable bulkWrite are run once.
func TestRetriedBulkWrite(t *testing.T) {
	h := harness.New(t)
	command := `{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1, n: 1}}, {update: 0, filter: {_id: 1}, updateMods: {$inc: {n: 1}}},
		{insert: 0, document: {_id: 2}}, {delete: 0, filter: {_id: 2}}], nsInfo: [{ns: "test.c"}],
		lsid: {id: {$binary: {base64: "AAAAAAAAAAAAAAAAAAAAAA==", subType: "04"}}}, txnNumber: {$numberLong: "1"}}`
	const results = `[{"ok": 1.0, "idx": 0, "n": 1}, {"ok": 1.0, "idx": 1, "n": 1, "nModified": 1}, {"ok": 1.0, "idx": 2, "n": 1}, {"ok": 1.0, "idx": 3, "n": 1}]`
	for i := range 2 {
		reply := h.Admin(command)
		if reply.Lookup("nInserted").Int32() != 2 || reply.Lookup("nModified").Int32() != 1 || reply.Lookup("nDeleted").Int32() != 1 {
			t.Errorf("answered %s", reply)
		}
		if got, want := reply.Lookup("cursor").Doc().Lookup("firstBatch"), value.MustJSON(`{"r": `+results+`}`).Lookup("r"); !value.Equal(got, want) {
			t.Errorf("results %s, want %s", got, want)
		}
		if got := reply.Lookup("retriedStmtIds"); got.IsMissing() != (i == 0) || i == 1 && got.String() != "[ 0, 1, 2, 3 ]" {
			t.Errorf("attempt %d: retriedStmtIds %s", i, got)
		}
	}
	h.Holds("c", `{_id: 1, n: 2}`)
}

// The reply of an update has its errors behind the number of documents, as mongod's parser writes
// the fields that all writes have first.
func TestUpdateReplyOrder(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	reply := h.RunOn("test", harness.Relaxed(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}, upsert: true}, {q: {}, u: {$nope: {a: 1}}}]}`))
	var names []string
	for name := range reply.All() {
		names = append(names, name)
	}
	if got := strings.Join(names, " "); !strings.HasPrefix(got, "n writeErrors upserted nModified ok") {
		t.Error(got)
	}
}
