package servertest_test

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/servertest"
)

// seriesCases are cases 29-43: time series.
var seriesCases = []semanticsCase{
	{29, "bucket minimum", func(s *scene) {
		s.series(5, `{time: d(614.134)}`)
		b := s.first(`{find: "system.buckets.c"}`)
		is(s, "control.min", b.Lookup("control", "min", "time").Time().UTC(), at(600))
		is(s, "_id", b.Lookup("_id").ObjectID().Timestamp().UTC(), at(600))
	}},
	{30, "bucket removed", func(s *scene) {
		s.series(5, `{time: d(614.134)}`)
		s.to(4204.999)
		s.pass()
		is(s, "early", s.count("c"), 1)
		s.to(4205)
		s.pass()
		is(s, "on time", s.count("c"), 0)
		is(s, "deletedDocuments", s.status("metrics.ttl.deletedDocuments"), 1)
	}},
	{31, "bucket span", func(s *scene) {
		s.series(5, `{time: d(614.134)}, {time: d(4199.999)}, {time: d(4200)}`)
		is(s, "buckets", s.count("system.buckets.c"), 2)
		is(s, "second", number(s.ok(`{count: "system.buckets.c", query: {"control.min.time": d(4200)}}`).Lookup("n")), 1)
	}},
	{32, "each bucket by itself", func(s *scene) {
		s.series(5, `{time: d(614.134)}, {time: d(4199.999)}, {time: d(4200)}`)
		s.to(4205)
		s.pass()
		is(s, "left", s.count("c"), 1)
		is(s, "time", s.first(`{find: "c"}`).Lookup("time").Time().UTC(), at(4200))
	}},
	{33, "hours", func(*scene) {}}, // see init
	{34, "full bucket", func(s *scene) {
		docs := strings.Repeat(`, {time: d(1), m: 1}`, 1001)[2:]
		s.ok(`{create: "c", timeseries: {timeField: "time", metaField: "m"}}`)
		s.ok(`{insert: "c", documents: [` + docs + `]}`)
		is(s, "buckets", s.count("system.buckets.c"), 2)
		is(s, "measurements", s.count("c"), 1001)
		got := fmt.Sprint(number(s.ok(`{count: "system.buckets.c", query: {"control.count": 1000}}`).Lookup("n")))
		is(s, "full buckets", got, "1")
	}},
	{35, "extended range", func(s *scene) {
		s.series(5, `{_id: 1, time: {"$date": "1969-12-31T23:59:59Z"}}, {_id: 2, time: {"$date": "2038-01-19T03:15:00Z"}},
			{_id: 3, time: {"$date": {"$numberLong": "4294967340000"}}}, {_id: 4, time: d(-300)}, {_id: 5, time: d(-3900)}`)
		s.pass()
		s.sees("2 3 4", "c")
	}},
	{36, "switched on later", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time"}}`)
		s.ok(`{insert: "c", documents: [{time: d(-3900)}]}`)
		s.ok(`{collMod: "c", expireAfterSeconds: 5}`)
		s.pass()
		is(s, "left", s.count("c"), 0)
	}},
	{37, "granularity raised", func(s *scene) {
		s.series(5, `{time: d(0)}`)
		s.ok(`{collMod: "c", timeseries: {granularity: "minutes"}}`)
		s.to(3605)
		s.pass()
		is(s, "early", s.count("c"), 1)
		s.to(86405)
		s.pass()
		is(s, "on time", s.count("c"), 0)
	}},
	{38, "collMod refused", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time", granularity: "minutes"}}`)
		s.fails(72, "Invalid transition for timeseries.granularity", `{collMod: "c", timeseries: {granularity: "seconds"}}`)
		s.fails(27, "cannot find index", `{collMod: "c", timeseries: {granularity: "hours"}, index: {name: "a", hidden: true}}`)
		s.fails(72, "", `{collMod: "c", timeseries: {bucketMaxSpanSeconds: 7200}}`)
		s.ok(`{collMod: "c", timeseries: {}}`)
		s.ok(`{collMod: "c", timeseries: {granularity: "hours"}, expireAfterSeconds: 5}`)
		s.ok(`{create: "plain"}`)
		s.fails(72, "option only supported on a time-series collection", `{collMod: "plain", timeseries: {granularity: "hours"}}`)
		s.fails(73, "", `{collMod: "system.buckets.c", expireAfterSeconds: 5}`)
	}},
	{39, "create refused", func(s *scene) {
		s.fails(72, "must be a top-level field", `{create: "c", timeseries: {timeField: "a.b"}}`)
		s.fails(72, "", `{create: "c", timeseries: {timeField: "t", metaField: "_id"}}`)
		s.fails(40415, "", `{create: "c", timeseries: {timeField: "t", nonsense: 1}}`)
		s.fails(72, "must be equal to 'bucketMaxSpanSeconds'", `{create: "c", timeseries: {timeField: "t", bucketRoundingSeconds: 4000}}`)
		s.fails(2, "", `{create: "c", timeseries: {timeField: "t", bucketRoundingSeconds: 31536001, bucketMaxSpanSeconds: 31536001}}`)
		s.fails(40414, "", `{create: "c", timeseries: {}}`)
		for option, v := range map[string]string{"documentTtl": "{default: 5}", "messageQueue": "{}", "capped": "true, size: 100", "validator": "{}", "clusteredIndex": "true"} {
			s.fails(72, "'timeseries' is not allowed with '"+option+"'", `{create: "c", timeseries: {timeField: "t"}, `+option+`: `+v+`}`)
		}
		s.fails(72, "", `{create: "c", timeseries: {timeField: "t"}, expireAfterSeconds: -10}`)
		s.fails(14, "", `{create: "c", timeseries: {timeField: "t"}, expireAfterSeconds: ""}`)
	}},
	{40, "catalogue", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time", metaField: "meta", granularity: "hours"}, expireAfterSeconds: 100}`)
		c := s.listed("c")
		is(s, "type", c.Lookup("type").StringValue(), "timeseries")
		is(s, "options", ejson(c.Lookup("options")), `{"expireAfterSeconds": {"$numberLong":"100"},"timeseries": {"timeField": "time","metaField": "meta","granularity": "hours","bucketMaxSpanSeconds": {"$numberInt":"2592000"}}}`)
		is(s, "info", ejson(c.Lookup("info")), `{"readOnly": false}`)
		b := s.listed("system.buckets.c")
		is(s, "buckets", b.Lookup("type").StringValue(), "collection")
		is(s, "clustered", b.Lookup("options", "clusteredIndex").Boolean(), true)
		is(s, "expire", ejson(b.Lookup("options", "expireAfterSeconds")), `{"$numberLong":"100"}`)
		is(s, "required", ejson(b.Lookup("options", "validator", "$jsonSchema", "required")), `["_id","control","data"]`)
		is(s, "uuid", b.Lookup("info", "uuid").Type, bson.TypeBinary)
		is(s, "views", s.listed("system.views").Lookup("type").StringValue(), "collection")
		is(s, "indexes", s.index("c", "meta_1_time_1") != nil, true)
		is(s, "number of indexes", len(s.batch(`{listIndexes: "c"}`)), 1)
	}},
	{41, "inserts", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time"}}`)
		s.fails(2, "'time' must be present and contain a valid BSON UTC datetime value", `{insert: "c", documents: [{time: "x"}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, time: d(0)}, {_id: 1, time: d(1)}]}`)
		s.sees("1 1", "c")
	}},
	{42, "partial TTL index", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time", metaField: "m"}}`)
		s.ok(`{createIndexes: "c", indexes: [{key: {time: 1}, name: "p", expireAfterSeconds: 1, partialFilterExpression: {m: {$gt: 5}}}]}`)
		s.ok(`{insert: "c", documents: [{_id: 1, time: d(-5000), m: 8}, {_id: 2, time: d(-5000), m: 0}]}`)
		s.pass()
		s.sees("2", "c")
	}},
	{43, "TTL indexes refused", func(s *scene) {
		s.ok(`{create: "c", timeseries: {timeField: "time", metaField: "m"}}`)
		s.fails(72, "require a partialFilterExpression on the metaField", `{createIndexes: "c", indexes: [{key: {time: 1}, name: "p", expireAfterSeconds: 1}]}`)
		s.fails(72, "TTL indexes on non-time fields are not supported on time-series collections", `{createIndexes: "c", indexes: [{key: {m: 1}, name: "p", expireAfterSeconds: 1}]}`)
		s.fails(67, "", `{createIndexes: "c", indexes: [{key: {time: 1, m: 1}, name: "p", expireAfterSeconds: 1}]}`)
	}},
}

