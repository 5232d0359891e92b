package agg

import "testing"

func TestViews(t *testing.T) {
	s := newServer(t)
	s.insert("students", `[{_id: 1, sID: 22001, name: "Alex", year: 1, score: 4}, {_id: 2, sID: 21001, name: "bernie", year: 2, score: 3},
		{_id: 3, sID: 20010, name: "Chris", year: 3, score: 5}, {_id: 4, sID: 22021, name: "Drew", year: 1, score: 2}]`)
	s.ok(`{create: "firstYears", viewOn: "students", pipeline: [{$match: {year: 1}}]}`)
	s.ok(`{create: "names", viewOn: "firstYears", pipeline: [{$project: {name: 1}}, {$sort: {name: -1}}]}`)
	s.gives("firstYears", `[{$sort: {_id: 1}}, {$project: {sID: 1}}]`, `[{_id: 1, sID: 22001}, {_id: 4, sID: 22021}]`)
	s.gives("names", `[]`, `[{_id: 4, name: "Drew"}, {_id: 1, name: "Alex"}]`)
	s.gives("names", `[{$limit: 1}]`, `[{_id: 4, name: "Drew"}]`)
	s.gives("students", `[{$match: {_id: 1}}, {$lookup: {from: "names", localField: "name", foreignField: "name", as: "n"}}, {$project: {n: 1}}]`, `[{_id: 1, n: [{_id: 1, name: "Alex"}]}]`)
	s.gives("students", `[{$match: {_id: 1}}, {$lookup: {from: "names", pipeline: [{$match: {_id: 4}}], as: "n"}}, {$project: {n: 1}}]`, `[{_id: 1, n: [{_id: 4, name: "Drew"}]}]`)
	s.gives("students", `[{$match: {_id: 1}}, {$graphLookup: {from: "names", startWith: "$name", connectFromField: "x", connectToField: "name", as: "n"}}, {$project: {n: 1}}]`,
		`[{_id: 1, n: [{_id: 1, name: "Alex"}]}]`)
	s.gives("names", `[{$facet: {a: [{$count: "n"}], b: [{$match: {_id: 1}}]}}]`, `[{a: [{n: 2}], b: [{_id: 1, name: "Alex"}]}]`)

	// The other commands.
	if n := s.ok(`{count: "names", query: {_id: 1}}`).Lookup("n"); n.Int32() != 1 {
		t.Error(n)
	}
	if v := s.ok(`{distinct: "firstYears", key: "name"}`).Lookup("values").String(); v != `[ "Alex", "Drew" ]` {
		t.Error(v)
	}
	s.same("find", batch(s.ok(`{find: "names", filter: {name: {$gt: "B"}}, projection: {_id: 0}, sort: {name: 1}}`)), list(`[{name: "Drew"}]`))
	s.same("find", batch(s.ok(`{find: "firstYears", sort: {score: 1}, skip: 1, limit: 1, projection: {name: 1, _id: 0}}`)), list(`[{name: "Alex"}]`))
	// A view over nothing, and one that is gone.
	s.ok(`{create: "onNothing", viewOn: "nosuch", pipeline: [{$match: {a: 1}}]}`)
	s.gives("onNothing", `[]`, `[]`)
	s.gives("onNothing", `[{$unionWith: "names"}, {$count: "n"}]`, `[{n: 2}]`)
}

