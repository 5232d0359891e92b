package servertest_test

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// indexSentences are the pages of the manual on TTL indexes, on expiring data, on collMod
// and on metrics.
var indexSentences = []sentence{
	{"X4", func(s *scene) {
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(-100)}, {_id: 2, x: d(-5)}]}`)
		s.indexByDriver("c", "x", 10)
		s.sees("1 2", "c")
		s.pass()
		s.sees("2", "c")
	}},
	{"X6", func(s *scene) { // the shorter of the two times
		for coll, seconds := range map[string]string{"longer": "100000", "shorter": "10", "none": ""} {
			if seconds != "" {
				seconds = ", expireAfterSeconds: " + seconds
			}
			s.ok(`{create: %q, timeseries: {timeField: "t", metaField: "m"}`+seconds+`}`, coll)
			s.ok(`{createIndexes: %q, indexes: [{key: {t: 1}, name: "p", expireAfterSeconds: 1000, partialFilterExpression: {m: {$eq: "NYC"}}}]}`, coll)
			s.ok(`{insert: %q, documents: [{_id: 1, t: d(0), m: "NYC"}, {_id: 2, t: d(0), m: "SF"}]}`, coll)
		}
		for _, want := range []struct {
			at                    float64
			longer, shorter, none string
		}{{3609, "1 2", "1 2", "1 2"}, {3610, "1 2", "", "1 2"}, {4599, "1 2", "", "1 2"}, {4600, "2", "", "2"}, {103599, "2", "", "2"}, {103600, "", "", "2"}} {
			s.to(want.at)
			s.pass()
			s.sees(want.longer, "longer")
			s.sees(want.shorter, "shorter")
			s.sees(want.none, "none")
		}
	}},
	{"X9", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "t", bucketMaxSpanSeconds: 1800, bucketRoundingSeconds: 1800}, expireAfterSeconds: 300}`)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(300)}, {_id: 2, t: d(1799.999)}]}`)
		s.to(2099.999) // the bucket reaches to 1800
		s.pass()
		s.sees("1 2", "c")
		s.to(2100)
		s.pass()
		s.sees("", "c")
	}},
	{"X10", func(s *scene) {
		s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1"}]}`)
		s.fails(85, "same name but different options", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`)
		s.fails(85, "a different name and options", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "other", expireAfterSeconds: 10}]}`)
		s.ok(`{collMod: "c", index: {keyPattern: {x: 1}, expireAfterSeconds: 10}}`)
		s.fails(85, "", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1"}]}`)
	}},
	{"X13", func(s *scene) { // a sub-pass of no time visits each index once
		s.admin(`{setParameter: 1, ttlMonitorSubPassTargetSecs: 0}`)
		s.admin(`{setParameter: 1, ttlIndexDeleteTargetDocs: 50}`)
		for _, c := range []string{"a", "b"} {
			s.indexByDriver(c, "x", 0)
			s.ok(`{insert: %q, documents: [`+strings.TrimSuffix(strings.Repeat(`{x: d(0)},`, 120), ",")+`]}`, c)
		}
		is(s, "sub-passes", number(s.pass().Lookup("subPasses")), 3) // 50, 50 and 20 of each
		is(s, "counted", s.status("metrics.ttl.subPasses"), 3)
		is(s, "passes", s.status("metrics.ttl.passes"), 1)
		is(s, "deleted", s.status("metrics.ttl.deletedDocuments"), 240)
	}},
	{"X14", func(s *scene) { // 0 is no limit; so is a delete without batches
		s.admin(`{setParameter: 1, ttlMonitorSubPassTargetSecs: 0}`)
		for i, parameters := range []string{`ttlIndexDeleteTargetDocs: 0, ttlIndexDeleteTargetTimeMS: 0`, `ttlIndexDeleteTargetDocs: 50, ttlMonitorBatchDeletes: false`} {
			for p := range strings.SplitSeq(parameters, ", ") {
				s.admin(`{setParameter: 1, ` + p + `}`)
			}
			s.indexByDriver(fmt.Sprint(i), "x", 0)
			s.ok(`{insert: "%d", documents: [`+strings.TrimSuffix(strings.Repeat(`{x: d(0)},`, 120), ",")+`]}`, i)
			is(s, "sub-passes", number(s.pass().Lookup("subPasses")), 1)
			is(s, "left", s.count(fmt.Sprint(i)), 0)
		}
	}},
	{"X16", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}, {_id: 2, x: d(100)}, {_id: 3, x: "text"}, {_id: 4}`)
		is(s, "range", len(s.batch(`{find: "c", filter: {x: {$gt: d(50)}}, hint: "x_1"}`)), 1)
		is(s, "equality", len(s.batch(`{find: "c", filter: {x: "text"}, hint: {x: 1}}`)), 1)
		r := s.ok(`{explain: {find: "c", filter: {x: {$gt: d(50)}}}, verbosity: "queryPlanner"}`)
		is(s, "index", r.Lookup("queryPlanner", "winningPlan", "inputStage", "indexName").StringValue(), "x_1")
	}},
	{"X18", func(s *scene) {
		s.ok(`{create: "c", validator: {$jsonSchema: {bsonType: "object", required: ["x"], properties: {x: {bsonType: "date"}}}}}`)
		s.indexByDriver("c", "x", 10)
		s.fails(121, "", `{insert: "c", documents: [{_id: 1, x: "2026"}]}`)
		s.fails(121, "", `{insert: "c", documents: [{_id: 1}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0)}]}`)
		s.to(10)
		s.pass()
		s.sees("", "c")
	}},
	{"E5", func(s *scene) {
		for _, nan := range []string{`{"$numberDouble": "NaN"}`, `{"$numberDecimal": "NaN"}`} {
			s.fails(67, "option must not be NaN", `{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: `+nan+`}]}`)
			s.ok(`{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: ` + nan + `}`)
			is(s, "NaN", number(s.listed("clustered").Lookup("options", "expireAfterSeconds")), 0)
			s.ok(`{drop: "clustered"}`)
		}
		s.indexByDriver("c", "x", 10)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0)}]}`)
		s.fails(72, "must not be NaN", `{collMod: "c", index: {name: "x_1", expireAfterSeconds: {"$numberDouble": "NaN"}}}`)
		is(s, "expireAfterSeconds", number(s.index("c", "x_1").Lookup("expireAfterSeconds")), 10)
	}},
	{"E6", func(s *scene) { // what NaN is repaired to expires nothing that is dated after 1970
		s.indexByDriver("c", "x", 2147483647)
		s.ok(`{insert: "c", documents: [{_id: 1, x: d(0)}]}`)
		s.to(2147483646)
		s.pass()
		s.sees("1", "c")
		r := s.ok(`{collMod: "c", index: {keyPattern: {x: 1}, expireAfterSeconds: 3600}}`)
		is(s, "old", ejson(r.Lookup("expireAfterSeconds_old")), `{"$numberLong":"2147483647"}`)
		s.pass()
		s.sees("", "c")
	}},
	{"M2", func(s *scene) {
		s.expiring(100, `{_id: 1, x: d(0)}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {y: 1}, name: "y_1"}]}`)
		used := func(name string) int64 {
			return number(s.first(`{aggregate: "c", pipeline: [{$indexStats: {}}, {$match: {name: %q}}], cursor: {}}`, name).Lookup("accesses", "ops"))
		}
		s.ok(`{find: "c", filter: {x: d(0)}, hint: "x_1"}`)
		s.ok(`{find: "c", filter: {y: 1}, hint: "y_1"}`)
		is(s, "before", used("x_1"), 1)
		s.ok(`{collMod: "c", index: {name: "x_1", expireAfterSeconds: 200}}`)
		is(s, "after", used("x_1"), 0)
		s.ok(`{collMod: "c", index: {name: "y_1", expireAfterSeconds: 200}}`)
		is(s, "after the conversion", used("y_1"), 0)
	}},
	{"M3", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}`)
		is(s, "changed", ejson(s.ok(`{collMod: "c", index: {name: "x_1", hidden: true}}`).Lookup("hidden_new")), `true`)
		r := s.ok(`{collMod: "c", index: {name: "x_1", hidden: true}}`)
		is(s, "unchanged", r.Lookup("hidden_old").Type, bson.Type(0))
		r = s.ok(`{collMod: "c", index: {name: "x_1", hidden: false, expireAfterSeconds: 20}}`)
		is(s, "both", ejson(r.Lookup("hidden_new"))+ejson(r.Lookup("expireAfterSeconds_new")), `false{"$numberLong":"20"}`)
	}},
	{"M4", func(s *scene) {
		s.expiring(10, `{_id: 1, x: d(0)}, {_id: 2, x: d(0)}`)
		s.to(10)
		s.pass()
		ttl := s.admin(`{serverStatus: 1}`).Lookup("metrics", "ttl").Document()
		for name, want := range map[string]string{"deletedDocuments": "2", "deletedKeys": "4", "passes": "1", "subPasses": "1", "invalidTTLIndexSkips": "0"} {
			is(s, name, ejson(ttl.Lookup(name)), `{"$numberLong":"`+want+`"}`)
		}
	}},
}
