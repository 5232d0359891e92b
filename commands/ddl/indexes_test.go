package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The replies of createIndexes; a command creates all its indexes or none.
func TestCreateIndexes(t *testing.T) {
	h := harness.New(t)
	runSteps(h, "c", []step{
		{command: `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1"}]}`, reply: `{numIndexesBefore: 1, numIndexesAfter: 3, createdCollectionAutomatically: true}`},
		{command: `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {x: 1}, name: "x_1"}]}`, reply: `{numIndexesBefore: 3, numIndexesAfter: 4, createdCollectionAutomatically: false}`},
		{command: `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`, reply: `{numIndexesBefore: 4, numIndexesAfter: 4, createdCollectionAutomatically: false, note: "all indexes already exist"}`},
		{command: `{createIndexes: "c", indexes: [{key: {y: 1}, name: "y_1", fly: 1}], ignoreUnknownIndexOptions: true}`, reply: `{numIndexesBefore: 4, numIndexesAfter: 5, createdCollectionAutomatically: false}`},
	})
	h.OK(`{insert: "c", documents: [{_id: 1, u: 1}, {_id: 2, u: 1}]}`)
	reply := h.Run(`{createIndexes: "c", indexes: [{key: {z: 1}, name: "z_1"}, {key: {u: 1}, name: "u_1", unique: true}]}`)
	text := reply.Lookup("errmsg").Str()
	if reply.Lookup("code").Int32() != 11000 || !strings.HasPrefix(text, "Index build failed: ") || !strings.HasSuffix(text, " ) :: caused by :: E11000 duplicate key error collection: test.c index: u_1 dup key: { u: 1 }") ||
		reply.Lookup("keyPattern").Doc().String() != "{ u: 1 }" || reply.Lookup("keyValue").Doc().String() != "{ u: 1 }" {
		t.Errorf("a build over duplicates answered %s", reply)
	}
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{createIndexes: "c", indexes: []}`, Code: 2, Text: "Must specify at least one index to create"},
		{DB: "test", Command: `{createIndexes: "c"}`, Code: 40414, Text: "BSON field 'createIndexes.indexes' is missing but a required field"},
		{DB: "test", Command: `{createIndexes: "c", indexes: [1]}`, Code: 14},
		{DB: "test", Command: `{createIndexes: "c", indexes: {}}`, Code: 14},
		{DB: "test", Command: `{createIndexes: "", indexes: [{key: {a: 1}, name: "a_1"}]}`, Code: 73},
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {q: 1}, name: "q_1"}, {key: {a: -1}, name: "a_1"}]}`, Code: 86},
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {q: 1}, name: "q_1"}, {key: {q: 1}, name: "q_1"}]}`, Code: 68},
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {q: 1}, name: "q_1", fly: 1}]}`, Code: 197},
		{DB: "test", Command: `{createIndexes: "v", indexes: [{key: {a: 1}, name: "a_1"}]}`, Code: 166},
		{DB: "local", Command: `{createIndexes: "oplog.rs", indexes: [{key: {a: 1}, name: "a_1"}]}`, Code: 67, Text: "cannot create an index on the oplog"},
		{DB: "config", Command: `{createIndexes: "transactions", indexes: [{key: {a: 1}, name: "a_1"}]}`, Code: 20, Text: "not allowed to create index on config.transactions"},
	})
	if names := h.IndexNames("c"); names != "_id_ a_1 b_1 x_1 y_1 " {
		t.Errorf("indexes %s", names)
	}
}

// A set of one member accepts the quorums that one member can satisfy (the tests of
// commit_quorum_options.cpp, and "Commit quorum" of the manual).
func TestCommitQuorum(t *testing.T) {
	const create = `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}], commitQuorum: `
	if h := harness.New(t); !h.Svc.InCluster() {
		h.Refuses([]harness.Refusal{{DB: "test", Command: create + `1}`, Code: 2, Text: "Standalones can't specify commitQuorum"}})
	}
	m := harness.New(t).AsMember()
	const unsatisfiable = "Commit quorum cannot be satisfied with the current replica set configuration"
	const range50 = "commitQuorum has to be a non-negative number and not greater than 50"
	m.Refuses([]harness.Refusal{
		{DB: "test", Command: create + `-1}`, Code: 9, Text: range50},
		{DB: "test", Command: create + `70}`, Code: 9, Text: range50},
		{DB: "test", Command: create + `{"$numberDouble": "NaN"}}`, Code: 9},
		{DB: "test", Command: create + `""}`, Code: 9, Text: "commitQuorum can't be an empty string"},
		{DB: "test", Command: create + `[]}`, Code: 9, Text: "commitQuorum has to be a number or a string"},
		{DB: "test", Command: create + `2}`, Code: 278, Text: unsatisfiable},
		{DB: "test", Command: create + `"mode"}`, Code: 79, Text: "No write concern mode named 'mode' found in replica set configuration"},
	})
	if list := m.Listed(); len(list) != 0 {
		t.Errorf("a refused command has created %v", list)
	}
	for _, quorum := range []string{`0`, `1`, `"majority"`, `"votingMembers"`} {
		m.OK(create + quorum + `}`)
	}
}