func TestViewCollation(t *testing.T) {
	s := newServer(t)
	s.insert("places", `[{_id: 1, category: "café"}, {_id: 2, category: "cafe"}, {_id: 3, category: "cafE"}]`)
	s.ok(`{create: "fr", viewOn: "places", pipeline: [{$project: {category: 1}}], collation: {locale: "fr", strength: 1}}`)
	if n := s.ok(`{count: "fr", query: {category: "cafe"}}`).Lookup("n"); n.Int32() != 3 {
		t.Error(n)
	}
	s.gives("fr", `[{$match: {category: "cafe"}}, {$count: "n"}]`, `[{n: 3}]`)
	s.gives("fr", `[{$group: {_id: "$category", n: {$sum: 1}}}, {$project: {_id: 0}}]`, `[{n: 3}]`)
	s.gives("fr", `[{$match: {category: "cafe"}}, {$count: "n"}]`, `[{n: 3}]`, `collation: {locale: "fr", strength: 1}`)
	s.fails(167, "fr", `[{$match: {category: "cafe"}}]`, `collation: {locale: "en"}`)
	if code := s.run(`{find: "fr", filter: {category: "cafe"}, collation: {locale: "en"}}`).Lookup("code"); code.Int32() != 167 {
		t.Error(code)
	}
	if code := s.run(`{count: "fr", collation: {locale: "en"}}`).Lookup("code"); code.Int32() != 167 {
		t.Error(code)
	}
	// A view reads with its own collation, not that of the collection.
	s.ok(`{create: "ci", collation: {locale: "en", strength: 2}}`)
	s.insert("ci", `[{_id: 1, a: "X"}, {_id: 2, a: "x"}]`)
	s.ok(`{create: "simple", viewOn: "ci", pipeline: []}`)
	s.gives("ci", `[{$match: {a: "x"}}, {$count: "n"}]`, `[{n: 2}]`)
	s.gives("simple", `[{$match: {a: "x"}}, {$count: "n"}]`, `[{n: 1}]`)
	s.gives("ci", `[{$match: {a: "x"}}, {$count: "n"}]`, `[{n: 1}]`, `collation: {locale: "simple"}`)
	// Other views of a pipeline must have its collation.
	s.fails(167, "places", `[{$lookup: {from: "fr", localField: "category", foreignField: "category", as: "r"}}]`)
	s.gives("places", `[{$match: {_id: 2}}, {$lookup: {from: "fr", localField: "category", foreignField: "category", as: "r"}}, {$project: {n: {$size: "$r"}}}]`,
		`[{_id: 1, n: 3}, {_id: 2, n: 3}, {_id: 3, n: 3}]`[0:0]+`[{_id: 2, n: 3}]`, `collation: {locale: "fr", strength: 1}`)
}

