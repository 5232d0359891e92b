package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

func TestDocuments(t *testing.T) {
	s := newServer(t)
	s.gives("1", `[{$documents: [{x: 10}, {x: 2}, {x: 5}]}, {$bucketAuto: {groupBy: "$x", buckets: 4}}]`, `[
		{_id: {min: 2, max: 5}, count: 1}, {_id: {min: 5, max: 10}, count: 1}, {_id: {min: 10, max: 10}, count: 1}]`)
	s.gives("1", `[{$documents: "$$docs"}, {$match: {$expr: {$gt: ["$a", 1]}}}]`, `[{a: 2}]`, `let: {docs: [{a: 1}, {a: 2}]}`)
	s.fails(73, "c", `[{$documents: [{x: 10}]}]`)
	s.fails(73, "1", `[{$match: {}}]`)
	s.fails(40602, "1", `[{$documents: []}, {$documents: []}]`)
}

func TestStatisticsStages(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1, a: 1}, {_id: 2, a: 2}, {_id: 3, a: 3}]`)
	s.ok(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	s.gives("c", `[{$collStats: {count: {}}}, {$project: {ns: 1, count: 1}}]`, `[{ns: "test.c", count: 3}]`)
	s.gives("c", `[{$collStats: {storageStats: {}}}, {$project: {_id: 0, c: "$storageStats.count", n: "$storageStats.nindexes"}}]`, `[{c: 3, n: 2}]`)
	s.gives("c", `[{$collStats: {latencyStats: {}}}, {$project: {r: {$type: "$latencyStats.reads.ops"}, h: {$type: "$localTime"}}}]`, `[{r: "long", h: "date"}]`)
	s.fails(40415, "c", `[{$collStats: {nothing: {}}}]`)
	s.fails(40602, "c", `[{$match: {}}, {$collStats: {}}]`)
	s.fails(26, "nosuch", `[{$collStats: {count: {}}}]`)

	s.aggregate("c", `[{$match: {a: 2}}]`)
	s.aggregate("c", `[{$match: {a: {$gt: 1}}}]`)
	s.gives("c", `[{$indexStats: {}}, {$match: {name: "a_1"}}, {$project: {_id: 0, name: 1, key: 1, ops: "$accesses.ops", spec: {$type: "$spec"}, since: {$type: "$accesses.since"}}}]`,
		`[{name: "a_1", key: {a: 1}, ops: NumberLong("2"), spec: "object", since: "date"}]`)
	s.fails(28803, "c", `[{$indexStats: {x: 1}}]`)
	s.gives("c", `[{$planCacheStats: {}}]`, `[]`)
	s.fails(50933, "nosuch", `[{$planCacheStats: {}}]`)

	s.gives("admin.1", `[{$currentOp: {allUsers: true, idleSessions: false}}, {$match: {"command.comment": "me"}}, {$project: {op: 1, ns: 1, active: 1}}]`,
		`[{active: true, op: "command", ns: "admin.$cmd.aggregate"}]`, `comment: "me"`)
	s.fails(73, "1", `[{$currentOp: {}}]`)
	s.fails(40415, "admin.1", `[{$currentOp: {nosuch: true}}]`)

	lsid := `lsid: {id: {"$binary": {base64: "AAAAAAAAAAAAAAAAAAAAAA==", subType: "04"}}}`
	s.gives("1", `[{$listLocalSessions: {allUsers: true}}, {$project: {_id: 0, id: {$type: "$_id.id"}, u: {$type: "$lastUse"}}}]`, `[{id: "binData", u: "date"}]`, lsid)
	s.gives("config.system.sessions", `[{$listSessions: {allUsers: true}}, {$count: "n"}]`, `[{n: 1}]`)
	s.fails(73, "c", `[{$listSessions: {}}]`)
	if n := len(s.aggregate("admin.1", `[{$listCatalog: {}}, {$match: {ns: "test.c"}}]`)); n != 1 {
		t.Error(n)
	}
	s.gives("admin.1", `[{$querySettings: {}}]`, `[]`)
}

// Distances sort in descending order, as all metadata does, and what the optimiser drops
// may stand before $geoNear, in a view too.
func TestDistanceAsSortKey(t *testing.T) {
	s := newServer(t)
	s.insert("p", `[{_id: 1, l: [0, 0]}, {_id: 2, l: [10, 10]}, {_id: 3, l: [5, 5]}]`)
	s.ok(`{createIndexes: "p", indexes: [{key: {l: "2dsphere"}, name: "l"}]}`)
	s.ok(`{create: "all", viewOn: "p", pipeline: [{$match: {}}, {$skip: 0}]}`)
	s.ok(`{create: "some", viewOn: "p", pipeline: [{$match: {_id: {$gt: 1}}}]}`)
	const near = `{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, distanceField: "d.x"}}`
	const by = `{x: {$meta: "geoNearDistance"}}`
	for _, coll := range []string{"p", "all"} {
		for _, first := range []string{``, `{$match: {}}, `, `{$skip: 0}, `} {
			s.gives(coll, `[`+first+near+`, {$sort: `+by+`}, {$project: {_id: 1}}]`, `[{_id: 2}, {_id: 3}, {_id: 1}]`)
			s.gives(coll, `[`+first+near+`, {$sort: `+by+`}, {$limit: 1}, {$project: {_id: 1}}]`, `[{_id: 2}]`)
		}
		s.gives("p", `[{$match: {_id: 1}}, {$lookup: {from: "`+coll+`", pipeline: [{$match: {}}, `+near+`, {$limit: 2}, {$project: {_id: 1}}], as: "n"}}, {$project: {n: 1}}]`,
			`[{_id: 1, n: [{_id: 1}, {_id: 3}]}]`)
	}
	s.gives("p", `[`+near+`, {$group: {_id: null, t: {$top: {sortBy: `+by+`, output: "$_id"}}}}]`, `[{_id: null, t: 2}]`)
	s.gives("p", `[`+near+`, {$setWindowFields: {sortBy: `+by+`, output: {r: {$documentNumber: {}}}}}, {$project: {r: 1}}]`,
		`[{_id: 2, r: 1}, {_id: 3, r: 2}, {_id: 1, r: 3}]`)
	s.same("find", batch(s.ok(`{find: "p", filter: {l: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}}}}, sort: `+by+`, projection: {_id: 1}}`)),
		list(`[{_id: 2}, {_id: 3}, {_id: 1}]`))
	s.fails(40603, "some", `[`+near+`]`)
	s.fails(40603, "p", `[{$lookup: {from: "some", pipeline: [`+near+`], as: "n"}}]`)
}

func TestRefusedStages(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1}]`)
	s.fails(31082, "c", `[{$search: {}}]`)
	s.fails(31082, "c", `[{$vectorSearch: {}}]`)
	s.fails(40324, "c", `[{$nosuch: {}}]`)
	s.gives("admin.1", `[{$queryStats: {}}]`, `[]`)
	s.gives("admin.1", `[{$queryStats: {transformIdentifiers: {algorithm: "none"}}}]`, `[]`)
	s.fails(73, "c", `[{$queryStats: {}}]`)
}

