package ddl_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Indexes of time series are hidden and unhidden by their time-series names and keys
// (jstests/core/timeseries/ddl/timeseries_index.js).
func TestHideIndexesOfTimeSeries(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {m: 1}, name: "m_1"}, {key: {v: -1, t: 1}, name: "vt"}]}`)
	for _, index := range []string{`name: "m_1"`, `keyPattern: {m: 1}`, `name: "m_1_t_1"`, `keyPattern: {m: 1, t: 1}`, `keyPattern: {v: -1, t: 1}`} {
		r := h.OK(`{collMod: "s", index: {` + index + `, hidden: true}}`)
		if r.Lookup("hidden_old").Truthy() || !r.Lookup("hidden_new").Truthy() {
			t.Errorf("%s: %s", index, r)
		}
		hidden := 0
		for _, d := range harness.Docs(h.OK(`{listIndexes: "s"}`)) {
			if d.Lookup("hidden").Truthy() {
				hidden++
			}
		}
		if hidden != 1 {
			t.Errorf("%s: %d are listed as hidden", index, hidden)
		}
		h.Fails(2, `{find: "s", hint: `+map[bool]string{true: `"m_1"`, false: `"none"`}[index == `name: "m_1"`]+`}`)
		h.OK(`{collMod: "s", index: {` + index + `, hidden: false}}`)
	}
	h.Fails(27, `{collMod: "s", index: {name: "none", hidden: true}}`)
	h.Fails(27, `{collMod: "s", index: {keyPattern: {x: 1}, hidden: true}}`)
	h.Fails(72, `{collMod: "s", index: {name: "m_1", expireAfterSeconds: 5}}`)
	h.Fails(72, `{collMod: "s", index: {name: "m_1", prepareUnique: true}}`)
}

// Partial indexes on measurements contain every bucket that may have a matching
// measurement (jstests/core/timeseries/ddl/timeseries_index_partial.js).
func TestPartialIndexesOnMeasurements(t *testing.T) {
	values := []string{`0`, `1`, `2.5`, `{"$numberDecimal": "7"}`, `"a"`, `"z"`, `null`, `true`, `{x: 3}`, `{"$date": "2026-01-01T00:00:00Z"}`, ``}
	for i, filter := range []string{
		`{v: {$gt: 1}}`, `{v: {$gte: 2.5}}`, `{v: {$lt: 2}}`, `{v: {$lte: 1}}`, `{v: 1}`, `{v: {$in: [1, "z"]}}`, `{v: {$exists: true}}`, `{v: true}`,
		`{v: {$gt: 0, $lt: 3}}`, `{$or: [{v: "a"}, {m: 2}]}`, `{$and: [{v: {$gt: 1}}, {m: 1}]}`, `{v: {$gte: 1}, m: {$lt: 2}}`,
		`{v: {$gte: {"$date": "2025-01-01T00:00:00Z"}}}`, `{"v.x": {$gt: 2}}`, `{v: {$gt: 1}, t: {$gte: {"$date": "2026-01-01T00:00:00Z"}}}`,
	} {
		h := harness.New(t)
		h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
		for m := 1; m <= 2; m++ {
			for k, v := range values {
				field := ""
				if v != "" {
					field = `, v: ` + v
				}
				h.OK(fmt.Sprintf(`{insert: "s", documents: [{_id: %d, t: {"$date": "2026-01-01T00:00:00Z"}, m: %d%s}]}`, m*100+k, m, field))
			}
		}
		before := h.OK(`{find: "s", filter: ` + filter + `, sort: {_id: 1}}`)
		h.OK(`{createIndexes: "s", indexes: [{key: {v: 1}, name: "p", partialFilterExpression: ` + filter + `}]}`)
		for _, hint := range []string{``, `, hint: "p"`} {
			after := h.OK(`{find: "s", filter: ` + filter + `, sort: {_id: 1}` + hint + `}`)
			if fmt.Sprint(harness.Docs(after)) != fmt.Sprint(harness.Docs(before)) {
				t.Errorf("%d %s%s: %v, before %v", i, filter, hint, harness.Docs(after), harness.Docs(before))
			}
		}
		if names := h.IndexNames("s"); names != "m_1_t_1 p " {
			t.Error(names)
		}
	}
}

// A 2dsphere index can be on a measurement field, and $geoNear can use it.
func TestGeoIndexesOnMeasurements(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	near := `{aggregate: "s", pipeline: [{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, key: "loc", distanceField: "d", query: {m: 1}, maxDistance: 200000}}, {$project: {_id: 1}}], cursor: {}}`
	for i, lon := range []int{1, 0, 2, 1} {
		h.OK(fmt.Sprintf(`{insert: "s", documents: [{_id: %d, t: {"$date": "2026-01-01T00:00:00Z"}, m: %d, loc: {type: "Point", coordinates: [%d, 0.5]}}]}`, i, 1+i/3, lon))
	}
	h.Fails(291, near)
	h.OK(`{createIndexes: "s", indexes: [{key: {loc: "2dsphere"}, name: "loc"}]}`)
	if names := h.IndexNames("s"); names != "m_1_t_1 loc " {
		t.Error(names)
	}
	h.Finds(near, `[{"_id":1},{"_id":0}]`)
	h.Finds(`{find: "s", filter: {loc: {$geoWithin: {$centerSphere: [[0, 0], 0.01]}}}, projection: {_id: 1}}`, `[{"_id":1}]`)
	h.OK(`{insert: "s", documents: [{_id: 9, t: {"$date": "2026-01-01T00:00:01Z"}, m: 1, loc: {type: "Point", coordinates: [0, 0]}}]}`)
	h.Finds(near, `[{"_id":9},{"_id":1},{"_id":0}]`)
	h.Fails(16755, `{insert: "s", documents: [{t: {"$date": "2026-01-01T00:00:01Z"}, m: 1, loc: {type: "Point", coordinates: [500, 500]}}]}`)
	if r := h.Run(`{validate: "s"}`); r.Lookup("ok").Truthy() && !r.Lookup("valid").Truthy() {
		t.Error(r)
	}
	h.OK(`{delete: "s", deletes: [{q: {_id: 1}, limit: 1}]}`)
	h.Finds(near, `[{"_id":9},{"_id":0}]`)
	h.OK(`{dropIndexes: "s", index: {loc: "2dsphere"}}`)
	h.Fails(291, near)
}

// findAndModify can remove a measurement; other uses are refused as in mongod.
func TestFindAndModifyMeasurements(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [{_id: 1, t: {"$date": "2026-01-01T00:00:00Z"}, m: 1, v: 1}, {_id: 2, t: {"$date": "2026-01-01T00:00:00Z"}, m: 1, v: 2}]}`)
	r := h.OK(`{findAndModify: "s", query: {v: 2}, remove: true}`)
	if r.Lookup("value").Doc().Lookup("_id").Int32() != 2 || r.Lookup("lastErrorObject").Doc().Lookup("n").Int32() != 1 {
		t.Error(r)
	}
	r = h.OK(`{findAndModify: "s", query: {v: 1}, remove: true, fields: {v: 1, _id: 0}}`)
	if r.Lookup("value").String() != `{ v: 1 }` {
		t.Error(r)
	}
	if r := h.OK(`{findAndModify: "s", query: {v: 1}, remove: true}`); r.Lookup("value").String() != "null" {
		t.Error(r)
	}
	h.Fails(72, `{findAndModify: "s", query: {v: 1}, sort: {v: 1}, remove: true}`)
	h.Fails(72, `{findAndModify: "s", query: {v: 1}, update: {$set: {v: 2}}}`)
	h.Fails(72, `{findAndModify: "s", query: {m: 1}, update: {$set: {m: 2}}}`)
}