func init() {
	// Case 33 has a server that starts at another time.
	for i := range seriesCases {
		if seriesCases[i].number == 33 {
			seriesCases[i].play = playHours
		}
	}
}

func playHours(first *scene) {
	date := func(month time.Month, day, hour, ms int) time.Time {
		return time.Date(2021, month, day, hour, 0, 0, ms*1e6, time.UTC)
	}
	s := newScene(first.TB, servertest.At(date(5, 18, 10, 0)))
	s.ok(`{create: "c", timeseries: {timeField: "time", granularity: "hours"}, expireAfterSeconds: 86400}`)
	s.ok(`{insert: "c", documents: [{time: {"$date": "2021-05-18T10:00:00Z"}}]}`)
	for _, step := range []struct {
		at   time.Time
		left int64
	}{{date(5, 19, 10, 0), 1}, {date(6, 18, 0, -1), 1}, {date(6, 18, 0, 0), 0}} {
		s.admin(`{testClock: 1, set: {"$date": {"$numberLong": "%d"}}, runDuePasses: false}`, step.at.UnixMilli())
		s.pass()
		is(s, step.at.String(), s.count("c"), step.left)
	}
}

// series makes a time series "c" that expires, and inserts measurements.
func (s *scene) series(seconds int, docs string) {
	s.Helper()
	s.ok(`{create: "c", timeseries: {timeField: "time"}, expireAfterSeconds: %d}`, seconds)
	s.ok(`{insert: "c", documents: [` + docs + `]}`)
}

// count counts by the command.
func (s *scene) count(coll string) int64 {
	s.Helper()
	return number(s.ok(`{count: %q}`, coll).Lookup("n"))
}
