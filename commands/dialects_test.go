package commands_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/value"
)

// dialectCase is a command whose answer depends on the version of MongoDB that the server
// speaks: a code, or 0 if it succeeds. The texts may be "", any, or end in *.
type dialectCase struct {
	db, command      string
	code80           int32
	text80           string
	codeAs80, code82 int32
	text82           string
}

var dialectCases = []dialectCase{
	{"test", `{aggregate: 2, pipeline: [], cursor: {}}`, 9, "Invalid command format: the 'aggregate' field must specify a collection name or 1", 2, 2, "Invalid command format: the 'aggregate' field must specify a collection name or 1"},
	{"test", `{aggregate: "c", pipeline: [{$unset: "a\u0000b"}], cursor: {}}`, 16411, "", 9527900, 9527900, "illegal embedded NUL byte"},
	{"test", `{aggregate: "c", pipeline: [{$unset: ["$a", "a\u0000b"]}], cursor: {}}`, 16410, "", 9527900, 9527900, ""},
	{"test", `{aggregate: "c", pipeline: [{$unset: ["a\u0000b", 1]}], cursor: {}}`, 31120, "", 31120, 31120, ""},
	{"test", `{update: "c", updates: [{q: {}, u: {$rename: {a: "b\u0000"}}}]}`, 2, "The 'to' field for $rename cannot contain an embedded null byte", 9867600, 9867600, ""},
	{"test", `{aggregate: "geo", pipeline: [{$geoNear: {near: {type: "Point", coordinates: [0, 0]}}}], cursor: {}}`, 16606, "$geoNear requires a 'distanceField' option as a String", 0, 0, ""},
	{"test", `{aggregate: "geo", pipeline: [{$merge: {into: "keyed", on: "k"}}], cursor: {}}`,
		51132, "*'on' field 'k' cannot be missing, null, undefined or an array", 51132, 0, ""},
	{"test", `{aggregate: "geo", pipeline: [{$merge: {into: "sparse", on: "k"}}], cursor: {}}`,
		51132, "*'on' field 'k' cannot be missing, null, undefined or an array", 51132, 51132, "*'on' field 'k' cannot be missing, null or undefined if supporting index is sparse"},
	{"test", `{aggregate: "c", pipeline: [{$merge: {into: "nested", on: "a.k"}}], cursor: {}}`, 51132, "", 51185, 51185, "*'on' field 'a.k' is an array"},
	{"admin", `{aggregate: 1, pipeline: [{$queryStats: {}}], cursor: {}}`, 224, "$queryStats is not allowed in the current configuration. You may need to enable the corresponding feature flag", 0, 0, ""},
	{"test", `{find: "c", rawData: true}`, 40415, "BSON field 'find.rawData' is an unknown field.", 0, 0, ""},
	{"test", `{find: "c", rawData: 1}`, 14, "", 14, 14, "BSON field 'rawData' is the wrong type 'int', expected type 'bool'"},
	{"test", `{drop: "none", rawData: true}`, 40415, "", 72, 72, "Command does not support the rawData option"},
	{"test", `{drop: "none", rawData: false}`, 40415, "", 0, 0, ""},
	{"test", `{create: "checked", validationAction: "errorAndLog"}`, 2, "Enumeration value 'errorAndLog' for field 'validationAction' is not a valid value.", 72, 0, ""},
	{"test", `{collMod: "c", validationAction: "errorAndLog"}`, 2, "", 72, 0, ""},
	{"admin", `{setClusterParameter: {fleDisableSubstringPreviewParameterLimits: {shouldOverride: true}}}`, 4, "Unknown server parameter: fleDisableSubstringPreviewParameterLimits", 4, 0, ""},
	{"admin", `{getClusterParameter: "fleDisableSubstringPreviewParameterLimits"}`, 4, "", 4, 0, ""},
}

// The answers of each version, and of the newer one with the older's feature compatibility
// version.
func TestDialects(t *testing.T) {
	t.Parallel()
	for name, d := range harness.Dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness.NewOf(t, d)
			h.OK(`{insert: "c", documents: [{_id: 1, a: [{k: 1}]}]}`)
			h.OK(`{insert: "geo", documents: [{_id: 1, at: {type: "Point", coordinates: [0, 0]}}]}`)
			h.OK(`{createIndexes: "geo", indexes: [{key: {at: "2dsphere"}, name: "at"}]}`)
			h.OK(`{createIndexes: "keyed", indexes: [{key: {k: 1}, name: "s", unique: true, sparse: true, collation: {locale: "en"}}, {key: {k: 1}, name: "k", unique: true}]}`)
			h.OK(`{createIndexes: "sparse", indexes: [{key: {k: 1}, name: "k", unique: true, sparse: true}]}`)
			h.OK(`{createIndexes: "nested", indexes: [{key: {"a.k": 1}, name: "k", unique: true}]}`)
			for _, c := range dialectCases {
				c.check(h, d)
			}
		})
	}
}