// In a transaction indexes can be created only on empty collections that it has created
// (the manual, "Create Collections and Indexes in a Transaction").
func TestIndexesInTransactions(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{create: "old"}`)
	try := func(n int, first bool, command string) (int32, string) {
		reply := h.Run(harness.InTxnArgs(command, n, first))
		return reply.Lookup("code").Int32(), reply.Lookup("errmsg").Str()
	}
	index := func(coll string) string {
		return `{createIndexes: "` + coll + `", indexes: [{key: {a: 1}, name: "a_1"}]}`
	}
	if code, text := try(1, true, index("old")); code != 263 || text != "Cannot create new indexes on existing collection test.old in a multi-document transaction." {
		t.Errorf("on an existing collection: %d %s", code, text)
	}
	if code, text := try(2, true, `{insert: "fresh", documents: [{_id: 1}]}`); code != 0 {
		t.Fatalf("insert: %d %s", code, text)
	}
	if code, text := try(2, false, index("fresh")); code != 263 || text != "Cannot create new indexes on non-empty collection test.fresh in a multi-document transaction." {
		t.Errorf("on a filled collection: %d %s", code, text)
	}
	if code, text := try(3, true, index("made")); code != 0 {
		t.Fatalf("on a new collection: %d %s", code, text)
	}
	if code, text := try(3, false, index("made")); code != 0 { // there already
		t.Errorf("once more: %d %s", code, text)
	}
	h.EndTxn("commitTransaction", 3)
	if names := h.IndexNames("made"); names != "_id_ a_1 " {
		t.Errorf("indexes %s", names)
	}
	h.OK(`{create: "has"}`)
	h.OK(index("has"))
	if code, text := try(4, true, index("has")); code != 0 {
		t.Errorf("an index that is there: %d %s", code, text)
	}
}

func TestListIndexes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", sparse: true}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	const id, a = `{v: 2, key: {_id: 1}, name: "_id_"}`, `{v: 2, key: {a: 1}, name: "a_1", sparse: true}`
	for command, want := range map[string]string{
		`{listIndexes: "c"}`:                              `[` + id + `, ` + a + `]`,
		`{listIndexes: "c", includeIndexBuildInfo: true}`: `[{spec: ` + id + `}, {spec: ` + a + `}]`,
		`{listIndexes: "c", includeBuildUUIDs: true}`:     `[` + id + `, ` + a + `]`,
		`{listIndexes: "c", cursor: {batchSize: 1}}`:      `[` + id + `]`,
	} {
		if got := h.OK(command).Lookup("cursor").Doc().Lookup("firstBatch").String(); got != harness.Relaxed(`{l: `+want+`}`).Lookup("l").String() {
			t.Errorf("%s: %s", command, got)
		}
	}
	if all := h.OK(`{listIndexes: "c", cursor: {batchSize: 2}}`).Lookup("cursor").Doc(); all.Lookup("id").Int64() != 0 {
		t.Errorf("the batch that has the last index leaves a cursor: %s", all)
	}
	cursor := h.OK(`{listIndexes: "c", cursor: {batchSize: 1}}`).Lookup("cursor").Doc()
	if ns := cursor.Lookup("ns").Str(); ns != "test.c" {
		t.Errorf("the cursor reads %s", ns)
	}
	more := h.OK(`{getMore: ` + harness.JSONOf(cursor.Lookup("id")) + `, collection: "c"}`).Lookup("cursor").Doc()
	if more.Lookup("nextBatch").Doc().Len() != 1 || more.Lookup("id").Int64() != 0 {
		t.Errorf("getMore answered %s", more)
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{listIndexes: "none"}`, Code: 26, Text: "ns does not exist: test.none"},
		{DB: "test", Command: `{listIndexes: "v"}`, Code: 166, Text: "Namespace test.v is a view, not a collection"},
		{DB: "test", Command: `{listIndexes: "c", includeBuildUUIDs: true, includeIndexBuildInfo: true}`, Code: 72, Text: "The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true"},
		{DB: "test", Command: `{listIndexes: "c", cursor: {batchSize: -1}}`, Code: 2},
		{DB: "test", Command: `{listIndexes: "c", fly: 1}`, Code: 40415},
		{DB: "test", Command: `{listIndexes: ""}`, Code: 73},
	})
}

