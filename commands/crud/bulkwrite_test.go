package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Replies as MongoDB's manual (reference/command/bulkWrite) and its public
// tests of bulkWrite give them.
func TestBulkWrite(t *testing.T) {
	tests := []struct {
		name    string
		command string
		results []string // results of the cursor
		counts  string   // nErrors nInserted nMatched nModified nUpserted nDeleted
		left    string   // documents of test.c, by _id
	}{
		{
			"inserts into two collections",
			`{bulkWrite: 1, ops: [{insert: 1, document: {_id: 1}}, {insert: 0, document: {_id: 2}}], nsInfo: [{ns: "test.c"}, {ns: "other.d"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 1.0, idx: 1, n: 1}`}, "0 2 0 0 0 0", `{_id: 2}`,
		},
		{
			"each kind",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1, a: 1}}, {update: 0, filter: {_id: 1}, updateMods: {$set: {a: 2}}},
			  {insert: 0, document: {_id: 2}}, {delete: 0, filter: {_id: 2}}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 1.0, idx: 1, n: 1, nModified: 1}`, `{ok: 1.0, idx: 2, n: 1}`, `{ok: 1.0, idx: 3, n: 1}`},
			"0 2 1 1 0 1", `{_id: 1, a: 2}`,
		},
		{
			"upsert",
			`{bulkWrite: 1, ops: [{update: 0, filter: {_id: 1}, updateMods: {$set: {a: 2}}, upsert: true}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1, nModified: 0, upserted: {_id: 1}}`}, "0 0 0 0 1 0", `{_id: 1, a: 2}`,
		},
		{
			"multi",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 2, a: 1}},
			  {update: 0, filter: {}, updateMods: {$set: {a: 1}}, multi: true}, {delete: 0, filter: {}, multi: true}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 1.0, idx: 1, n: 1}`, `{ok: 1.0, idx: 2, n: 2, nModified: 1}`, `{ok: 1.0, idx: 3, n: 2}`},
			"0 2 2 1 0 2", ``,
		},
		{
			"sort picks the document",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 0}}, {insert: 0, document: {_id: 1}},
			  {update: 0, filter: {}, updateMods: {$set: {a: 1}}, sort: {_id: -1}}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 1.0, idx: 1, n: 1}`, `{ok: 1.0, idx: 2, n: 1, nModified: 1}`},
			"0 2 1 1 0 0", `{_id: 0} {_id: 1, a: 1}`,
		},
		{
			"arrayFilters, constants of a pipeline, let",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 0, a: [{b: 5}, {b: 1}]}},
			  {update: 0, filter: {_id: 0}, updateMods: {$set: {"a.$[i].b": 6}}, arrayFilters: [{"i.b": 5}]},
			  {update: 0, filter: {$expr: {$eq: ["$_id", "$$id"]}}, updateMods: [{$set: {x: "$$k"}}], constants: {k: 7}}],
			  let: {id: 0}, nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 1.0, idx: 1, n: 1, nModified: 1}`, `{ok: 1.0, idx: 2, n: 1, nModified: 1}`},
			"0 1 2 2 0 0", `{_id: 0, a: [{b: 6}, {b: 1}], x: 7}`,
		},
		{
			"ordered stops at the first error",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 2}}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 1.0, idx: 0, n: 1}`, `{ok: 0.0, idx: 1, code: 11000, errmsg: "E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: 1 }", keyPattern: {_id: 1}, keyValue: {_id: 1}, n: 0}`},
			"1 1 0 0 0 0", `{_id: 1}`,
		},
		{
			"unordered goes on",
			`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 2}}], nsInfo: [{ns: "test.c"}], ordered: false, errorsOnly: true}`,
			[]string{`{ok: 0.0, idx: 1, code: 11000, errmsg: "E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: 1 }", keyPattern: {_id: 1}, keyValue: {_id: 1}, n: 0}`},
			"1 2 0 0 0 0", `{_id: 1} {_id: 2}`,
		},
		{
			"system.profile cannot be written to",
			`{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {$set: {a: 1}}}, {delete: 0, filter: {}}], nsInfo: [{ns: "test.system.profile"}], ordered: false}`,
			[]string{`{ok: 0.0, idx: 0, code: 73, errmsg: "cannot write to test.system.profile", n: 0, nModified: 0}`, `{ok: 0.0, idx: 1, code: 73, errmsg: "cannot write to test.system.profile", n: 0}`},
			"2 0 0 0 0 0", ``,
		},
		{
			"constants without a pipeline",
			`{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {$set: {a: 1}}, constants: {k: 1}}], nsInfo: [{ns: "test.c"}]}`,
			[]string{`{ok: 0.0, idx: 0, code: 51198, errmsg: "Constant values may only be specified for pipeline updates", n: 0, nModified: 0}`},
			"1 0 0 0 0 0", ``,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			reply := h.Admin(tt.command)
			if !reply.Lookup("ok").Truthy() {
				t.Fatalf("answered %s", reply)
			}
			got := harness.Docs(reply)
			for i, want := range tt.results {
				if i >= len(got) || harness.Relaxed(want).String() != got[i].String() {
					t.Errorf("results %v\nwant %d: %s", got, i, want)
				}
			}
			if len(got) != len(tt.results) {
				t.Errorf("%d results, want %d", len(got), len(tt.results))
			}
			var counts []string
			for _, name := range []string{"nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted"} {
				counts = append(counts, fmt.Sprint(reply.Lookup(name).Int32()))
			}
			if s := strings.Join(counts, " "); s != tt.counts {
				t.Errorf("counts %s, want %s", s, tt.counts)
			}
			h.Holds("c", tt.left)
		})
	}
}

func TestBulkWriteErrors(t *testing.T) {
	tests := []struct {
		command string
		code    int32
		text    string
	}{
		{`{bulkWrite: 1, nsInfo: [{ns: "test.c"}]}`, 40414, "BSON field 'bulkWrite.ops' is missing but a required field"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}]}`, 40414, "BSON field 'bulkWrite.nsInfo' is missing but a required field"},
		{`{bulkWrite: 1, ops: [], nsInfo: [{ns: "test.c"}]}`, 16, "Write batch sizes must be between 1 and 100000. Got 0 operations."},
		{`{bulkWrite: 1, ops: "x", nsInfo: [{ns: "test.c"}]}`, 14, "BSON field 'bulkWrite.ops' is the wrong type 'string', expected type 'array'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: "x"}`, 14, "BSON field 'bulkWrite.nsInfo' is the wrong type 'string', expected type 'array'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: ["x"]}`, 14, "BSON field 'bulkWrite.nsInfo.0' is the wrong type 'string', expected type 'object'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], foo: 1}`, 40415, "BSON field 'bulkWrite.foo' is an unknown field."},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}, x: 1}], nsInfo: [{ns: "test.c"}]}`, 40415, "BSON field 'bulkWrite.ops.x' is an unknown field."},
		{`{bulkWrite: 1, ops: [{replace: 0}], nsInfo: [{ns: "test.c"}]}`, 40415, "BSON field 'bulkWrite.replace' is an unknown field."},
		{`{bulkWrite: 1, ops: [{insert: 0}], nsInfo: [{ns: "test.c"}]}`, 40414, "BSON field 'bulkWrite.ops.document' is missing but a required field"},
		{`{bulkWrite: 1, ops: [{insert: -1, document: {}}], nsInfo: [{ns: "test.c"}]}`, 2, "BSON field 'insert' value must be >= 0, actual value '-1'"},
		{`{bulkWrite: 1, ops: [{insert: "test", document: {}}], nsInfo: [{ns: "test.c"}]}`, 14, "BSON field 'bulkWrite.ops.insert' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: "test"}], nsInfo: [{ns: "test.c"}]}`, 14, "BSON field 'bulkWrite.ops.document' is the wrong type 'string', expected type 'object'"},
		{`{bulkWrite: 1, ops: [{insert: 2, document: {a: 1}}], nsInfo: [{ns: "test.c"}]}`, 2, "BulkWrite ops entry { insert: 2, document: { a: 1 } } has an invalid nsInfo index."},
		{`{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {}, return: true}], nsInfo: [{ns: "test.c"}]}`, 40415, "BSON field 'bulkWrite.ops.return' is an unknown field."},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "."}]}`, 73, "Invalid namespace specified for bulkWrite: ''"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test"}]}`, 73, "Invalid namespace specified for bulkWrite: 'test'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c", foo: 1}]}`, 40415, "BSON field 'bulkWrite.nsInfo.foo' is an unknown field."},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c", isTimeseriesNamespace: true}]}`, 7934201, "'isTimeseriesNamespace' parameter can only be set when the request is sent on 'system.buckets' namespace to each shard"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c", collectionUUID: 1}]}`, 14, ""},
		{`{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: 1}], nsInfo: [{ns: "test.c"}]}`, 9, "Update argument must be either an object or an array"},
		{`{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {}, hint: 1}], nsInfo: [{ns: "test.c"}]}`, 9, "Hint must be a string or an object"},
		{`{bulkWrite: 1, ops: [{delete: 0, filter: {}, hint: 1}], nsInfo: [{ns: "test.c"}]}`, 9, "Hint must be a string or an object"},
		{`{bulkWrite: 1, ops: [{delete: 0}], nsInfo: [{ns: "test.c"}]}`, 40414, "BSON field 'bulkWrite.ops.filter' is missing but a required field"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], ordered: 1}`, 14, "BSON field 'bulkWrite.ordered' is the wrong type 'int', expected type 'bool'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], cursor: {batchSize: -1}}`, 2, "BSON field 'batchSize' value must be >= 0, actual value '-1'"},
		{`{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], cursor: {size: 1}}`, 40415, "BSON field 'bulkWrite.cursor.size' is an unknown field."},
	}
	for _, tt := range tests {
		h := harness.New(t)
		reply := h.Admin(tt.command)
		if reply.Lookup("code").Int32() != tt.code || tt.text != "" && reply.Lookup("errmsg").Str() != tt.text {
			t.Errorf("%s\nanswered %s\nwant %d %s", tt.command, reply, tt.code, tt.text)
		}
		h.Holds("c", "")
	}
	h := harness.New(t)
	if text := h.Fails(13, `{bulkWrite: 1, ops: [{insert: 0, document: {}}], nsInfo: [{ns: "test.c"}]}`); text != "bulkWrite may only be run against the admin database." {
		t.Error(text)
	}
}