func (c dialectCase) check(h *harness.Harness, d dialect.Dialect) {
	h.Helper()
	code, text := c.code82, c.text82
	switch d {
	case dialect.Mongo80:
		code, text = c.code80, c.text80
	case dialect.Mongo82As80:
		if code = c.codeAs80; code != c.code82 {
			text = ""
		}
	}
	h.Refuses([]harness.Refusal{{DB: c.db, Command: c.command, Code: code, Text: text}})
}

// $$CLUSTER_TIME on a server that is no member of a set.
func TestDialectsOfClusterTime(t *testing.T) {
	t.Parallel()
	const text = "system variable $$CLUSTER_TIME is not available in standalone mode"
	for _, tt := range []struct {
		command        string
		code80, code82 int32
	}{
		{`{aggregate: "c", pipeline: [{$set: {t: "$$CLUSTER_TIME"}}], cursor: {}}`, 51144, 10071200},
		{`{aggregate: "none", pipeline: [{$set: {t: "$$CLUSTER_TIME"}}], cursor: {}}`, 0, 10071200},
		{`{aggregate: "v", pipeline: [], cursor: {}}`, 51144, 10071200},
		{`{aggregate: "c", pipeline: [{$set: {t: {$ifNull: ["$$CLUSTER_TIME", "$$x"]}}}], cursor: {}, let: {x: 1}}`, 51144, 10071200},
		{`{find: "c", filter: {$expr: {$gt: ["$$CLUSTER_TIME", null]}}}`, 51144, 10071200},
		{`{explain: {find: "c", filter: {$expr: {$gt: ["$$CLUSTER_TIME", null]}}}}`, 51144, 10071200},
		{`{find: "c", let: {x: "$$CLUSTER_TIME"}}`, 51144, 51144},
	} {
		for d, code := range map[dialect.Dialect]int32{dialect.Mongo80: tt.code80, dialect.Mongo82: tt.code82} {
			h := harness.NewOf(t, d)
			if h.Svc.InCluster() {
				t.Skip("servers over one database have a cluster time")
			}
			h.OK(`{insert: "c", documents: [{_id: 1}]}`)
			h.OK(`{create: "v", viewOn: "c", pipeline: [{$set: {t: "$$CLUSTER_TIME"}}]}`)
			want := ""
			if code == 10071200 {
				want = text
			}
			h.Refuses([]harness.Refusal{{DB: "test", Command: tt.command, Code: code, Text: want}})
		}
	}
}

// Replies that differ.
func TestDialectsOfReplies(t *testing.T) {
	t.Parallel()
	for d, want := range map[dialect.Dialect]string{dialect.Mongo80: `{ dropped: "test", ok: 1.0 }`, dialect.Mongo82As80: `{ ok: 1.0 }`, dialect.Mongo82: `{ ok: 1.0 }`} {
		h := harness.NewOf(t, d)
		h.OK(`{create: "c"}`)
		if reply := harness.Plain(h.OK(`{dropDatabase: 1}`)); reply.String() != want {
			t.Errorf("dropDatabase answered %s, want %s", reply, want)
		}
		all := harness.JSONOf(h.Admin(`{getClusterParameter: "*"}`).Lookup("clusterParameters"))
		if shown := strings.Contains(all, "fleDisable"); shown != (d == dialect.Mongo82) {
			t.Errorf("%v: the cluster parameters are %s", d, all)
		}
	}
}

// A document over 16 MB.
func TestDialectsOfLargeDocuments(t *testing.T) {
	t.Parallel()
	for d, code := range map[dialect.Dialect]int32{dialect.Mongo80: 2, dialect.Mongo82: 10334} {
		h := harness.NewOf(t, d)
		large := value.Document(value.NewDoc("a", value.String(string(make([]byte, 16<<20)))))
		reply := h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(large)))
		if failed := reply.Lookup("writeErrors").Doc().Index(0).Doc(); failed.Lookup("code").Int32() != code {
			t.Errorf("refused with %s, want code %d", failed.Lookup("code"), code)
		}
	}
}
