package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
)

// $concatArrays and $setUnion as accumulators, which are new in 8.1.
func TestArrayAccumulators(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1, g: "A", v: [3, 1]}, {_id: 2, g: "A", v: [1, 2]}, {_id: 3, g: "A"}, {_id: 4, g: "B", v: []}, {_id: 5, g: "B", v: [[1], "x"]}, {_id: 6, g: "C"}]`)
	const groups = `{$sort: {_id: 1}}, {$group: {_id: "$g", r: `
	s.gives("c", `[`+groups+`{$concatArrays: "$v"}}}, {$sort: {_id: 1}}]`, `[{_id: "A", r: [3, 1, 1, 2]}, {_id: "B", r: [[1], "x"]}, {_id: "C", r: []}]`)
	s.gives("c", `[`+groups+`{$setUnion: "$v"}}}, {$sort: {_id: 1}}, {$project: {r: {$sortArray: {input: "$r", sortBy: 1}}}}]`, `[{_id: "A", r: [1, 2, 3]}, {_id: "B", r: ["x", [1]]}, {_id: "C", r: []}]`)
	s.gives("c", `[{$bucketAuto: {groupBy: "$_id", buckets: 1, output: {r: {$concatArrays: "$v"}}}}, {$project: {_id: 0, n: {$size: "$r"}}}]`, `[{n: 6}]`)
	const window = `[{$setWindowFields: {sortBy: {_id: 1}, output: {r: `
	s.gives("c", window+`{$concatArrays: "$v", window: {documents: [-1, 0]}}}}}, {$match: {_id: {$lt: 4}}}, {$project: {r: 1}}]`, `[{_id: 1, r: [3, 1]}, {_id: 2, r: [3, 1, 1, 2]}, {_id: 3, r: [1, 2]}]`)
	s.gives("c", window+`{$setUnion: "$v", window: {documents: [-1, 0]}}}}}, {$match: {_id: 2}}, {$project: {_id: 0, r: {$sortArray: {input: "$r", sortBy: 1}}}}]`, `[{r: [1, 2, 3]}]`)
	for _, op := range []string{"$concatArrays", "$setUnion"} {
		s.fails(14, "c", `[{$group: {_id: null, r: {`+op+`: "$_id"}}}]`)
		s.fails(14, "c", `[{$group: {_id: null, r: {`+op+`: null}}}]`)
		s.fails(40237, "c", `[{$group: {_id: null, r: {`+op+`: ["$v", "$v"]}}}]`)
	}
	s.fails(14, "c", window+`{$concatArrays: "$_id"}}}}]`)
	s.fails(14, "c", window+`{$setUnion: "$_id"}}}}]`)
}

// They may not grow without a limit.
func TestArrayAccumulatorsAreBounded(t *testing.T) {
	long := strings.Repeat("a", 90)
	s := newServer(t, "internalQueryMaxConcatArraysBytes", "100", "internalQueryMaxSetUnionBytes", "100")
	s.insert("c", `[{_id: 1, v: ["`+long+`"]}, {_id: 2, v: ["x`+long+`"]}]`)
	for _, op := range []string{"$concatArrays", "$setUnion"} {
		s.fails(146, "c", `[{$group: {_id: null, r: {`+op+`: "$v"}}}]`)
	}
}

// $listClusterCatalog lists the collections of a database, or on admin of all databases.
func TestListClusterCatalog(t *testing.T) {
	s := newServer(t)
	s.ok(`{create: "c"}`)
	s.ok(`{create: "v", viewOn: "c", pipeline: []}`)
	s.ok(`other: {create: "d", capped: true, size: 4096}`)
	s.gives("1", `[{$listClusterCatalog: {}}, {$match: {ns: {$in: ["test.c", "test.v"]}}}, {$sort: {ns: 1}}, {$project: {_id: 0, ns: 1, db: 1, type: 1, sharded: 1}}]`,
		`[{ns: "test.c", db: "test", type: "collection", sharded: false}, {ns: "test.v", db: "test", type: "view", sharded: false}]`)
	s.gives("admin.1", `[{$listClusterCatalog: {}}, {$match: {ns: {$in: ["test.c", "other.d"]}}}, {$sort: {ns: 1}}, {$project: {_id: 0, ns: 1}}]`, `[{ns: "other.d"}, {ns: "test.c"}]`)
	s.gives("1", `[{$listClusterCatalog: {shards: true, tracked: true}}, {$match: {ns: "test.c"}}, {$project: {_id: 0, tracked: 1, shards: {$type: "$shards"}}}]`, `[{tracked: false, shards: "array"}]`)
	s.fails(9621301, "c", `[{$listClusterCatalog: {}}]`)
	s.fails(9621302, "1", `[{$listClusterCatalog: 1}]`)
	s.fails(40415, "1", `[{$listClusterCatalog: {nosuch: true}}]`)
	s.fails(14, "1", `[{$listClusterCatalog: {shards: 1}}]`)
}

// As 8.0, and with its feature compatibility version, the server knows less.
func TestNewsNeedTheirVersion(t *testing.T) {
	const union, sigmoid, catalog = `[{$group: {_id: null, r: {$setUnion: "$v"}}}]`, `[{$project: {r: {$sigmoid: "$v"}}}]`, `[{$listClusterCatalog: {}}]`
	old := &server{commandtest.Speaking(t, "8.0")}
	old.insert("c", `[{_id: 1}]`)
	old.fails(15952, "c", union)
	old.fails(168, "c", sigmoid)
	old.fails(40324, "1", catalog)

	s := newServer(t)
	s.insert("c", `[{_id: 1}]`)
	s.gives("c", union, `[{_id: null, r: []}]`)
	s.ok(`admin: {setFeatureCompatibilityVersion: "8.0", confirm: true}`)
	s.fails(15952, "c", union)
	s.gives("c", sigmoid, `[{_id: 1, r: null}]`)
	s.ok(`admin: {setFeatureCompatibilityVersion: "8.2", confirm: true}`)
	s.gives("c", union, `[{_id: null, r: []}]`)
}

// Expressions that are stored or stand outside of pipelines are of the version, too.
func TestVersionOfFilters(t *testing.T) {
	s := &server{commandtest.Speaking(t, "8.0")}
	s.ok(`{create: "c"}`)
	const unknown = `{$expr: {$gt: [{$sigmoid: "$a"}, 0]}}`
	for _, command := range []string{
		`{create: "d", validator: ` + unknown + `}`,
		`{collMod: "c", validator: ` + unknown + `}`,
		`{create: "v", viewOn: "c", pipeline: [{$match: ` + unknown + `}]}`,
		`{listCollections: 1, filter: ` + unknown + `}`,
		`admin: {listDatabases: 1, filter: ` + unknown + `}`,
		`{usersInfo: 1, filter: ` + unknown + `}`,
		`admin: {currentOp: 1, $expr: {$sigmoid: 1}}`,
		`{find: "c", filter: ` + unknown + `}`,
		`{find: "c", projection: {a: {$sigmoid: 1}}}`,
		`{count: "c", query: ` + unknown + `}`,
		`{distinct: "c", key: "a", query: ` + unknown + `}`,
		`{findAndModify: "c", query: ` + unknown + `, remove: true}`,
		`{findAndModify: "c", query: {}, update: [{$set: {a: {$sigmoid: 1}}}]}`,
		`{explain: {find: "c", filter: ` + unknown + `}}`,
		`{aggregate: "c", pipeline: [{$lookup: {from: "c", as: "x", pipeline: [{$match: ` + unknown + `}]}}], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$merge: {into: "d", whenMatched: [{$set: {a: {$sigmoid: 1}}}]}}], cursor: {}}`,
	} {
		if reply := s.run(command); reply.Lookup("code").Int32() != 168 {
			t.Errorf("%s\nanswered %s", command, reply)
		}
	}
	for _, command := range []string{
		`{update: "c", updates: [{q: ` + unknown + `, u: {$set: {a: 1}}}]}`,
		`{update: "c", updates: [{q: {}, u: [{$set: {a: {$sigmoid: 1}}}]}]}`,
		`{delete: "c", deletes: [{q: ` + unknown + `, limit: 1}]}`,
	} {
		if reply := s.run(command); reply.Lookup("writeErrors").Doc().Index(0).Doc().Lookup("code").Int32() != 168 {
			t.Errorf("%s\nanswered %s", command, reply)
		}
	}
}
