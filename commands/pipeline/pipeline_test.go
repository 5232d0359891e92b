package pipeline_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

func withDocuments(t *testing.T) *harness.Harness {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, t: ["x", "y"]}, {_id: 2, a: 2}, {_id: 3, a: 2, o: {b: 5}}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 2}}]}`)
	return h
}

// A query on a view has the result of the view's pipeline followed by the query.
func TestViews(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	h.Finds(`{find: "v", sort: {_id: -1}, skip: 1, limit: 1, projection: {a: 1}}`, `[{"_id": 2, "a": 2}]`)
	h.Finds(`{find: "v", filter: {_id: 3}}`, `[{"_id": 3, "a": 2, "o": {"b": 5}}]`)
	h.Finds(`{aggregate: "c", pipeline: [{$match: {_id: 1}}, {$lookup: {from: "v", localField: "missing", foreignField: "missing", as: "l"}}, {$project: {n: {$size: "$l"}}}], cursor: {}}`, `[{"_id": 1, "n": 2}]`)
	for command, want := range map[string]int64{
		`{count: "v"}`: 2,
		`{count: "v", query: {o: {$exists: true}}}`: 1,
		`{count: "v", skip: 1}`:                     1,
		`{count: "v", limit: 1}`:                    1,
		`{count: "v", query: {a: 9}}`:               0,
	} {
		if n := h.OK(command).Lookup("n").SafeInt64(); n != want {
			t.Errorf("%s: %d, want %d", command, n, want)
		}
	}
	if got := h.OK(`{distinct: "v", key: "o.b"}`).Lookup("values").String(); got != "[ 5 ]" {
		t.Errorf("distinct: %s", got)
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{find: "v", min: {a: 1}, hint: {a: 1}}`, Code: 168, Text: "Option min not supported in aggregation."},
		{DB: "test", Command: `{find: "v", returnKey: true}`, Code: 168, Text: "Option returnKey not supported in aggregation."},
		{DB: "test", Command: `{find: "v", sort: {$natural: 2}}`, Code: 2, Text: "$natural sort cannot be set to a value other than -1 or 1."},
		{DB: "test", Command: `{find: "v", sort: {$natural: 1, a: 1}}`, Code: 2, Text: "$natural sort cannot be set to a value other than -1 or 1."},
		{DB: "test", Command: `{find: "v", sort: {$natural: 1}, hint: {_id: 1}}`, Code: 2, Text: "index hint not allowed with $natural sort order"},
		{DB: "test", Command: `{find: "v", sort: {$natural: 1}, hint: "_id_"}`, Code: 2, Text: "index hint not allowed with $natural sort order"},
		{DB: "test", Command: `{find: "v", sort: {$natural: 1}, hint: {$natural: -1}}`, Code: 2, Text: "$natural hint must be in the same direction as $natural sort order"},
		{DB: "test", Command: `{insert: "v", documents: [{}]}`, Code: 166},
		{DB: "test", Command: `{find: "v", collation: {locale: "fr"}}`, Code: 167},
	})
}

// A sort by $natural of a view, of a time series and of views over them is that of what
// they read (manual, "$natural"), alone, with the hint that it is, in explain, and for
// findOne.
func TestNaturalSortOfViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 3, a: 1}, {_id: 1, a: 1}, {_id: 2, a: 1}, {_id: 4, a: 2}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, _id: 1}, name: "a"}]}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`)
	h.OK(`{create: "vv", viewOn: "v", pipeline: [{$project: {a: 0}}]}`)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [{_id: 3, m: 1, t: {$date: "2020-01-01T00:00:00Z"}}, {_id: 1, m: 2, t: {$date: "2020-01-02T00:00:00Z"}}, {_id: 2, m: 3, t: {$date: "2020-01-03T00:00:00Z"}}]}`)
	h.OK(`{create: "vs", viewOn: "s"}`)
	h.OK(`{create: "vvs", viewOn: "vs", pipeline: [{$match: {m: {$gt: 0}}}]}`)
	for _, name := range []string{"c", "v", "vv", "s", "vs", "vvs"} {
		for _, test := range []struct{ arguments, want string }{
			{`sort: {$natural: 1}`, "3 1 2"},
			{`sort: {$natural: -1}`, "2 1 3"},
			{`sort: {$natural: -1}, hint: {$natural: -1}`, "2 1 3"},
			{`sort: {$natural: -1}, hint: {}`, "2 1 3"},
			{`sort: {$natural: -1}, skip: 1, limit: 1`, "1"},
			{`sort: {$natural: -1}, limit: 1, singleBatch: true`, "2"},
		} {
			find := `find: "` + name + `", projection: {_id: 1}, filter: {_id: {$lt: 4}}, ` + test.arguments
			ids := ""
			for _, d := range harness.Docs(h.OK("{" + find + "}")) {
				ids += d.Lookup("_id").String() + " "
			}
			if ids != test.want+" " {
				t.Errorf("%s: %s, want %s", find, ids, test.want)
			}
			explained := h.OK("{explain: {" + find + "}}").JSON()
			if wrong := "IXSCAN"; strings.Contains(explained, wrong) || !strings.Contains(explained, "COLLSCAN") && !strings.Contains(explained, "CLUSTERED_IXSCAN") {
				t.Errorf("explain of %s: %s", find, explained)
			}
		}
	}
}