func TestSample(t *testing.T) {
	s := newServer(t)
	var all []value.Doc
	for i := range 500 {
		all = append(all, value.NewDoc("_id", value.Int32(int32(i))))
	}
	s.insertDocs("c", all)
	got := s.aggregate("c", `[{$sample: {size: 100}}]`)
	seen := map[int32]bool{}
	inOrder := true
	for i, d := range got {
		seen[d.Lookup("_id").Int32()] = true
		inOrder = inOrder && (i == 0 || got[i-1].Lookup("_id").Int32() < d.Lookup("_id").Int32())
	}
	if len(got) != 100 || len(seen) != 100 || inOrder {
		t.Error(len(got), len(seen), inOrder)
	}
	if n := len(s.aggregate("c", `[{$match: {_id: {$lt: 5}}}, {$sample: {size: 100}}]`)); n != 5 {
		t.Error(n)
	}
	s.gives("c", `[{$sample: {size: 1000}}, {$count: "n"}]`, `[{n: 500}]`)
}

func TestGeoNear(t *testing.T) {
	s := newServer(t)
	// The manual's example.
	s.insert("places", `[
		{_id: 1, name: "Central Park", location: {type: "Point", coordinates: [-73.97, 40.77]}, category: "Parks"},
		{_id: 2, name: "Sara D. Roosevelt Park", location: {type: "Point", coordinates: [-73.9928, 40.7193]}, category: "Parks"},
		{_id: 3, name: "Polo Grounds", location: {type: "Point", coordinates: [-73.9375, 40.8303]}, category: "Stadiums"}]`)
	near := `near: {type: "Point", coordinates: [-73.99279, 40.719296]}`
	s.fails(27, "places", `[{$geoNear: {`+near+`, distanceField: "d"}}]`)
	s.ok(`{createIndexes: "places", indexes: [{key: {location: "2dsphere"}, name: "l"}]}`)
	got := s.aggregate("places", `[{$geoNear: {`+near+`, distanceField: "dist.calculated", maxDistance: 2, query: {category: "Parks"}, includeLocs: "dist.location", spherical: true}}]`)
	if len(got) != 1 {
		t.Fatal(got)
	}
	dist := got[0].Lookup("dist").Doc()
	if d := dist.Lookup("calculated").Double(); d < 0.94 || d > 0.96 {
		t.Error("distance", d)
	}
	if loc := dist.Lookup("location").String(); loc != got[0].Lookup("location").String() {
		t.Error("location", loc)
	}
	s.gives("places", `[{$geoNear: {`+near+`, distanceField: "d"}}, {$project: {far: {$gt: ["$d", 5000]}}}]`,
		`[{_id: 2, far: false}, {_id: 1, far: true}, {_id: 3, far: true}]`)
	s.gives("places", `[{$geoNear: {`+near+`, distanceField: "d", minDistance: 1}}, {$limit: 1}, {$project: {name: 1}}]`, `[{_id: 1, name: "Central Park"}]`)
	s.gives("places", `[{$geoNear: {`+near+`, distanceField: "d", distanceMultiplier: 0.001, maxDistance: 10000}}, {$project: {km: {$trunc: "$d"}}}]`,
		`[{_id: 2, km: Double("0.0")}, {_id: 1, km: Double("5.0")}]`)
	s.gives("places", `[{$geoNear: {near: "$$pt", distanceField: "d", key: "location"}}, {$limit: 1}, {$project: {m: {$type: {$meta: "geoNearDistance"}}, p: {$meta: "geoNearPoint"}}}]`,
		`[{_id: 2, m: "double", p: {type: "Point", coordinates: [-73.9928, 40.7193]}}]`, `let: {pt: {type: "Point", coordinates: [-73.99279, 40.719296]}}`)
	s.fails(40603, "places", `[{$match: {name: "Central Park"}}, {$geoNear: {`+near+`, distanceField: "d"}}]`)
	// Joined: the $geoNear of a $lookup, and a second field to choose.
	s.gives("1", `[{$documents: [{p: {type: "Point", coordinates: [-73.9375, 40.8303]}}]}, {$lookup: {from: "places", let: {p: "$p"}, as: "r",
		pipeline: [{$geoNear: {near: "$$p", distanceField: "d"}}, {$limit: 1}, {$project: {name: 1}}]}}, {$project: {r: 1}}]`, `[{r: [{_id: 3, name: "Polo Grounds"}]}]`)
	s.ok(`{createIndexes: "places", indexes: [{key: {other: "2dsphere"}, name: "o"}]}`)
	s.fails(27, "places", `[{$geoNear: {`+near+`, distanceField: "d"}}]`)
	// Legacy pairs on a plane.
	s.insert("flat", `[{_id: 1, p: [0, 0]}, {_id: 2, p: [3, 4]}, {_id: 3, p: [[6, 8], [1, 0]]}]`)
	s.ok(`{createIndexes: "flat", indexes: [{key: {p: "2d"}, name: "p"}]}`)
	s.gives("flat", `[{$geoNear: {near: [0, 0], distanceField: "d", includeLocs: "l"}}, {$project: {d: 1, l: 1}}]`, `[
		{_id: 1, d: Double("0.0"), l: [0, 0]}, {_id: 3, d: Double("1.0"), l: [1, 0]}, {_id: 2, d: Double("5.0"), l: [3, 4]}]`)
}

