package pipeline_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// $listLocalSessions shows the sessions of the client's user, of the given users, or of
// all users (reference/operator/aggregation/listLocalSessions).
func TestListSessions(t *testing.T) {
	t.Parallel()
	h := harness.NewAuth(t)
	ids := map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		h.User(name, "root@admin")
		id := h.As(name, "admin", `{startSession: 1}`).Lookup("id").Doc().Lookup("id")
		ids[harness.JSONOf(id)] = name
	}
	for spec, want := range map[string]string{
		`{}`:                                    "ann",
		`{allUsers: true}`:                      "ann bob",
		`{users: [{user: "bob", db: "admin"}]}`: "bob",
		`{users: [{user: "ann", db: "admin"}, {user: "bob", db: "admin"}]}`: "ann bob",
		`{users: [{user: "bob", db: "other"}]}`:                             "",
	} {
		found := map[string]bool{}
		for _, d := range harness.Docs(h.As("ann", "admin", `{aggregate: 1, pipeline: [{$listLocalSessions: `+spec+`}], cursor: {}}`)) {
			found[ids[harness.JSONOf(d.Lookup("_id").Doc().Lookup("id"))]] = true
		}
		var got []string
		for _, name := range []string{"ann", "bob"} {
			if found[name] {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: sessions of %v, want %s", spec, got, want)
		}
	}
}

// The figures of a time series are those of its buckets; sizes are divided by the
// scale, averages are not.
func TestStatisticsOfKinds(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{create: "empty"}`)
	h.OK(`{create: "capped", capped: true, size: 8192, max: 9}`)
	for _, coll := range []string{"s", "empty", "capped", "none"} {
		s := h.OK(`{collStats: "` + coll + `"}`)
		if s.Lookup("avgObjSize").Truthy() || s.Lookup("size").SafeInt64() != 0 {
			t.Errorf("%s, empty: %s", coll, s)
		}
	}
	h.OK(`{insert: "s", documents: [{t: {"$date": "2026-01-01T00:00:00Z"}, m: 1}, {t: {"$date": "2026-01-01T00:00:01Z"}, m: 1}, {t: {"$date": "2026-01-01T00:00:00Z"}, m: 2}]}`)
	s := h.OK(`{collStats: "s"}`)
	series := s.Lookup("timeseries").Doc()
	if series.Lookup("bucketsNs").Str() != "test.system.buckets.s" || series.Lookup("bucketCount").SafeInt64() != 2 || series.Lookup("avgBucketSize").SafeInt64() != s.Lookup("size").SafeInt64()/2 || s.Has("count") || s.Has("avgObjSize") {
		t.Errorf("time series: %s", s)
	}
	h.Finds(`{aggregate: "s", pipeline: [{$indexStats: {}}, {$project: {_id: 0, name: 1}}], cursor: {}}`, `[{"name": "m_1_t_1"}]`)
	h.Fails(40602, `{aggregate: "s", pipeline: [{$planCacheStats: {}}], cursor: {}}`)
	h.Finds(`{aggregate: "s", pipeline: [{$listCatalog: {}}, {$project: {_id: 0, type: 1}}], cursor: {}}`, `[{"type": "timeseries"}]`)
	c := h.OK(`{collStats: "capped"}`)
	if !c.Lookup("capped").Bool() || c.Lookup("max").SafeInt64() != 9 || c.Lookup("maxSize").SafeInt64() != 8192 {
		t.Errorf("capped: %s", c)
	}
	whole := h.OK(`{collStats: "capped", scale: 1024}`)
	if whole.Lookup("maxSize").SafeInt64() != 8 || whole.Lookup("scaleFactor").SafeInt64() != 1024 {
		t.Errorf("scaled: %s", whole)
	}
	h.OK(`{aggregate: "capped", pipeline: [{$collStats: {storageStats: {scale: {"$numberLong": "5000000000"}}}}], cursor: {}}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: "capped", pipeline: [{$collStats: {storageStats: {scale: 0}}}], cursor: {}}`, Code: 2},
		{DB: "test", Command: `{aggregate: "none", pipeline: [{$collStats: {storageStats: {}}}], cursor: {}}`, Code: 26},
	})
	all := harness.Docs(h.Admin(`{aggregate: 1, pipeline: [{$listCatalog: {}}, {$match: {db: "test"}}, {$sort: {name: 1}}], cursor: {}}`))
	names := ""
	for _, d := range all {
		names += d.Lookup("name").Str() + " "
	}
	if names != "capped empty s system.buckets.s system.views " {
		t.Errorf("$listCatalog lists %s", names)
	}
}

// dataSize of a range of an index (the manual's page on dataSize).
func TestDataSize(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}, {_id: 3, a: 2}, {_id: 4, a: 3}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	each := int64(len(value.NewDoc("_id", value.Int32(1), "a", value.Int32(1))))
	for command, n := range map[string]int64{
		`{dataSize: "test.c"}`:                                                     4,
		`{datasize: "test.c", estimate: true}`:                                     4,
		`{dataSize: "test.c", min: {a: 2}, max: {a: 3}}`:                           2,
		`{dataSize: "test.c", keyPattern: {_id: 1}, min: {_id: 2}, max: {_id: 9}}`: 3,
		`{dataSize: "test.c", keyPattern: {_id: 1}, min: {_id: 2}, max: {_id: 2}}`: 0,
		`{dataSize: "test.c", keyPattern: {_id: 1}, min: {_id: 3}, max: {_id: 2}}`: 0,
		`{dataSize: "test.none"}`:                                                  0,
	} {
		r := h.OK(command)
		if r.Lookup("numObjects").SafeInt64() != n || r.Lookup("size").SafeInt64() != n*each || r.Lookup("estimate").Bool() != strings.Contains(command, "estimate") {
			t.Errorf("%s answered %s, want %d objects of %d bytes", command, r, n, each)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{dataSize: "test"}`, Code: 73},
		{DB: "test", Command: `{dataSize: null}`, Code: 40414},
		{DB: "test", Command: `{dataSize: "test.c", fly: 1}`, Code: 40415},
		{DB: "test", Command: `{dataSize: "test.c", min: {no: 1}, max: {no: 2}}`, Code: 96, Text: "Couldn't find valid index containing key pattern"},
		{DB: "test", Command: `{dataSize: "test.c", keyPattern: {_id: -1}, min: {_id: 1}, max: {_id: 2}}`, Code: 96},
		{DB: "test", Command: `{dataSize: "test.c", keyPattern: {_id: 1}, min: {a: 1}, max: {a: 2}}`, Code: 16634},
		{DB: "test", Command: `{dataSize: "test.c", max: {a: 1}}`, Code: 2, Text: "only one of min or max specified"},
	})
}