// $out replaces its target with its options and indexes kept; $merge follows
// whenMatched and whenNotMatched (reference/operator/aggregation/merge).
func TestOutAndMerge(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	h.OK(`{createIndexes: "to", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{insert: "to", documents: [{_id: 9}]}`)
	run := func(stages string) string { return `{aggregate: "c", pipeline: [` + stages + `], cursor: {}}` }
	h.Finds(run(`{$match: {a: 2}}, {$project: {a: 1}}, {$out: "to"}`), `[]`)
	h.Holds("to", `{_id: 2, a: 2} {_id: 3, a: 2}`)
	if got := h.IndexNames("to"); got != "_id_ a_1 " {
		t.Errorf("indexes after $out: %s", got)
	}
	for _, test := range []struct{ stage, want string }{
		{`{$merge: "to"}`, `{_id: 1, n: 7} {_id: 2, a: 2, n: 7} {_id: 3, a: 2, n: 7}`},
		{`{$merge: {into: "to", whenMatched: "replace", whenNotMatched: "discard"}}`, `{_id: 2, n: 7} {_id: 3, n: 7}`},
		{`{$merge: {into: "to", whenMatched: "keepExisting"}}`, `{_id: 1, n: 7} {_id: 2, a: 2} {_id: 3, a: 2}`},
		{`{$merge: {into: "to", whenMatched: [{$set: {sum: {$add: ["$a", "$$new.n"]}}}], whenNotMatched: "discard"}}`, `{_id: 2, a: 2, sum: 9} {_id: 3, a: 2, sum: 9}`},
	} {
		h.OK(run(`{$match: {a: 2}}, {$project: {a: 1}}, {$out: "to"}`))
		h.OK(run(`{$project: {n: {$literal: 7}}}, ` + test.stage))
		h.Holds("to", test.want)
	}
	h.OK(`{createIndexes: "keyed", indexes: [{key: {k: 1}, name: "k_1", unique: true, sparse: true}]}`)
	h.OK(run(`{$match: {_id: 2}}, {$project: {_id: 0, k: "$a"}}, {$merge: {into: "keyed", on: "k"}}`))
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: run(`{$merge: {into: "to", whenMatched: "fail"}}`), Code: 11000},
		{DB: "test", Command: run(`{$match: {_id: 1}}, {$set: {_id: 77}}, {$merge: {into: "to", whenNotMatched: "fail"}}`), Code: 13113},
		{DB: "test", Command: run(`{$merge: {into: "to", on: "a"}}`), Code: 51183},
		{DB: "test", Command: run(`{$project: {_id: 0}}, {$merge: {into: "keyed", on: "k"}}`), Code: 51132},
		{DB: "test", Command: run(`{$out: "v"}`), Code: 166},
		{DB: "test", Command: run(`{$out: {db: "admin", coll: "x"}}`), Code: 31321},
		{DB: "test", Command: `{aggregate: 2, pipeline: [], cursor: {}}`, Code: 2},
		{DB: "test", Command: `{aggregate: "c", pipeline: [], hint: "none", cursor: {}}`, Code: 2},
	})
}

