package ddl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// exposing creates a collection with exposeTs and documents written 0, 10, 20 and 30
// seconds after testStart (1767225600).
func exposing(h *harness.Harness) {
	h.Helper()
	h.OK(`{create: "e", documentTtl: {default: 100, exposeTs: true}}`)
	for _, d := range []string{`{_id: 1, v: 4}`, `{_id: 2, v: 3}`, `{_id: 3, v: 2}`, `{_id: 4, v: 1}`} {
		h.OK(`{insert: "e", documents: [` + d + `]}`)
		h.Clock.Advance(10 * time.Second)
	}
}

const tsIndexes = `{createIndexes: "e", indexes: [{key: {_ts: 1, v: 1}, name: "tv"}, {key: {_ts: -1}, name: "down"}, {key: {v: 1}, name: "part", partialFilterExpression: {_ts: {$gt: 1767225615}}}, {key: {"$**": 1}, name: "wild"}]}`

// checkTSQueries runs every kind of query by _ts that could use an index.
func checkTSQueries(h *harness.Harness) {
	h.Helper()
	ids := func(command, want string) {
		h.Helper()
		h.Finds(command[:len(command)-1]+`, projection: {_id: 1}}`, want)
	}
	for _, hint := range []string{``, `, hint: "tv"`, `, hint: "down"`, `, hint: "wild"`, `, hint: {$natural: 1}`} {
		if hint == `, hint: "wild"` && !strings.Contains(h.Run(`{listIndexes: "e"}`).String(), "wild") {
			continue
		}
		ids(`{find: "e", filter: {_ts: {$gte: 1767225610, $lt: 1767225630}}, sort: {_id: 1}`+hint+`}`, `[{"_id":2},{"_id":3}]`)
		ids(`{find: "e", filter: {_ts: 1767225620}`+hint+`}`, `[{"_id":3}]`)
		ids(`{find: "e", filter: {_ts: {$gt: 0}}, sort: {_ts: -1}`+hint+`}`, `[{"_id":4},{"_id":3},{"_id":2},{"_id":1}]`)
		if n := h.OK(`{count: "e", query: {_ts: {$gt: 1767225600}}` + hint + `}`).Lookup("n").Int32(); n != 3 {
			h.Errorf("count with %q: %d", hint, n)
		}
	}
	ids(`{find: "e", filter: {v: {$lt: 9}, _ts: {$gt: 1767225620}}, hint: "part"}`, `[{"_id":4}]`)
	ids(`{find: "e", filter: {v: {$lt: 9}, _ts: {$gt: 1767225620}}}`, `[{"_id":4}]`)
	h.Finds(`{find: "e", filter: {_ts: 1767225610}, projection: {_id: 0, _ts: 1, v: 1}}`, `[{"v":3,"_ts":{"$numberLong":"1767225610"}}]`)
}

// An index whose key contains _ts indexes documents as readers see them.
func TestIndexesOnTS(t *testing.T) {
	h := harness.New(t)
	exposing(h)
	h.OK(tsIndexes)
	checkTSQueries(h)
	if r := h.OK(`{distinct: "e", key: "_ts", query: {_ts: {$gt: 1767225610}}}`).Lookup("values").Doc(); r.Len() != 2 {
		t.Error(r)
	}
	if plan := h.OK(`{explain: {find: "e", filter: {_ts: 1767225620}, hint: "down"}}`).String(); !strings.Contains(plan, "IXSCAN") {
		t.Error(plan)
	}
	// Writes by _ts, which move documents in the index.
	if n := h.OK(`{update: "e", updates: [{q: {_ts: {$lte: 1767225610}}, u: {$set: {w: 1}}, multi: true}]}`).Lookup("n").Int32(); n != 2 {
		t.Error("updated", n)
	}
	h.Finds(`{find: "e", filter: {_ts: 1767225640}, projection: {_id: 1}, hint: "tv"}`, `[{"_id":2},{"_id":1}]`)
	if n := h.OK(`{delete: "e", deletes: [{q: {_ts: {$lt: 1767225640}}, limit: 0}]}`).Lookup("n").Int32(); n != 2 {
		t.Error("deleted", n)
	}
	if r := h.OK(`{validate: "e"}`); !r.Lookup("valid").Truthy() {
		t.Error(r)
	}
}