// A $lookup that uses an index, and the cases in which it does not.
func TestLookupByIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, k: 1}, {_id: 2, k: 2}, {_id: 3, k: [1, 2]}, {_id: 4}, {_id: 5, k: 9}]}`)
	h.OK(`{insert: "d", documents: [{_id: "a", k: 1}, {_id: "b", k: [1, 2]}, {_id: "c", k: null}, {_id: "d"}]}`)
	h.OK(`{create: "v", viewOn: "d", pipeline: []}`)
	lookup := func(from string) string {
		return `{aggregate: "c", pipeline: [{$lookup: {from: "` + from + `", localField: "k", foreignField: "k", as: "l"}}, {$project: {l: {$sortArray: {input: "$l._id", sortBy: 1}}}}, {$sort: {_id: 1}}], cursor: {}}`
	}
	const want = `[{"_id": 1, "l": ["a", "b"]}, {"_id": 2, "l": ["b"]}, {"_id": 3, "l": ["a", "b"]}, {"_id": 4, "l": ["c", "d"]}, {"_id": 5, "l": []}]`
	h.Finds(lookup("d"), want) // without an index
	h.OK(`{createIndexes: "d", indexes: [{key: {k: 1}, name: "k"}]}`)
	h.Finds(lookup("d"), want)
	h.Finds(lookup("v"), want)
	h.Finds(lookup("none"), `[{"_id": 1, "l": []}, {"_id": 2, "l": []}, {"_id": 3, "l": []}, {"_id": 4, "l": []}, {"_id": 5, "l": []}]`)
	uses := harness.Docs(h.OK(`{aggregate: "d", pipeline: [{$indexStats: {}}, {$match: {name: "k"}}], cursor: {}}`))[0].Lookup("accesses").Doc().Lookup("ops").SafeInt64()
	if uses == 0 {
		t.Error("the index on k was not used")
	}
}

// explain shows what runs for a distinct on a view: the values within arrays that
// are unwound.
func TestExplainDistinctOnView(t *testing.T) {
	t.Parallel()
	h := withDocuments(t)
	r := h.OK(`{explain: {distinct: "v", key: "o.b", query: {a: 2}}}`).String()
	for _, part := range []string{`path: "$o"`, `path: "$o.b"`, `preserveNullAndEmptyArrays: true`, `$addToSet: "$o.b"`, `"object"`} {
		if !strings.Contains(r, part) {
			t.Errorf("explain lacks %s: %s", part, r)
		}
	}
	h.Finds(`{aggregate: 1, pipeline: [{$documents: [{a: 1}]}], cursor: {}}`, `[{"a": 1}]`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{aggregate: "none", pipeline: [{$geoNear: {near: [0, 0], distanceField: "d", key: "l"}}], cursor: {}}`, Code: 26},
		{DB: "test", Command: `{aggregate: "c", pipeline: [{$match: {$text: {$search: "x"}}}], cursor: {}}`, Code: 27, Text: "text index required for $text query"},
		{DB: "test", Command: `{aggregate: "c", pipeline: [], cursor: {}, hint: 1}`, Code: 9},
		{DB: "test", Command: `{aggregate: "c", pipeline: [], cursor: {}, collation: {locale: "xx"}}`, Code: 2},
		{DB: "test", Command: `{aggregate: "c", pipeline: [], cursor: {}, let: {a: {$fly: 1}}}`, Code: 168},
		{DB: "test", Command: `{count: "v", query: {$fly: 1}}`, Code: 2},
		{DB: "test", Command: `{distinct: "v", key: "a", query: {$fly: 1}}`, Code: 2},
		{DB: "test", Command: `{find: "v", filter: {$fly: 1}}`, Code: 2},
	})
}

