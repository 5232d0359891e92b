package ddl_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// The definitions of the views stand in system.views (manual, "system Collections"), and
// follow create, collMod, drop, $out and the end of the database.
func TestSystemViewsFollowTheViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	has := func(want ...string) {
		h.Helper()
		var docs []string
		for _, d := range want {
			docs = append(docs, harness.Relaxed(d).String())
		}
		got := harness.Docs(h.OK(`{find: "system.views", sort: {_id: 1}}`))
		if len(got) != len(docs) {
			t.Errorf("system.views has %s, want %s", got, docs)
			return
		}
		for i, d := range got {
			if d.String() != docs[i] {
				t.Errorf("system.views has %s, want %s", d, docs[i])
			}
		}
	}
	v := `{_id: "test.v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`
	has()
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`)
	has(v)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	s := `{_id: "test.s", viewOn: "system.buckets.s", pipeline: [{$_internalUnpackBucket: {timeField: "t", metaField: "m", bucketMaxSpanSeconds: 3600}}]}`
	has(s, v)
	h.OK(`{collMod: "s", timeseries: {granularity: "minutes"}}`)
	has(strings.Replace(s, "3600", "86400", 1), v)
	h.OK(`{drop: "s"}`)
	h.OK(`{collMod: "v", viewOn: "d", pipeline: []}`)
	has(`{_id: "test.v", viewOn: "d", pipeline: []}`)
	h.OK(`{create: "w", viewOn: "v", collation: {locale: "simple"}}`)
	h.OK(`{create: "f", viewOn: "c", collation: {locale: "fr"}}`)
	if got := harness.Docs(h.OK(`{find: "system.views", filter: {_id: "test.f"}}`)); len(got) != 1 || got[0].Lookup("collation").Doc().Lookup("locale").Str() != "fr" {
		t.Errorf("a view with a collation: %s", got)
	}
	h.OK(`{drop: "f"}`)
	h.OK(`{drop: "v"}`)
	has(`{_id: "test.w", viewOn: "v", pipeline: []}`)
	h.OK(`{drop: "system.views"}`)
	has()
	h.OK(`{create: "v", viewOn: "c", pipeline: [{$match: {a: 1}}]}`)
	h.OK(`{dropDatabase: 1}`)
	has()
	h.Fails(26, `{listIndexes: "system.views"}`)
	h.OK(`{create: "system.views"}`)
	has()
}

// Every command that reads a collection reads system.views.
func TestSystemViewsAreACollection(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		h.OK(`{create: "` + name + `", viewOn: "x", pipeline: []}`)
	}
	h.OK(`{insert: "o", documents: [{_id: 1, of: "test.c"}]}`)
	finds := func(command, want string) {
		h.Helper()
		docs := []value.Value{}
		for _, d := range harness.Docs(h.OK(command)) {
			docs = append(docs, value.Document(d))
		}
		if got := value.NewArray(docs...); got.String() != harness.Relaxed(`{d: `+want+`}`).Lookup("d").String() {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	id := func(name string) string { return `{_id: "test.` + name + `"}` }
	for command, want := range map[string]string{
		`{find: "system.views", projection: {_id: 1}, sort: {_id: -1}, limit: 2}`:                                                                               `[` + id("e") + `, ` + id("d") + `]`,
		`{find: "system.views", filter: {_id: "test.c"}, projection: {_id: 1}}`:                                                                                 `[` + id("c") + `]`,
		`{find: "system.views", filter: {_id: "test.c"}, projection: {_id: 1}, limit: 1, singleBatch: true}`:                                                    `[` + id("c") + `]`,
		`{find: "system.views", filter: {_id: {$gt: "test.b", $lt: "test.e"}}, projection: {_id: 1}, sort: {_id: 1}}`:                                           `[` + id("c") + `, ` + id("d") + `]`,
		`{find: "system.views", filter: {_id: {$in: ["test.e", "test.a", "x"]}}, projection: {_id: 1}, sort: {_id: 1}}`:                                         `[` + id("a") + `, ` + id("e") + `]`,
		`{find: "system.views", filter: {_id: "none"}}`:                                                                                                         `[]`,
		`{find: "system.views", hint: "_id_", projection: {_id: 1}, skip: 3}`:                                                                                   `[` + id("d") + `, ` + id("e") + `]`,
		`{aggregate: "system.views", pipeline: [{$group: {_id: "$viewOn", n: {$sum: 1}}}], cursor: {}}`:                                                         `[{_id: "x", n: 5}]`,
		`{aggregate: "system.views", pipeline: [{$count: "n"}], cursor: {}}`:                                                                                    `[{n: 5}]`,
		`{aggregate: "o", pipeline: [{$lookup: {from: "system.views", localField: "of", foreignField: "_id", as: "v"}}, {$project: {"v._id": 1}}], cursor: {}}`: `[{_id: 1, v: [` + id("c") + `]}]`,
		`{listIndexes: "system.views"}`: `[{v: 2, key: {_id: 1}, name: "_id_"}]`,
		`{aggregate: "system.views", pipeline: [{$collStats: {count: {}}}, {$project: {count: 1}}], cursor: {}}`: `[{count: 5}]`,
		`{aggregate: "system.views", pipeline: [{$indexStats: {}}, {$project: {name: 1, key: 1}}], cursor: {}}`:  `[{name: "_id_", key: {_id: 1}}]`,
	} {
		finds(command, want)
	}
	field := func(command, path, want string) {
		h.Helper()
		v := value.Document(h.OK(command))
		for _, name := range strings.Split(path, ".") {
			v = v.Doc().Lookup(name)
		}
		if v.String() != want {
			t.Errorf("%s: %s is %s, want %s", command, path, v, want)
		}
	}
	field(`{count: "system.views"}`, "n", "5")
	field(`{count: "system.views", query: {_id: {$gt: "test.c"}}}`, "n", "2")
	field(`{distinct: "system.views", key: "viewOn"}`, "values", `[ "x" ]`)
	field(`{collStats: "system.views"}`, "count", "5")
	field(`{collStats: "system.views"}`, "nindexes", "1")
	field(`{dataSize: "test.system.views"}`, "numObjects", "5")
	field(`{validate: "system.views"}`, "nrecords", "5")
	field(`{validate: "system.views"}`, "keysPerIndex._id_", "5")
	field(`{validate: "system.views"}`, "valid", "true")
	field(`{dbStats: 1}`, "collections", "2")
	field(`{dbStats: 1}`, "objects", "6")
	field(`{explain: {find: "system.views", filter: {_id: "test.a"}}, verbosity: "executionStats"}`, "executionStats.nReturned", "1")
	hash := h.OK(`{dbHash: 1}`)
	for _, part := range []string{"collections", "uuids"} {
		if !hash.Lookup(part).Doc().Has("system.views") {
			t.Errorf("dbHash: %s", hash)
		}
	}
	for _, d := range harness.Docs(h.OK(`{listCollections: 1, filter: {name: "system.views"}}`)) {
		uuid := d.Lookup("info").Doc().Lookup("uuid")
		if !value.Equal(uuid, hash.Lookup("uuids").Doc().Lookup("system.views")) || d.Lookup("info").Doc().Lookup("readOnly").Truthy() {
			t.Errorf("listed: %s", d)
		}
		finds(`{find: "system.views", filter: {_id: "test.a"}, projection: {_id: 1}, collectionUUID: `+harness.JSONOf(uuid)+`}`, `[`+id("a")+`]`)
	}
}

// A cursor finds its place while views come and go.
func TestCursorOnSystemViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, name := range []string{"b", "d", "f", "h"} {
		h.OK(`{create: "` + name + `", viewOn: "x", pipeline: []}`)
	}
	for _, sort := range []string{`{}`, `{_id: 1}`, `{_id: -1}`, `{$natural: -1}`} {
		r := h.OK(`{find: "system.views", sort: ` + sort + `, batchSize: 2}`)
		seen := map[string]int{}
		for _, d := range harness.Docs(r) {
			seen[d.Lookup("_id").Str()]++
		}
		h.OK(`{create: "a", viewOn: "x", pipeline: []}`)
		h.OK(`{create: "i", viewOn: "x", pipeline: []}`)
		more := h.OK(`{getMore: {$numberLong: "` + r.Lookup("cursor").Doc().Lookup("id").String() + `"}, collection: "system.views"}`)
		for d := range more.Lookup("cursor").Doc().Lookup("nextBatch").Doc().Values() {
			seen[d.Doc().Lookup("_id").Str()]++
		}
		for _, name := range []string{"b", "d", "f", "h"} {
			if seen["test."+name] != 1 {
				t.Errorf("sort %s: test.%s came %d times", sort, name, seen["test."+name])
			}
		}
		h.OK(`{drop: "a"}`)
		h.OK(`{drop: "i"}`)
	}
}

// dropIndexes and collMod treat system.views as a collection with an index on _id. What would
// change it is refused, as by createIndexes.
func TestModifySystemViews(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Fails(26, `{collMod: "system.views"}`)
	h.Fails(26, `{dropIndexes: "system.views", index: "*"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	if reply := h.OK(`{dropIndexes: "system.views", index: "*"}`); reply.Lookup("nIndexesWas").Int32() != 1 || reply.Lookup("msg").Str() != "non-_id indexes dropped for collection" {
		t.Errorf("dropIndexes: %s", reply)
	}
	h.OK(`{collMod: "system.views"}`)
	for command, code := range map[string]int32{
		`{dropIndexes: "system.views", index: "_id_"}`:                             72,
		`{dropIndexes: "system.views", index: {_id: 1}}`:                           72,
		`{dropIndexes: "system.views", index: "a_1"}`:                              27,
		`{dropIndexes: "system.views", index: {a: 1}}`:                             27,
		`{collMod: "system.views", index: {keyPattern: {a: 1}, hidden: true}}`:     27,
		`{collMod: "system.views", index: {keyPattern: {_id: 1}, hidden: true}}`:   2,
		`{collMod: "system.views", index: {name: "_id_", expireAfterSeconds: 5}}`:  72,
		`{collMod: "system.views", validator: {a: 1}}`:                             72,
		`{collMod: "system.views", viewOn: "d"}`:                                   72,
		`{collMod: "system.views", cappedMax: 5}`:                                  72,
		`{collMod: "system.views", timeseries: {granularity: "hours"}}`:            72,
		`{collMod: "system.views", expireAfterSeconds: 5}`:                         72,
		`{collMod: "system.views", changeStreamPreAndPostImages: {enabled: true}}`: 73,
		`{collMod: "system.views", validationLevel: "moderate"}`:                   73,
		`{collMod: "system.views", documentTtl: {default: 5}}`:                     73,
		`{collMod: "system.views", onExpire: {deadLetterTo: "x"}}`:                 73,
		`{createIndexes: "system.views", indexes: [{key: {a: 1}, name: "a"}]}`:     73,
	} {
		h.Fails(code, command)
	}
	if n := len(harness.Docs(h.OK(`{find: "system.views"}`))); n != 1 {
		t.Errorf("%d views", n)
	}
}