// When the policy starts or stops exposing _ts, these indexes are rebuilt.
func TestIndexesOnTSFollowThePolicy(t *testing.T) {
	h := harness.New(t)
	exposing(h)
	h.OK(`{collMod: "e", documentTtl: {exposeTs: false}}`)
	h.OK(tsIndexes)
	h.Finds(`{find: "e", filter: {_ts: {$gt: 0}}}`, `[]`)
	h.Finds(`{find: "e", filter: {_ts: {$gt: 0}}, hint: "tv"}`, `[]`)
	h.OK(`{collMod: "e", documentTtl: {exposeTs: true}}`)
	checkTSQueries(h)
	h.OK(`{collMod: "e", documentTtl: "off"}`)
	h.Finds(`{find: "e", filter: {_ts: {$gt: 0}}, hint: "down"}`, `[]`)
	h.Finds(`{find: "e", filter: {_ts: null}, hint: "down", projection: {_id: 1}, limit: 1}`, `[{"_id":1}]`)
	if r := h.OK(`{validate: "e"}`); !r.Lookup("valid").Truthy() {
		t.Error(r)
	}
}

// No name is listed twice.
func TestNamesOfTheTSIndex(t *testing.T) {
	for _, policy := range []string{`{create: "c", documentTtl: {default: 5}}`, `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`} {
		h := harness.New(t)
		h.OK(policy)
		h.Fails(85, `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1"}]}`)
		h.Fails(85, `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "other"}]}`)
		h.Fails(86, `{createIndexes: "c", indexes: [{key: {zz: 1}, name: "_ts_1"}]}`)
		h.Fails(85, `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 6}]}`)
		h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1, v: 1}, name: "tv"}]}`)
		if got := h.IndexNames("c"); got != "_id_ tv _ts_1 " {
			t.Error(got)
		}
	}
	for _, key := range []string{`{_ts: 1}`, `{a: 1}`} {
		h := harness.New(t)
		h.OK(`{createIndexes: "c", indexes: [{key: ` + key + `, name: "_ts_1"}]}`)
		h.OK(`{collMod: "c", documentTtl: {default: 5}}`)
		if got := h.IndexNames("c"); got != "_id_ _ts_1 _ts_1_documentTtl " {
			t.Error(got)
		}
		h.OK(`{dropIndexes: "c", index: "_ts_1"}`)
		if got := h.IndexNames("c"); got != "_id_ _ts_1 " {
			t.Error(got)
		}
		if list := h.Listed(); !list[0].Lookup("options").Doc().Has("documentTtl") {
			t.Error(list)
		}
	}
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "_ts_1"}]}`)
	h.Fails(86, `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`)
}

func TestDropIndexesKnowsTheTSIndex(t *testing.T) {
	for index, left := range map[string]string{
		`"_ts_1"`: "_id_ a_1 b_1 ", `{_ts: 1}`: "_id_ a_1 b_1 ", `["_ts_1"]`: "_id_ a_1 b_1 ", `["a_1", "_ts_1"]`: "_id_ b_1 ", `"*"`: "_id_ ",
	} {
		h := harness.New(t)
		h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}, {key: {a: 1}, name: "a_1"}, {key: {b: 1}, name: "b_1"}]}`)
		if n := h.OK(`{dropIndexes: "c", index: ` + index + `}`).Lookup("nIndexesWas").Int32(); n != 4 {
			t.Errorf("%s: nIndexesWas %d", index, n)
		}
		if got := h.IndexNames("c"); got != left {
			t.Errorf("%s leaves %s", index, got)
		}
	}
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`)
	h.Fails(27, `{dropIndexes: "c", index: ["_ts_1", "none"]}`)
	if got := h.IndexNames("c"); got != "_id_ _ts_1 " {
		t.Error(got)
	}
}