// repairMode shows the requested mode (the manual's page on validate).
func TestRepairMode(t *testing.T) {
	t.Parallel()
	h := withDocuments(t).LoneServer("validate with repair, which is for a standalone")
	for options, want := range map[string]string{``: "None", `, repair: true`: "FixErrors", `, fixMultikey: true`: "AdjustMultikey"} {
		if got := h.OK(`{validate: "c"` + options + `}`).Lookup("repairMode").Str(); got != want {
			t.Errorf("%s: %s, want %s", options, got, want)
		}
	}
}

// The index of a dataSize may have more fields than the bounds; sparse, partial and
// multikey ones do not count.
func TestDataSizeChoosesAnIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1, b: 5}, {_id: 2, a: 2, b: 1}, {_id: 3, a: 2, b: 9}, {_id: 4, a: 3, b: 0}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "partial", partialFilterExpression: {b: 0}}, {key: {a: 1}, name: "sparse", sparse: true}]}`)
	size := `{dataSize: "test.c", keyPattern: {a: 1}, min: {a: 2}, max: {a: 3}}`
	h.Fails(96, size)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, b: -1}, name: "ab"}]}`)
	for command, want := range map[string]int64{
		size: 2,
		`{dataSize: "test.c", keyPattern: {a: 1}, min: {a: 2, b: 5}, max: {a: 3}}`:              1,
		`{dataSize: "test.c", keyPattern: {a: 1, b: -1}, min: {a: 2, b: 1}, max: {a: 2, b: 9}}`: 0,
		`{dataSize: "test.c", keyPattern: {a: 1, b: -1}, min: {a: 2, b: 9}, max: {a: 2, b: 1}}`: 1,
	} {
		if n := h.OK(command).Lookup("numObjects").SafeInt64(); n != want {
			t.Errorf("%s: %d, want %d", command, n, want)
		}
	}
	h.OK(`{insert: "c", documents: [{a: [7, 8]}]}`)
	h.Fails(96, size)
}