func TestTextScore(t *testing.T) {
	s := newServer(t)
	s.insert("articles", `[
		{_id: 1, subject: "coffee", views: 50}, {_id: 2, subject: "Coffee Shopping", views: 5}, {_id: 3, subject: "Baking a cake", views: 90},
		{_id: 4, subject: "baking", views: 100}]`)
	s.fails(27, "articles", `[{$match: {$text: {$search: "coffee"}}}]`)
	s.ok(`{createIndexes: "articles", indexes: [{key: {subject: "text"}, name: "t"}]}`)
	s.gives("articles", `[{$match: {$text: {$search: "coffee"}}}, {$sort: {score: {$meta: "textScore"}}}, {$project: {score: {$meta: "textScore"}}}]`,
		`[{_id: 1, score: Double("1.0")}, {_id: 2, score: Double("0.75")}]`)
	s.gives("articles", `[{$match: {$text: {$search: "cake"}}}, {$group: {_id: null, v: {$sum: "$views"}, s: {$sum: {$meta: "textScore"}}}}]`,
		`[{_id: null, v: 90, s: Double("0.75")}]`)
	s.gives("articles", `[{$match: {$or: [{$text: {$search: "coffee"}}, {_id: 3}]}}, {$project: {s: {$ifNull: [{$meta: "textScore"}, "none"]}}}, {$match: {_id: {$ne: 2}}}, {$sort: {_id: 1}}]`,
		`[{_id: 1, s: Double("1.0")}, {_id: 3, s: "none"}]`)
	s.fails(17313, "articles", `[{$sort: {_id: 1}}, {$match: {$text: {$search: "x"}}}]`)
	s.fails(40218, "articles", `[{$project: {s: {$meta: "textScore"}}}]`)
}