// All commands on indexes include the one on _ts.
func TestTSIndexIsKnown(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 5}}`)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	for _, hint := range []string{`"_ts_1"`, `{_ts: 1}`} {
		h.Finds(`{find: "c", filter: {_id: {$gt: 1}}, hint: `+hint+`}`, `[{"_id":2}]`)
		h.OK(`{count: "c", hint: ` + hint + `}`)
		h.OK(`{update: "c", updates: [{q: {_id: {$gt: 0}}, u: {$set: {x: 1}}, hint: ` + hint + `}]}`)
		h.OK(`{explain: {find: "c", hint: ` + hint + `}}`)
	}
	h.Fails(2, `{find: "c", hint: "_ts_2"}`)
	names := ""
	for _, d := range harness.Docs(h.OK(`{aggregate: "c", pipeline: [{$indexStats: {}}], cursor: {}}`)) {
		names += d.Lookup("name").Str() + " "
	}
	if names != "_id_ _ts_1 " {
		t.Error(names)
	}
	stats := h.OK(`{collStats: "c"}`)
	if stats.Lookup("nindexes").TowardZeroInt64() != 2 || stats.Lookup("indexSizes").Doc().Lookup("_ts_1").TowardZeroInt64() <= 0 {
		t.Error(stats)
	}
	if r := h.OK(`{validate: "c"}`); r.Lookup("nIndexes").TowardZeroInt64() != 2 || r.Lookup("keysPerIndex").Doc().Lookup("_ts_1").TowardZeroInt64() != 2 {
		t.Error(r)
	}
	if r := h.OK(`{reIndex: "c"}`); r.Lookup("nIndexes").Int32() != 2 || r.Lookup("indexes").Doc().Len() != 2 {
		t.Error(r)
	}
	if r := h.OK(`{dbStats: 1}`); r.Lookup("indexes").TowardZeroInt64() != 2 {
		t.Error(r)
	}
	if r := h.OK(`{drop: "c"}`); r.Lookup("nIndexesWas").Int32() != 2 {
		t.Error(r)
	}
}

// With exposeTs every returned document ends with _ts.
func TestExposedTS(t *testing.T) {
	h := harness.New(t)
	exposing(h) // now is second 40
	ts := func(second string) string { return `"_ts":{"$numberLong":"17672256` + second + `"}}` }
	fam := func(rest, want string) {
		h.Helper()
		if got := h.OK(`{findAndModify: "e", ` + rest + `}`).Lookup("value").String(); got != value.MustJSON(want).String() {
			h.Errorf("%s\nreturned %s, want %s", rest, got, want)
		}
	}
	fam(`query: {_id: 1}, update: {$set: {v: 5}}`, `{"_id":1,"v":4,`+ts("00"))
	fam(`query: {_id: 1}, update: {$set: {v: 6}}, new: true`, `{"_id":1,"v":6,`+ts("40"))
	fam(`query: {_id: 2}, update: {w: 1}, new: true`, `{"_id":2,"w":1,`+ts("40"))
	fam(`query: {_id: 3}, update: [{$set: {at: "$_ts"}}], new: true`, `{"_id":3,"v":2,"at":{"$numberLong":"1767225620"},`+ts("40"))
	fam(`query: {_id: 9}, update: {$set: {v: 9}}, upsert: true, new: true`, `{"_id":9,"v":9,`+ts("40"))
	fam(`query: {_id: 4}, remove: true`, `{"_id":4,"v":1,`+ts("30"))
	h.OK(`{update: "e", updates: [{q: {_id: 9}, u: [{$set: {at: {$add: ["$_ts", 1]}}}]}]}`)
	h.Finds(`{find: "e", filter: {_id: 9}, projection: {at: 1}}`, `[{"_id":9,"at":{"$numberLong":"1767225641"}}]`)
	h.Fails(66, `{update: "e", updates: [{q: {_id: 9}, u: {$rename: {v: "_ts"}}}]}`)
	h.Fails(66, `{update: "e", updates: [{q: {_id: 9}, u: {$rename: {_ts: "v"}}}]}`)
	h.Fails(66, `{findAndModify: "e", query: {_id: 9}, update: {$rename: {v: "_ts.x"}}}`)
	h.OK(`{insert: "src", documents: [{_id: 9, z: 1}]}`)
	h.Clock.Advance(10 * time.Second)
	h.OK(`{aggregate: "src", pipeline: [{$merge: {into: "e", whenMatched: [{$set: {was: "$_ts"}}]}}], cursor: {}}`)
	h.Finds(`{find: "e", filter: {_id: 9}, projection: {was: 1}}`, `[{"_id":9,"was":{"$numberLong":"1767225640"}}]`)
}

// With documentTtlStrictTsOnly only the index on _ts expires documents, and collMod
// cannot convert another index to a TTL index.
func TestStrictTSOnlyAndCollMod(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1"}, {key: {_ts: 1}, name: "_ts_1"}]}`)
	h.Admin(`{setParameter: 1, documentTtlStrictTsOnly: true}`)
	h.Fails(2, `{createIndexes: "c", indexes: [{key: {y: 1}, name: "y_1", expireAfterSeconds: 60}]}`)
	for _, index := range []string{`name: "x_1"`, `keyPattern: {x: 1}`} {
		h.Fails(2, `{collMod: "c", index: {`+index+`, expireAfterSeconds: 60}}`)
	}
	h.OK(`{collMod: "c", index: {name: "x_1", hidden: true}}`)
	h.Fails(27, `{collMod: "c", index: {name: "none", expireAfterSeconds: 60}}`)
	h.OK(`{collMod: "c", index: {keyPattern: {_ts: 1}, expireAfterSeconds: 60}}`)
	h.OK(`{collMod: "c", index: {keyPattern: {_ts: 1}, expireAfterSeconds: 70}}`)
}