// A measurement of another type than those before opens another bucket.
func TestBucketsCloseWhenTheSchemaChanges(t *testing.T) {
	for docs, buckets := range map[string]int32{
		`{v: 1}, {v: "s"}, {v: 2}`:                      3,
		`{v: 1}, {v: 2.5}, {v: {"$numberLong": "3"}}`:   1,
		`{v: {a: 1}}, {v: {a: 2, b: "x"}}, {v: {b: 1}}`: 2,
		`{v: {a: 1}}, {v: 1}`:                           2,
		`{v: [1, "a"]}, {v: [2, "b", 3]}, {v: ["a"]}`:   2,
		`{v: 1}, {w: "s"}, {}`:                          1,
		`{v: 1}, {v: null}`:                             2,
	} {
		for _, single := range []bool{false, true} {
			h := harness.New(t)
			h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
			var list []string
			for v := range harness.Relaxed(`{d: [` + docs + `]}`).Lookup("d").Doc().Values() {
				d := v.Doc().JSON()
				sep := ","
				if d == "{}" {
					sep = ""
				}
				list = append(list, `{"t": {"$date": "2026-01-01T00:00:00Z"}, "m": 1`+sep+d[1:])
			}
			if single {
				for _, d := range list {
					h.OK(`{insert: "s", documents: [` + d + `]}`)
				}
			} else {
				all := list[0]
				for _, d := range list[1:] {
					all += ", " + d
				}
				h.OK(`{insert: "s", documents: [` + all + `]}`)
			}
			if n := h.OK(`{count: "system.buckets.s"}`).Lookup("n").Int32(); n != buckets {
				t.Errorf("%s (one by one: %v): %d buckets, want %d", docs, single, n, buckets)
			}
			if n := h.OK(`{count: "s"}`).Lookup("n").Int32(); int(n) != len(list) {
				t.Errorf("%s: %d measurements", docs, n)
			}
		}
	}
	// Each is removed at its own expiry time.
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 10}`)
	h.OK(`{insert: "s", documents: [{t: {"$date": "2026-01-01T00:00:00Z"}, v: 1}, {t: {"$date": "2026-01-01T00:01:00Z"}, v: "s"}]}`)
	h.Clock.Advance(3610 * time.Second)
	h.Admin(`{runExpirationPass: 1}`)
	h.Finds(`{find: "s", projection: {v: 1, _id: 0}}`, `[{"v":"s"}]`)
}

// _id is a field of measurements like others: it has no index until one is made, and the
// index of that name is the buckets' own.
func TestIndexOnIDOfMeasurements(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t"}}`)
	h.OK(`{insert: "s", documents: [{_id: 1, t: {"$date": "2026-01-01T00:00:00Z"}}, {_id: 5, t: {"$date": "2026-01-02T00:00:00Z"}}]}`)
	h.Fails(2, `{find: "s", hint: {_id: 1}}`)
	h.Fails(2, `{createIndexes: "s", indexes: [{key: {_id: 1}, name: "_id_"}]}`)
	h.Fails(72, `{createIndexes: "s", indexes: [{key: {_id: 1}, name: "n", unique: true}]}`)
	h.Fails(72, `{createIndexes: "s", indexes: [{key: {_id: 1}, name: "n", expireAfterSeconds: 1}]}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {_id: 1}, name: "by id"}]}`)
	list := harness.Docs(h.OK(`{listIndexes: "s"}`))
	if got := list[len(list)-1].JSON(); got != `{"v":2,"key":{"_id":1},"name":"by id"}` {
		t.Errorf("listed: %s", got)
	}
	h.Finds(`{find: "s", filter: {_id: {$gt: 1}}, hint: {_id: 1}, projection: {_id: 1}}`, `[{"_id":5}]`)
	h.OK(`{dropIndexes: "s", index: {_id: 1}}`)
	h.Fails(2, `{find: "s", hint: {_id: 1}}`)
}