func TestDropIndexes(t *testing.T) {
	h := harness.New(t)
	all := func() {
		h.Helper()
		h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}, {key: {b: 1}, name: "b"}, {key: {b: 1}, name: "b_fr", collation: {locale: "fr"}}, {key: {x: "text"}, name: "text"}]}`)
	}
	all()
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.OK(`{create: "k", clusteredIndex: {key: {_id: 1}, unique: true}}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{dropIndexes: "none", index: "*"}`, Code: 26, Text: "ns not found test.none"},
		{DB: "test", Command: `{dropIndexes: "c"}`, Code: 40414},
		{DB: "test", Command: `{dropIndexes: "c", index: 1}`, Code: 14, Text: "BSON field 'dropIndexes.index' is the wrong type 'int', expected types '[string, object, array]'"},
		{DB: "test", Command: `{dropIndexes: "c", index: ["a", 1]}`, Code: 14},
		{DB: "test", Command: `{dropIndexes: "c", index: "z"}`, Code: 27, Text: "index not found with name [z]"},
		{DB: "test", Command: `{dropIndexes: "c", index: ["a", "z"]}`, Code: 27, Text: "index not found with name [z]"},
		{DB: "test", Command: `{dropIndexes: "c", index: {z: 1}}`, Code: 27, Text: "can't find index with key: { z: 1 }"},
		{DB: "test", Command: `{dropIndexes: "c", index: {b: 1}}`, Code: 181, Text: "2 indexes found for key: { b: 1 }, identify by name instead. Conflicting indexes: *"},
		{DB: "test", Command: `{dropIndexes: "c", index: "_id_"}`, Code: 72, Text: "cannot drop _id index"},
		{DB: "test", Command: `{dropIndexes: "c", index: {_id: 1}}`, Code: 72, Text: "cannot drop _id index"},
		{DB: "test", Command: `{dropIndexes: "k", index: "_id_"}`, Code: 5979800},
		{DB: "test", Command: `{dropIndexes: "v", index: "*"}`, Code: 166},
	})
	if names := h.IndexNames("c"); names != "_id_ a b b_fr text " {
		t.Errorf("indexes %s", names)
	}
	for _, s := range []struct{ index, reply, left string }{
		{`"a"`, `{nIndexesWas: 5}`, "_id_ b b_fr text "},
		{`{a: 1}`, `{nIndexesWas: 5}`, "_id_ b b_fr text "},
		{`["b", "text"]`, `{nIndexesWas: 5}`, "_id_ a b_fr "},
		{`[]`, `{nIndexesWas: 5}`, "_id_ a b b_fr text "},
		{`"*"`, `{nIndexesWas: 5, msg: "non-_id indexes dropped for collection"}`, "_id_ "},
		{`["*"]`, `{nIndexesWas: 5, msg: "non-_id indexes dropped for collection"}`, "_id_ "},
	} {
		h.OK(`{dropIndexes: "c", index: "*"}`)
		all()
		before := h.IndexNames("c")
		runSteps(h, "c", []step{{command: `{dropIndexes: "c", index: ` + s.index + `}`, reply: s.reply}})
		if left := h.IndexNames("c"); left != s.left {
			t.Errorf("%s of %s leaves %s, want %s", s.index, before, left, s.left)
		}
	}
}

// A list of collections that one reply cannot hold goes on in a cursor.
func TestLongListOfCollections(t *testing.T) {
	h := harness.New(t)
	const collections = 18
	for i := range collections {
		h.OK(fmt.Sprintf(`{create: "c%d", validator: {$comment: "%s"}}`, i, strings.Repeat("x", 1e6)))
	}
	cursor := h.OK(`{listCollections: 1}`).Lookup("cursor").Doc()
	listed := cursor.Lookup("firstBatch").Doc().Len()
	more := h.OK(`{getMore: ` + harness.JSONOf(cursor.Lookup("id")) + `, collection: "$cmd.listCollections"}`).Lookup("cursor").Doc()
	if listed += more.Lookup("nextBatch").Doc().Len(); listed != collections || more.Lookup("id").Int64() != 0 {
		t.Errorf("%d collections listed, want %d", listed, collections)
	}
}
