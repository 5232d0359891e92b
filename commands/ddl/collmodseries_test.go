package ddl_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The buckets of a time series grow, never shrink (semantics.md 6.5 and
// jstests/core/timeseries/ddl/timeseries_collmod.js).
func TestCollModTimeSeries(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", granularity: "seconds"}, collation: {locale: "fr"}}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	collation := harness.JSONOf(optionsOf(h, "s").Lookup("collation"))
	both := func(command, series, rest string) {
		h.Helper()
		rest += `, collation: ` + collation
		runSteps(h, "s", []step{{command: command, reply: `{}`, options: `{timeseries: ` + series + rest + `}`}})
		bucket := optionsOf(h, "system.buckets.s").Lookup("timeseries")
		if want := harness.Relaxed(series).CanonicalJSON(); bucket.Doc().CanonicalJSON() != want {
			t.Errorf("after %s the buckets have %s, want %s", command, bucket, want)
		}
	}
	const month = "2592000"
	hours := `{timeField: "t", granularity: "hours", bucketMaxSpanSeconds: ` + month + `}`
	both(`{collMod: "s", timeseries: {}}`, `{timeField: "t", granularity: "seconds", bucketMaxSpanSeconds: 3600}`, ``)
	both(`{collMod: "s", timeseriesBucketsMayHaveMixedSchemaData: true}`, `{timeField: "t", granularity: "seconds", bucketMaxSpanSeconds: 3600}`, ``)
	both(`{collMod: "s", expireAfterSeconds: 60}`, `{timeField: "t", granularity: "seconds", bucketMaxSpanSeconds: 3600}`, `, expireAfterSeconds: `+long+`60"}`)
	both(`{collMod: "s", timeseries: {granularity: "minutes"}}`, `{timeField: "t", granularity: "minutes", bucketMaxSpanSeconds: 86400}`, `, expireAfterSeconds: `+long+`60"}`)
	both(`{collMod: "s", expireAfterSeconds: "off"}`, `{timeField: "t", granularity: "minutes", bucketMaxSpanSeconds: 86400}`, ``)
	h.Fails(72, `{collMod: "s", timeseries: {granularity: "seconds"}}`)
	both(`{collMod: "s", timeseries: {granularity: "hours"}}`, hours, ``)
	both(`{collMod: "s", timeseries: {granularity: "hours", bucketMaxSpanSeconds: `+month+`}}`, hours, ``)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "s", timeseries: {bucketMaxSpanSeconds: ` + month + `}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {bucketRoundingSeconds: 86400}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {bucketMaxSpanSeconds: 86400, bucketRoundingSeconds: 86400}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {granularity: "hours", bucketMaxSpanSeconds: ` + month + `, bucketRoundingSeconds: 86400}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {bucketMaxSpanSeconds: 2592001, bucketRoundingSeconds: 86401}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {bucketMaxSpanSeconds: 31536001, bucketRoundingSeconds: 31536001}}`, Code: 2},
		{DB: "test", Command: `{collMod: "s", timeseries: {granularity: "seconds"}, expireAfterSeconds: 10}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseries: {}, expireAfterSeconds: -1}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", timeseriesBucketsMayHaveMixedSchemaData: false}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", index: {keyPattern: {a: 1}, expireAfterSeconds: 100}}`, Code: 72, Text: "TTL indexes are not supported for time-series collections. Please refer to the documentation and use the top-level 'expireAfterSeconds' option instead"},
		{DB: "test", Command: `{collMod: "s", index: {keyPattern: {a: 1}, prepareUnique: true}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", index: {keyPattern: {a: 1}, prepareUnique: false}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", index: {name: "_id_", hidden: true}}`, Code: 27},
		{DB: "test", Command: `{collMod: "s", viewOn: "foo", pipeline: []}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", validator: {required: ["t"]}}`, Code: 72, Text: "option not supported on a time-series collection: validator"},
		{DB: "test", Command: `{collMod: "s", validationLevel: "moderate"}`, Code: 72, Text: "option not supported on a time-series collection: validationLevel"},
		{DB: "test", Command: `{collMod: "s", validationAction: "warn"}`, Code: 72, Text: "option not supported on a time-series collection: validationAction"},
		{DB: "test", Command: `{collMod: "s", changeStreamPreAndPostImages: {enabled: true}}`, Code: 72},
		{DB: "test", Command: `{collMod: "s", documentTtl: {default: 5}}`, Code: 72},
		{DB: "test", Command: `{collMod: "system.buckets.s", timeseries: {granularity: "hours"}}`, Code: 73},
		{DB: "test", Command: `{collMod: "system.buckets.s", validationLevel: "off"}`, Code: 73},
	})
	both(`{collMod: "s", timeseries: {bucketMaxSpanSeconds: 2592001, bucketRoundingSeconds: 2592001}}`, `{timeField: "t", bucketMaxSpanSeconds: 2592001, bucketRoundingSeconds: 2592001}`, ``)
	both(`{collMod: "s", timeseries: {bucketMaxSpanSeconds: 31536000, bucketRoundingSeconds: 31536000}}`, `{timeField: "t", bucketMaxSpanSeconds: 31536000, bucketRoundingSeconds: 31536000}`, ``)
}