func TestBulkWriteCursor(t *testing.T) {
	h := harness.New(t)
	reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}, {insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], cursor: {batchSize: 1}}`)
	cursor := reply.Lookup("cursor").Doc()
	if id := cursor.Lookup("id").Int64(); id == 0 || len(harness.Docs(reply)) != 1 || cursor.Lookup("ns").Str() != "admin.$cmd.bulkWrite" {
		t.Fatalf("answered %s", reply)
	}
	next := h.RunOn("admin", value.NewDoc("getMore", cursor.Lookup("id"), "collection", value.String("$cmd.bulkWrite")))
	rest := next.Lookup("cursor").Doc()
	if rest.Lookup("nextBatch").Doc().Index(0).Doc().Lookup("idx").Int32() != 1 || rest.Lookup("id").Int64() != 0 {
		t.Errorf("getMore answered %s", next)
	}
}

// All results that are known fill the batch exactly: nothing is left for a cursor, other than
// for find, which has to look (measured on mongod 8.2.11).
func TestBulkWriteResultsFillTheBatch(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, cursor := range []string{`batchSize: 2`, `batchSize: 3`, ``} {
		reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}, {insert: 0, document: {}}], nsInfo: [{ns: "test.c"}], cursor: {` + cursor + `}}`)
		if id := reply.Lookup("cursor").Doc().Lookup("id").Int64(); id != 0 || len(harness.Docs(reply)) != 2 {
			t.Errorf("with %q: %s", cursor, reply)
		}
	}
}