func TestRecordIDs(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: "a", k: 2}, {_id: "b", k: 1}]`)
	s.gives("c", `[{$sort: {k: 1}}, {$project: {r: {$type: {$meta: "recordId"}}}}]`, `[{_id: "b", r: "long"}, {_id: "a", r: "long"}]`)
	reply := s.ok(`{find: "c", sort: {k: 1}, projection: {r: {$meta: "recordId"}}}`)
	if got := batch(reply); len(got) != 2 || got[0].Lookup("r").Kind() != value.KindInt64 {
		t.Error(got)
	}
	s.ok(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k"}]}`)
	got := batch(s.ok(`{find: "c", filter: {k: 2}, projection: {key: {$meta: "indexKey"}}}`))
	if len(got) != 1 || got[0].Lookup("key").String() != "{ k: 2 }" {
		t.Error(got)
	}
}

func TestErrorContext(t *testing.T) {
	s := newServer(t)
	s.insert("c", `[{_id: 1, a: "x"}]`)
	s.says(14, "Executor error during aggregate command on namespace: test.c :: caused by :: $add only supports numeric or date types, not string", "c", `[{$project: {b: {$add: ["$a", 1]}}}]`)
	if text := s.fails(14, "c", `[{$project: {b: {$add: ["x", 1]}}}]`); !strings.HasPrefix(text, "Failed to optimize pipeline :: caused by :: ") {
		t.Error(text)
	}
	reply := s.run(`{find: "c", projection: {b: {$add: ["$a", 1]}}}`)
	if text := reply.Lookup("errmsg").Str(); !strings.HasPrefix(text, "Executor error during find command: test.c :: caused by :: $add only") {
		t.Error(text)
	}
	reply = s.run(`{find: "c", filter: {$expr: {$gt: [{$add: ["$a", 1]}, 1]}}}`)
	if text := reply.Lookup("errmsg").Str(); !strings.HasPrefix(text, "Executor error during find command: test.c :: caused by :: $add only") {
		t.Error(text)
	}
	s.insert("d", `[{_id: 1, a: 1}, {_id: 2, a: "x"}]`)
	reply = s.ok(`{aggregate: "d", pipeline: [{$project: {b: {$add: ["$a", 1]}}}], cursor: {batchSize: 1}}`)
	reply = s.run(`{getMore: {"$numberLong": "%d"}, collection: "d"}`, reply.Lookup("cursor").Doc().Lookup("id").Int64())
	if text := reply.Lookup("errmsg").Str(); !strings.HasPrefix(text, "Executor error during getMore :: caused by :: $add only") {
		t.Error(text)
	}
}

// With a limit no more than the nearest are kept.
func TestGeoNearWithLimit(t *testing.T) {
	s := newServer(t)
	docs := make([]value.Doc, 1000)
	for i := range docs {
		at := value.NewArray(value.Double(float64(i*7919%1000)/100), value.Double(0))
		docs[i] = value.NewDoc("_id", value.Int32(int32(i*7919%1000)), "at", at, "odd", value.Bool(i*7919%2 == 1))
	}
	s.insertDocs("c", docs)
	s.ok(`{createIndexes: "c", indexes: [{key: {at: "2dsphere"}, name: "at"}]}`)
	near := `{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, distanceField: "d", query: {odd: true}}}`
	s.gives("c", `[`+near+`, {$limit: 3}, {$project: {_id: 1}}]`, `[{_id: 1}, {_id: 3}, {_id: 5}]`)
	s.gives("c", `[`+near+`, {$skip: 2}, {$limit: 2}, {$project: {_id: 1}}]`, `[{_id: 5}, {_id: 7}]`)
	s.gives("c", `[`+near+`, {$match: {_id: {$gt: 100}}}, {$limit: 2}, {$project: {_id: 1}}]`, `[{_id: 101}, {_id: 103}]`)
	s.gives("c", `[`+near+`, {$limit: 400}, {$count: "n"}]`, `[{n: 400}]`)
	found := batch(s.ok(`{find: "c", filter: {at: {$nearSphere: {$geometry: {type: "Point", coordinates: [10, 0]}}}}, skip: 1, limit: 2, projection: {_id: 1}}`))
	s.same("find", found, list(`[{_id: 998}, {_id: 997}]`))
}