// Expired measurements are moved only while the series has onExpire; both of its
// collections have the option.
func TestCollModOnExpire(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", granularity: "seconds"}, expireAfterSeconds: 60}`)
	h.OK(`{create: "plain"}`)
	h.OK(`{createIndexes: "plain", indexes: [{key: {at: 1}, name: "at", expireAfterSeconds: 0}]}`)
	for _, c := range []string{"s", "plain"} {
		h.OK(`{collMod: "` + c + `", onExpire: {deadLetterTo: "dead"}}`)
		if got := harness.JSONOf(optionsOf(h, c).Lookup("onExpire").Doc().Lookup("deadLetterTo")); got != `"dead"` {
			t.Errorf("%s: deadLetterTo is %s", c, got)
		}
	}
	h.OK(`{insert: "plain", documents: [{_id: 1, at: {"$date": "2026-01-01T00:00:00Z"}}]}`)
	h.Pass(1)
	if h.Count("plain") != 0 || h.Count("dead") != 1 {
		t.Errorf("%d left, %d moved", h.Count("plain"), h.Count("dead"))
	}
	h.OK(`{collMod: "plain", onExpire: "off"}`)
	if o := optionsOf(h, "plain"); o.Has("onExpire") {
		t.Errorf("options %s", o)
	}
	h.OK(`{insert: "plain", documents: [{_id: 2, at: {"$date": "2026-01-01T00:00:00Z"}}]}`)
	h.Pass(1)
	if h.Count("plain") != 0 || h.Count("dead") != 1 {
		t.Errorf("%d left, %d moved after the change", h.Count("plain"), h.Count("dead"))
	}
}

// The option timeseries stands beside others, and a failed option leaves all as they were
// (mongod 8.0 to 8.2).
func TestCollModTimeSeriesWithOthers(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t"}, expireAfterSeconds: 5}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {a: 1}, name: "a_1"}]}`)
	minutes := `{timeField: "t", granularity: "minutes", bucketMaxSpanSeconds: 86400}`
	hours := `{timeField: "t", granularity: "hours", bucketMaxSpanSeconds: 2592000}`
	for _, step := range []struct{ arguments, options string }{
		{`timeseries: {granularity: "minutes"}, expireAfterSeconds: 60`, `{expireAfterSeconds: ` + long + `60"}, timeseries: ` + minutes + `}`},
		{`expireAfterSeconds: "off", timeseries: {}`, `{timeseries: ` + minutes + `}`},
		{`timeseries: {granularity: "hours"}, cappedSize: 4096, cappedMax: 1`, `{timeseries: ` + hours + `}`},
		{`timeseries: {}, expireAfterSeconds: 0, onExpire: {deadLetterTo: "grave"}`, `{expireAfterSeconds: ` + long + `0"}, timeseries: ` + hours + `, onExpire: {deadLetterTo: "grave"}}`},
		{`timeseries: {bucketMaxSpanSeconds: 2592001, bucketRoundingSeconds: 2592001}, index: {name: "a_1", hidden: true}, onExpire: {}`, ``},
	} {
		r := h.Run(`{collMod: "s", ` + step.arguments + `}`)
		if step.options == "" {
			if r.Lookup("ok").Truthy() {
				t.Errorf("%s: %s", step.arguments, r)
			}
			step.options = `{expireAfterSeconds: ` + long + `0"}, timeseries: ` + hours + `, onExpire: {deadLetterTo: "grave"}}`
		}
		for _, coll := range []string{"s", "system.buckets.s"} {
			got := optionsOf(h, coll)
			want := harness.Relaxed(step.options)
			for _, name := range []string{"timeseries", "expireAfterSeconds", "onExpire"} {
				if got.Lookup(name).String() != want.Lookup(name).String() {
					t.Errorf("after %s: %s of %s is %s, want %s (%s)", step.arguments, name, coll, got.Lookup(name), want.Lookup(name), r)
				}
			}
		}
	}
}
