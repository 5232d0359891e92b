package servertest_test

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// seriesSentences are the pages of the manual on automatic removal, bucketing parameters and
// limitations of time series.
var seriesSentences = []sentence{
	{"S3", func(s *scene) {
		s.ok(aSeries)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(0), m: 1}]}`)
		expires := func() string { return ejson(s.listed("c").Lookup("options", "expireAfterSeconds")) }
		for v, want := range map[string]string{`7.9`: "7", `{"$numberDecimal": "604801"}`: "604801", `0`: "0", `{"$numberLong": "86400"}`: "86400"} {
			s.ok(`{collMod: "c", expireAfterSeconds: ` + v + `}`)
			is(s, v, expires(), `{"$numberLong":"`+want+`"}`)
		}
		s.fails(72, "cannot be less than 0", `{collMod: "c", expireAfterSeconds: -1}`)
		s.fails(14, "", `{collMod: "c", expireAfterSeconds: null}`)
		s.ok(`{collMod: "c", expireAfterSeconds: "off"}`)
		is(s, "off", expires(), "missing")
		s.to(1e6)
		s.pass()
		s.sees("1", "c")
	}},
	{"S4", func(s *scene) {
		granularities := []struct {
			name           string
			span, rounding int
		}{{"seconds", 3600, 60}, {"minutes", 86400, 3600}, {"hours", 2592000, 86400}}
		for _, g := range granularities {
			s.ok(`{create: %q, timeseries: {timeField: "t", granularity: %q}, expireAfterSeconds: 100}`, g.name, g.name)
			// The first measurement's bucket begins at T0; the second is in it, and the third is not.
			s.ok(`{insert: %q, documents: [{_id: 1, t: d(%d)}, {_id: 2, t: d(%d.999)}, {_id: 3, t: d(%d)}]}`, g.name, g.rounding-1, g.span-1, g.span)
			is(s, g.name+": span", number(s.listed(g.name).Lookup("options", "timeseries", "bucketMaxSpanSeconds")), int64(g.span))
			is(s, g.name+": buckets", s.count("system.buckets."+g.name), 2)
			min := s.first(`{find: "system.buckets.%s", sort: {_id: 1}}`, g.name).Lookup("control", "min", "t").Time().UTC()
			is(s, g.name+": minimum", min, at(0))
		}
		for _, g := range granularities {
			s.to(float64(g.span) + 99.999)
			s.pass()
			s.sees("1 2 3", g.name)
			s.to(float64(g.span) + 100)
			s.pass()
			s.sees("3", g.name)
		}
	}},
	{"S5", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "t", metaField: "m", bucketMaxSpanSeconds: 14400, bucketRoundingSeconds: 14400}}`)
		s.ok(`{insert: "c", documents: [{t: {"$date": "2023-03-27T16:24:35Z"}, m: "a"}, {t: {"$date": "2023-03-27T19:59:59.999Z"}, m: "a"}, {t: {"$date": "2023-03-27T20:00:00Z"}, m: "a"}, {t: {"$date": "2023-03-27T16:30:00Z"}, m: "b"}]}`)
		var got []string
		for _, b := range s.batch(`{find: "system.buckets.c", sort: {meta: 1, "control.min.t": 1}}`) {
			got = append(got, b.Lookup("meta").StringValue()+" "+b.Lookup("control", "min", "t").Time().UTC().Format("15:04:05"))
		}
		is(s, "buckets", strings.Join(got, ", "), "a 16:00:00, a 20:00:00, b 16:00:00")
		is(s, "listed", ejson(s.listed("c").Lookup("options", "timeseries")), `{"timeField": "t","metaField": "m","bucketMaxSpanSeconds": {"$numberInt":"14400"},"bucketRoundingSeconds": {"$numberInt":"14400"}}`)
		for span, code := range map[string]int{`1`: 0, `31536000`: 0, `0`: 2, `31536001`: 2, `-1`: 2, `"300"`: 14} {
			create := `{create: "d", timeseries: {timeField: "t", bucketMaxSpanSeconds: ` + span + `, bucketRoundingSeconds: ` + span + `}}`
			if code != 0 {
				s.fails(code, "", create)
				continue
			}
			s.ok(create)
			s.ok(`{drop: "d"}`)
		}
		s.fails(72, "", `{create: "d", timeseries: {timeField: "t", granularity: "minutes", bucketMaxSpanSeconds: 300, bucketRoundingSeconds: 300}}`)
		s.fails(72, "must be equal to 'bucketMaxSpanSeconds'", `{create: "d", timeseries: {timeField: "t", bucketMaxSpanSeconds: 300, bucketRoundingSeconds: 60}}`)
	}},
	{"S7", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "t", bucketMaxSpanSeconds: 3600, bucketRoundingSeconds: 3600}}`)
		s.fails(72, "", `{collMod: "c", timeseries: {granularity: "seconds"}}`) // its rounding is 60
		s.fails(72, "", `{collMod: "c", timeseries: {bucketMaxSpanSeconds: 1800, bucketRoundingSeconds: 1800}}`)
		s.fails(72, "", `{collMod: "c", timeseries: {bucketMaxSpanSeconds: 7200}}`)
		s.ok(`{collMod: "c", timeseries: {bucketMaxSpanSeconds: 3600, bucketRoundingSeconds: 3600}}`)
		s.ok(`{collMod: "c", timeseries: {granularity: "minutes"}}`)
		s.fails(72, "Invalid transition for timeseries.granularity", `{collMod: "c", timeseries: {granularity: "seconds"}}`)
		s.ok(`{collMod: "c", timeseries: {granularity: "hours"}}`)
		is(s, "listed", ejson(s.listed("c").Lookup("options", "timeseries")), `{"timeField": "t","granularity": "hours","bucketMaxSpanSeconds": {"$numberInt":"2592000"}}`)
	}},
	{"S9", func(s *scene) {
		s.ok(aSeries)
		s.fails(40415, "collMod.timeseries.timeField", `{collMod: "c", timeseries: {timeField: "x"}}`)
		s.fails(40415, "collMod.timeseries.metaField", `{collMod: "c", timeseries: {metaField: "x"}}`)
	}},
	{"S10", func(s *scene) {
		s.ok(aSeries)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(0), m: 1}]}`)
		s.ok(`{insert: "src", documents: [{_id: 2, t: d(0), m: 2}]}`)
		for _, tt := range []struct {
			code    int
			command string
		}{
			{166, `{aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}}`}, {166, `{reIndex: "c"}`}, {72, `{collMod: "c", validator: {a: 1}}`},
			{72, `{create: "d", timeseries: {timeField: "t"}, validator: {a: 1}}`}, {72, `{create: "d", timeseries: {timeField: "t"}, capped: true, size: 4096}`},
			{166, `{convertToCapped: "c", size: 4096}`}, {166, `{aggregate: "src", pipeline: [{$merge: "c"}], cursor: {}}`}, {72, `{collMod: "src", timeseries: {granularity: "hours"}}`},
		} {
			s.fails(tt.code, "", tt.command)
		}
		s.adminFails(166, "", `{renameCollection: "db.c", to: "db.d"}`)
		s.ok(`{aggregate: "c", pipeline: [{$merge: "copy"}], cursor: {}}`)
		s.ok(`{aggregate: "src", pipeline: [{$out: {db: "db", coll: "c", timeseries: {timeField: "t", metaField: "m"}}}], cursor: {}}`)
		s.sees("1", "copy")
		s.sees("2", "c")
	}},
	{"S11", func(s *scene) {
		s.ok(aSeries)
		for code, specs := range map[int][]string{
			72: {`key: {a: "text"}`, `key: {m: "text"}`, `key: {m: 1}, unique: true`, `key: {a: 1}, sparse: true`},
			67: {`key: {a: "2d"}`},
			0:  {`key: {m: 1}, sparse: true`, `key: {m: "2d"}`, `key: {a: 1}`},
		} {
			for i, spec := range specs {
				create := fmt.Sprintf(`{createIndexes: "c", indexes: [{name: "n%d", %s}]}`, i, spec)
				if code == 0 {
					s.ok(create)
					continue
				}
				s.fails(code, "", create)
			}
		}
		s.fails(171, "", `{insert: "c", documents: [{t: d(0), m: 1, a: [1, 2]}]}`)
	}},
	{"S12", func(s *scene) {
		s.ok(aSeries)
		is(s, "of meta and time", ejson(s.batch(`{listIndexes: "c"}`)[0].Lookup("key")), `{"m": {"$numberInt":"1"},"t": {"$numberInt":"1"}}`)
		is(s, "no other", len(s.batch(`{listIndexes: "c"}`)), 1)
		s.fails(2, "hint provided does not correspond to an existing index", `{find: "c", hint: {_id: 1}}`)
		s.indexByDriver("plain", "_ts", 5)
		s.ok(`{createIndexes: "c", indexes: [{key: {_id: 1}, name: "_id_1"}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(0), m: 1}, {_id: 2, t: d(0), m: 1}]}`)
		is(s, "found", len(s.batch(`{find: "c", filter: {_id: {$gt: 1}}, hint: {_id: 1}}`)), 1)
	}},
	{"S13", func(s *scene) {
		s.ok(aSeries)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(0), m: 1}]}`)
		for _, write := range []string{
			`{insert: "c", documents: [{t: d(0)}]}`, `{delete: "c", deletes: [{q: {m: 1}, limit: 0}]}`, `{update: "c", updates: [{q: {m: 1}, u: {$set: {m: 2}}, multi: true}]}`,
		} {
			s.failed(263, "", write, s.inTransaction(func(run func(string) error) error { return run(write) }))
		}
		if err := s.inTransaction(func(run func(string) error) error { return run(`{find: "c"}`) }); err != nil {
			s.Error(err)
		}
		s.sees("1", "c")
	}},
	{"S15", func(s *scene) {
		s.ok(aSeries)
		c := s.db.Collection("c")
		insert := func(mb float64, field string) error {
			_, err := c.InsertOne(s.Context(), bson.D{{Key: "t", Value: at(0)}, {Key: "m", Value: field}, {Key: field, Value: strings.Repeat("x", int(mb*(1<<20)))}})
			return err
		}
		for _, mb := range []float64{1, 4, 4, 5.2} {
			if err := insert(mb, "a"); err != nil {
				s.Errorf("%v MB: %v", mb, err)
			}
		}
		for _, mb := range []float64{5.4, 8, 15.9} {
			s.failed(10334, "object to insert too large", fmt.Sprint(mb, " MB"), insert(mb, "a"))
		}
		if err := insert(15.5, "m"); err != nil { // meta is there once
			s.Error(err)
		}
		is(s, "measurements", s.count("c"), 5)
		for _, b := range s.batch(`{aggregate: "system.buckets.c", pipeline: [{$project: {n: {$bsonSize: "$$ROOT"}}}], cursor: {}}`) {
			is(s, "a bucket is a document", number(b.Lookup("n")) <= 16<<20, true)
		}
	}},
	{"S17", func(s *scene) {
		s.ok(aSeries)
		s.ok(`{insert: "c", documents: [{_id: 1, t: d(0), m: 1}, {_id: 2, t: d(0), m: 1}, {_id: 3, t: d(0), m: 2}]}`)
		is(s, "buckets", s.count("system.buckets.c"), 2)
		s.ok(`{delete: "c", deletes: [{q: {_id: 1}, limit: 0}]}`)
		is(s, "buckets", s.count("system.buckets.c"), 2)
		s.ok(`{delete: "c", deletes: [{q: {_id: 2}, limit: 0}]}`)
		is(s, "buckets", s.count("system.buckets.c"), 1)
	}},
	{"S19", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "t"}, expireAfterSeconds: 100, storageEngine: {}, indexOptionDefaults: {}, collation: {locale: "fr"}, writeConcern: {w: 1}, comment: "x"}`)
		is(s, "collation", s.listed("c").Lookup("options", "collation", "locale").StringValue(), "fr")
	}},
	{"S20", func(s *scene) {
		s.ok(aSeries)
		for _, m := range []string{`1`, `1.0`, `"1"`, `{a: 1, b: 2}`, `{b: 2, a: 1}`, `{a: 1}`, `[1, 2]`, `[2, 1]`, `null`} {
			s.ok(`{insert: "c", documents: [{t: d(0), m: ` + m + `}]}`)
		}
		s.ok(`{insert: "c", documents: [{t: d(0)}]}`)
		// Only documents with the same fields in another order are equal.
		is(s, "buckets", s.count("system.buckets.c"), 9)
		is(s, "without meta", s.count("c"), 10)
		is(s, "type", s.first(`{find: "system.buckets.c", filter: {meta: {$exists: false}}}`).Lookup("meta").Type, bson.Type(0))
	}},
}