func TestTimeSeriesPipelines(t *testing.T) {
	s := newServer(t)
	s.ok(`{create: "weather", timeseries: {timeField: "ts", metaField: "m", granularity: "minutes"}}`)
	s.insert("weather", `[
		{_id: 1, ts: ISODate("2021-05-18T00:00:00Z"), m: {sensor: 5578, type: "t"}, temp: 12}, {_id: 2, ts: ISODate("2021-05-18T04:00:00Z"), m: {sensor: 5578, type: "t"}, temp: 11},
		{_id: 3, ts: ISODate("2021-05-18T08:00:00Z"), m: {sensor: 5578, type: "t"}, temp: 11}, {_id: 4, ts: ISODate("2021-05-19T00:00:00Z"), m: {sensor: 5578, type: "t"}, temp: 13},
		{_id: 5, ts: ISODate("2021-05-19T04:00:00Z"), m: {sensor: 1, type: "h"}, temp: 14, extra: "x"}]`)
	s.gives("weather", `[{$match: {ts: {$gte: ISODate("2021-05-18T04:00:00Z"), $lt: ISODate("2021-05-19T00:00:00Z")}}}, {$sort: {ts: 1}}, {$project: {temp: 1}}]`,
		`[{_id: 2, temp: 11}, {_id: 3, temp: 11}]`)
	s.gives("weather", `[{$project: {date: {$dateToParts: {date: "$ts"}}, temp: 1}},
		{$group: {_id: {date: {year: "$date.year", month: "$date.month", day: "$date.day"}}, avgTmp: {$avg: "$temp"}}}, {$sort: {_id: 1}}]`, `[
		{_id: {date: {year: 2021, month: 5, day: 18}}, avgTmp: Double("11.333333333333334")}, {_id: {date: {year: 2021, month: 5, day: 19}}, avgTmp: Double("13.5")}]`)
	s.gives("weather", `[{$group: {_id: "$m.sensor", lo: {$min: "$temp"}, hi: {$max: "$temp"}, n: {$sum: 1}}}, {$sort: {_id: 1}}]`,
		`[{_id: 1, lo: 14, hi: 14, n: 1}, {_id: 5578, lo: 11, hi: 13, n: 4}]`)
	s.gives("weather", `[{$group: {_id: {$dateTrunc: {date: "$ts", unit: "day"}}, n: {$sum: 1}}}, {$sort: {_id: 1}}]`,
		`[{_id: ISODate("2021-05-18T00:00:00Z"), n: 3}, {_id: ISODate("2021-05-19T00:00:00Z"), n: 2}]`)
	s.gives("weather", `[{$match: {"m.sensor": 1, extra: {$exists: true}}}, {$project: {_id: 1}}]`, `[{_id: 5}]`)
	s.gives("weather", `[{$sort: {temp: -1}}, {$limit: 2}, {$project: {temp: 1}}]`, `[{_id: 5, temp: 14}, {_id: 4, temp: 13}]`)
	s.gives("weather", `[{$setWindowFields: {partitionBy: "$m.sensor", sortBy: {ts: 1}, output: {sum: {$sum: "$temp", window: {range: [-4, 0], unit: "hour"}}}}}, {$sort: {_id: 1}}, {$project: {sum: 1}}]`,
		`[{_id: 1, sum: 12}, {_id: 2, sum: 23}, {_id: 3, sum: 22}, {_id: 4, sum: 13}, {_id: 5, sum: 14}]`)
	s.ok(`{createIndexes: "weather", indexes: [{key: {"m.sensor": 1, ts: 1}, name: "mt"}]}`)
	s.gives("weather", `[{$match: {"m.sensor": 1}}, {$count: "n"}]`, `[{n: 1}]`, `hint: {"m.sensor": 1, ts: 1}`)
	s.gives("weather", `[{$match: {"m.sensor": 1}}, {$count: "n"}]`, `[{n: 1}]`, `hint: "mt"`)
	s.insert("sensors", `[{_id: 5578, place: "roof"}]`)
	s.gives("sensors", `[{$lookup: {from: "weather", localField: "_id", foreignField: "m.sensor", as: "w"}}, {$project: {n: {$size: "$w"}}}]`, `[{_id: 5578, n: 4}]`)
	s.gives("sensors", `[{$unionWith: {coll: "weather", pipeline: [{$match: {"m.sensor": 1}}, {$project: {_id: 1}}]}}]`, `[{_id: 5578, place: "roof"}, {_id: 5}]`)
	s.ok(`{create: "roof", viewOn: "weather", pipeline: [{$match: {"m.sensor": 5578}}]}`)
	s.gives("roof", `[{$group: {_id: null, n: {$sum: 1}}}]`, `[{_id: null, n: 4}]`)
	if n := s.ok(`{count: "weather", query: {temp: 11}}`).Lookup("n"); n.Int32() != 2 {
		t.Error(n)
	}
}

// Definitions that are refused for a view.
func TestViewsRefuse(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		code              int32
		message, pipeline string
	}{
		{40324, "Unrecognized pipeline stage name: '$nope'", `[{$nope: 1}]`},
		{73, "Invalid pipeline for view test.v :: caused by :: '$documents' cannot be used in a view definition", `[{$documents: [{a: 1}]}]`},
		{73, "Invalid pipeline for view test.v :: caused by :: '$listLocalSessions' cannot be used in a view definition", `[{$listLocalSessions: {}}]`},
		{167, "Invalid pipeline for view test.v :: caused by :: $changeStream cannot be used in a view definition", `[{$changeStream: {}}]`},
		{167, "Invalid pipeline for view test.v :: caused by :: The aggregation stage $merge in location 0 of the pipeline cannot be used in the view definition of test.v because it writes to disk",
			`[{$merge: "t"}]`},
		{40601, "Invalid pipeline for view test.v :: caused by :: $out can only be the final stage in the pipeline", `[{$out: "t"}, {$match: {}}]`},
		{51047, "Invalid pipeline for view test.v :: caused by :: $out is not allowed within a $lookup's sub-pipeline", `[{$lookup: {from: "a", pipeline: [{$out: "t"}], as: "r"}}]`},
		{15958, "Invalid pipeline for view test.v :: caused by :: the limit must be positive", `[{$limit: 0}]`},
	} {
		reply := s.run(`{create: "v", viewOn: "c", pipeline: %s}`, c.pipeline)
		if reply.Lookup("code").Int32() != c.code || reply.Lookup("errmsg").Str() != c.message {
			t.Errorf("%s\nsays %s\nwant %d %s", c.pipeline, reply, c.code, c.message)
		}
	}
}