// $out into a time series keeps it one.
func TestOutIntoSeries(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, t: {$date: "2026-01-01T00:00:00Z"}, v: 1}, {_id: 2, t: {$date: "2026-01-01T00:00:01Z"}, v: 2}]}`)
	h.OK(`{aggregate: "c", pipeline: [{$out: {db: "test", coll: "ts", timeseries: {timeField: "t"}}}], cursor: {}}`)
	h.OK(`{aggregate: "c", pipeline: [{$match: {_id: 2}}, {$out: {db: "test", coll: "ts"}}], cursor: {}}`)
	h.Finds(`{aggregate: "ts", pipeline: [{$project: {v: 1}}], cursor: {}}`, `[{"_id": 2, "v": 2}]`)
	h.Fails(7268700, `{aggregate: "c", pipeline: [{$out: {db: "test", coll: "c", timeseries: {timeField: "t"}}}], cursor: {}}`)
}

// Figures that follow from the documents, by all the ways to ask for them.
func TestStatistics(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	h.OK(`{find: "c", filter: {a: 2}}`)
	h.Finds(`{aggregate: "c", pipeline: [{$indexStats: {}}, {$match: {name: "a_1"}}, {$project: {_id: 0, n: "$accesses.ops"}}], cursor: {}}`, `[{"n": {"$numberLong": "1"}}]`)
	s := h.OK(`{collStats: "c"}`)
	if s.Lookup("count").SafeInt64() != 3 || s.Lookup("nindexes").SafeInt64() != 2 || !s.Lookup("indexSizes").Doc().Has("a_1") {
		t.Errorf("collStats: %s", s)
	}
	d := h.OK(`{dbStats: 1}`)
	if d.Lookup("collections").SafeInt64() < 1 || d.Lookup("views").SafeInt64() != 1 || d.Lookup("indexes").SafeInt64() < 2 {
		t.Errorf("dbStats: %s", d)
	}
	if n := h.OK(`{dataSize: "test.c"}`).Lookup("numObjects").SafeInt64(); n != 3 {
		t.Errorf("dataSize counts %d", n)
	}
	if n := h.OK(`{dataSize: "test.c", keyPattern: {a: 1}, min: {a: 2}, max: {a: 3}}`).Lookup("numObjects").SafeInt64(); n != 2 {
		t.Errorf("dataSize of a range counts %d", n)
	}
	c := harness.Docs(h.OK(`{aggregate: "c", pipeline: [{$collStats: {count: {}, storageStats: {scale: 1}, latencyStats: {histograms: true}, queryExecStats: {}}}], cursor: {}}`))[0]
	if c.Lookup("count").SafeInt64() != 3 || c.Lookup("storageStats").Doc().Lookup("count").SafeInt64() != 3 || c.Lookup("ns").Str() != "test.c" {
		t.Errorf("$collStats: %s", c)
	}
	h.Finds(`{aggregate: "c", pipeline: [{$listCatalog: {}}, {$project: {_id: 0, name: 1, type: 1}}], cursor: {}}`, `[{"name": "c", "type": "collection"}]`)
	h.Finds(`{aggregate: "v", pipeline: [{$listCatalog: {}}, {$project: {_id: 0, name: 1, type: 1, viewOn: 1}}], cursor: {}}`, `[{"name": "v", "type": "view", "viewOn": "c"}]`)
	h.OK(`{aggregate: "c", pipeline: [{$planCacheStats: {}}], cursor: {}}`)
	h.OK(`{validate: "c", full: true}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collStats: "v"}`, Code: 166},
		{DB: "test", Command: `{dataSize: "test.v"}`, Code: 166},
		{DB: "test", Command: `{dataSize: "test.c", min: {a: 1}}`, Code: 2, Text: "only one of min or max specified"},
		{DB: "test", Command: `{aggregate: "v", pipeline: [{$collStats: {count: {}}}], cursor: {}}`, Code: 166},
		{DB: "test", Command: `{aggregate: "none", pipeline: [{$collStats: {count: {}}}], cursor: {}}`, Code: 26},
		{DB: "test", Command: `{aggregate: "none", pipeline: [{$planCacheStats: {}}], cursor: {}}`, Code: 50933},
		{DB: "test", Command: `{validate: "c", background: true, full: true}`, Code: 72},
		{DB: "test", Command: `{validate: "c", metadata: true, full: true}`, Code: 72},
	})
	if !h.Svc.InCluster() {
		h.Fails(115, `{validate: "c", background: true}`)
	}
}