// clusteredSentences are the page of the manual on clustered collections.
var clusteredSentences = []sentence{
	{"C3", func(s *scene) {
		s.ok(`{create: "plain"}`)
		s.fails(6243700, "", `{createIndexes: "plain", indexes: [{key: {_id: 1}, name: "x", clustered: true, unique: true}]}`)
		s.fails(72, "only supported on collections clustered by _id", `{collMod: "plain", expireAfterSeconds: 10}`)
		s.fails(40415, "", `{collMod: "plain", clusteredIndex: {key: {_id: 1}, unique: true}}`)
		s.ok(`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 10}`)
		s.ok(`{insert: "plain", documents: [{_id: d(0)}, {_id: d(5)}]}`)
		s.ok(`{aggregate: "plain", pipeline: [{$merge: "c"}], cursor: {}}`)
		s.to(10)
		s.pass()
		is(s, "left", s.count("c"), 1)
		is(s, "left in the other", s.count("plain"), 2)
	}},
	{"C5", func(s *scene) {
		s.fails(6049200, "", `{create: "c", `+clusteredKey+`, capped: true, size: 4096}`)
		s.fails(6127800, "", `{create: "c", `+clusteredKey+`, capped: true, expireAfterSeconds: 10}`)
	}},
	{"C6", func(s *scene) {
		s.ok(`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 100}`)
		s.indexByDriver("c", "x", 10)
		s.ok(`{insert: "c", documents: [{_id: d(0)}, {_id: d(1), x: d(0)}, {_id: "text"}, {_id: 5, x: d(0)}]}`)
		s.to(10)
		s.pass()
		is(s, "by the secondary index", s.count("c"), 2)
		s.to(100)
		s.pass()
		s.sees(`"text"`, "c")
	}},
	{"C8", func(s *scene) {
		s.ok(`{create: "c", clusteredIndex: {key: {_id: 1}, unique: true, name: "orders clustered key"}, expireAfterSeconds: 10}`)
		is(s, "options", ejson(s.listed("c").Lookup("options")),
			`{"clusteredIndex": {"v": {"$numberInt":"2"},"key": {"_id": {"$numberInt":"1"}},"name": "orders clustered key","unique": true},"expireAfterSeconds": {"$numberLong":"10"}}`)
		is(s, "index", s.index("c", "orders clustered key").Lookup("clustered").Boolean(), true)
	}},
	{"C9", func(s *scene) {
		s.ok(`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 100}`)
		s.ok(`{insert: "c", documents: [{_id: d(0)}, {_id: d(60)}, {_id: d(120)}]}`)
		r := s.ok(`{explain: {find: "c", filter: {_id: {$gt: d(30)}}}, verbosity: "executionStats"}`)
		is(s, "examined", number(r.Lookup("executionStats", "totalDocsExamined")), 2)
	}},
	{"C11", func(s *scene) {
		s.ok(`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 0}`)
		s.ok(`{insert: "c", documents: [{_id: d(10)}]}`)
		s.to(9.999)
		s.pass()
		is(s, "before", s.count("c"), 1)
		s.to(10)
		s.pass()
		is(s, "then", s.count("c"), 0)
		s.fails(14, "", `{collMod: "c", expireAfterSeconds: null}`)
	}},
}