func TestBulkWriteOnView(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {}}, {insert: 0, document: {}}, {insert: 1, document: {_id: 1}}], nsInfo: [{ns: "test.v"}, {ns: "test.c"}], ordered: false}`)
	for i, want := range []int32{166, 166, 0} {
		if got := harness.Docs(reply)[i].Lookup("code").Int32(); got != want {
			t.Errorf("operation %d: code %d, want %d", i, got, want)
		}
	}
	h.Holds("c", `{_id: 1}`)
}

func TestBulkWriteValidation(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", validator: {a: {$exists: true}}}`)
	reply := h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}], nsInfo: [{ns: "test.c"}]}`)
	if d := harness.Docs(reply)[0]; d.Lookup("code").Int32() != 121 || d.Lookup("errInfo").Doc().Lookup("failingDocumentId").Int32() != 1 {
		t.Errorf("answered %s", reply)
	}
	h.Admin(`{bulkWrite: 1, ops: [{insert: 0, document: {_id: 3}}], nsInfo: [{ns: "test.c"}], bypassDocumentValidation: true}`)
	h.Holds("c", `{_id: 3}`)
}

// If a collection has another UUID than nsInfo gives, only the operations on it fail.
func TestBulkWriteCollectionUUID(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	const ops = `{bulkWrite: 1, ordered: false, ops: [{insert: 0, document: {_id: 1}}, {update: 0, filter: {}, updateMods: {$set: {a: 1}}}, {delete: 0, filter: {}},
		{insert: 1, document: {_id: 1}}], nsInfo: [{ns: "test.c", collectionUUID: %s}, {ns: "test.d"}]}`
	reply := h.Admin(fmt.Sprintf(ops, `{$uuid: "00000000-0000-4000-8000-000000000001"}`))
	for i, want := range []int32{361, 361, 361, 0} {
		if got := harness.Docs(reply)[i]; got.Lookup("code").Int32() != want {
			t.Errorf("operation %d: %s, want code %d", i, got, want)
		}
	}
	h.Holds("c", ``)
	if reply = h.Admin(fmt.Sprintf(ops, harness.JSONOf(h.UUIDOf("c")))); reply.Lookup("nErrors").Int32() != 1 { // 1 is in d already
		t.Errorf("answered %s", reply)
	}
}

// Documents that cannot be inserted do not reach the collection; an operation after
// them runs if the order does not matter.
func TestBulkWriteOfBadDocuments(t *testing.T) {
	t.Parallel()
	const ops = `{bulkWrite: 1, ordered: %t, ops: [{insert: 0, document: {_id: [1]}}, {insert: 0, document: {_id: 2}}, {delete: 0, filter: {$bad: 1}},
		{delete: 0, filter: {_id: 2}}, {insert: 0, document: {_id: 3}}], nsInfo: [{ns: "test.c"}]}`
	for ordered, want := range map[bool]struct {
		codes []int32
		left  string
	}{true: {[]int32{53}, ``}, false: {[]int32{53, 0, 2, 0, 0}, `{_id: 3}`}} {
		h := harness.New(t)
		got := harness.Docs(h.Admin(fmt.Sprintf(ops, ordered)))
		if len(got) != len(want.codes) {
			t.Fatalf("ordered %t: %v", ordered, got)
		}
		for i, code := range want.codes {
			if got[i].Lookup("code").Int32() != code {
				t.Errorf("ordered %t: operation %d: %s, want %d", ordered, i, got[i], code)
			}
		}
		h.Holds("c", want.left)
	}
}

// Unacknowledged operations are executed, but the reply does not report them.
func TestUnacknowledgedBulkWrite(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	reply := h.Admin(`{bulkWrite: 1, ordered: false, ops: [{insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 2}}], nsInfo: [{ns: "test.c"}], writeConcern: {w: 0}}`)
	if len(harness.Docs(reply)) != 0 || reply.Lookup("nInserted").SafeInt64() != 0 || reply.Lookup("nErrors").SafeInt64() != 0 || !reply.Lookup("ok").Truthy() {
		t.Errorf("answered %s", reply)
	}
	h.Holds("c", `{_id: 1} {_id: 2}`)
}

// A document sequence is the usual way for drivers to send operations.
func TestBulkWriteSequences(t *testing.T) {
	h := harness.New(t)
	list := func(docs ...string) kernel.Sequence {
		s := kernel.Sequence{Len: len(docs)}
		for _, d := range docs {
			s.Docs = append(s.Docs, harness.Relaxed(d)...)
		}
		return s
	}
	ops, info := list(`{insert: 0, document: {_id: 1}}`, `{update: 0, filter: {_id: 1}, updateMods: {$set: {a: 1}}}`), list(`{ns: "test.c"}`)
	ops.ID, info.ID = "ops", "nsInfo"
	out, _ := harness.Answer(h.Svc, t.Context(), h.Conn, &kernel.Request{Body: harness.Relaxed(`{bulkWrite: 1, $db: "admin"}`), Sequences: []kernel.Sequence{ops, info}}, nil)
	if reply := value.Doc(out); reply.Lookup("nModified").Int32() != 1 {
		t.Errorf("answered %s", reply)
	}
	h.Holds("c", `{_id: 1, a: 1}`)
}

// Invalid UUIDs: mongod's IDL parser refuses binary data of another subtype, and
// UUID::parse data of another length.
func TestBulkWriteUUID(t *testing.T) {
	h := harness.New(t)
	bulk := func(uuid string) string {
		return `{bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}], nsInfo: [{ns: "test.c", collectionUUID: ` + uuid + `}]}`
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: bulk(`"a"`), Code: 14, Text: "BSON field 'bulkWrite.nsInfo.collectionUUID' is the wrong type 'string', expected type 'binData'"},
		{DB: "admin", Command: bulk(`{$binary: {base64: "AAAA", subType: "00"}}`), Code: 14, Text: "BSON field 'bulkWrite.nsInfo.collectionUUID' is the wrong binData type 'general', expected type 'UUID'"},
		{DB: "admin", Command: bulk(`{$binary: {base64: "AAAA", subType: "04"}}`), Code: 207, Text: "uuid must be a 16-byte binary field with UUID (4) subtype"},
		{DB: "admin", Command: bulk(`null`)},
	})
	h.Holds("c", `{_id: 1}`)
}
