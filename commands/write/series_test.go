package write_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// newSeries is a harness with a time series "c" of the measurements {_id: 1…4}: sensors
// a, a, b, b, with v 1, 2, 3, 4. The first two share a bucket, and so do the others.
func newSeries(t *testing.T) *harness.Harness {
	t.Helper()
	h := harness.New(t)
	h.OK(`{"create": "c", "timeseries": {"timeField": "t", "metaField": "m"}}`)
	h.OK(`{"create": "plain", "timeseries": {"timeField": "t"}}`)
	h.OK(`{"insert": "c", "documents": [` + measurement("1", "a", "1") + `, ` + measurement("2", "a", "2") + `, ` + measurement("3", "b", "3") + `, ` + measurement("4", "b", "4") + `]}`)
	return h
}

// measurement returns a measurement at the start time of the clock.
func measurement(id, sensor, v string) string {
	return `{"_id": ` + id + `, "t": {"$date": "2026-01-01T00:00:00Z"}, "m": {"s": "` + sensor + `"}, "v": ` + v + `}`
}

// sensors compares the measurements of a time series, by _id, with a list of
// {_id, s: sensor}.
func sensors(h *harness.Harness, want string) {
	h.Helper()
	h.Finds(`{"aggregate": "c", "pipeline": [{"$sort": {"_id": 1}}, {"$project": {"s": "$m.s"}}], "cursor": {}}`, want)
}

func TestInsertMeasurements(t *testing.T) {
	t.Parallel()
	const noTime = `{"_id": 9, "m": {"s": "a"}}`
	const all = `{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}`
	for _, tt := range []struct{ documents, options, want, left string }{
		{noTime, ``, "ok true n 0, 0: 2", `[` + all + `]`},
		{noTime + `, ` + measurement("5", "c", "5"), ``, "ok true n 0, 0: 2", `[` + all + `]`},
		{measurement("5", "c", "5") + `, ` + noTime + `, ` + measurement("6", "c", "6"), ``, "ok true n 1, 1: 2", `[` + all + `,{"_id":5,"s":"c"}]`},
		{measurement("5", "c", "5") + `, ` + noTime + `, ` + measurement("6", "c", "6"), `, "ordered": false`, "ok true n 2, 1: 2", `[` + all + `,{"_id":5,"s":"c"},{"_id":6,"s":"c"}]`},
		// _id is not unique.
		{measurement("4", "b", "5"), ``, "ok true n 1", `[` + all + `,{"_id":4,"s":"b"}]`},
	} {
		h := newSeries(t)
		reply := h.Run(`{"insert": "c", "documents": [` + tt.documents + `]` + tt.options + `}`)
		if got := outcome(reply); got != tt.want {
			t.Errorf("%s answered %s, want %s", tt.documents, reply, tt.want)
		}
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			if got, want := first.Doc().Lookup("errmsg").Str(), "'t' must be present and contain a valid BSON UTC datetime value"; got != want {
				t.Errorf("%s: said %q, want %q", tt.documents, got, want)
			}
		}
		sensors(h, tt.left)
	}
	h := newSeries(t).AsMember()
	reply := h.Run(harness.InTxnArgs(`{"insert": "c", "documents": [`+measurement("5", "c", "5")+`]}`, 1, true))
	if got, want := reply.Lookup("errmsg").Str(), "Cannot insert into a time-series collection in a multi-document transaction"; got != want || reply.Lookup("code").Int32() != 263 {
		t.Errorf("in a transaction: %s", reply)
	}
}

// A delete removes measurements from their buckets, whatever fields its filter uses.
func TestDeleteMeasurements(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter, limit string
		n             int64
		left          string
	}{
		{`{"m.s": "a"}`, `0`, 2, `[{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`{"m": {"s": "b"}}`, `0`, 2, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"}]`},
		{`{"v": {"$gte": 2}}`, `0`, 3, `[{"_id":1,"s":"a"}]`},
		{`{"m.s": "a", "v": 2}`, `0`, 1, `[{"_id":1,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`{"v": 3}`, `1`, 1, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":4,"s":"b"}]`},
		{`{"v": 30}`, `1`, 0, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`{"m.s": "z"}`, `0`, 0, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`{}`, `0`, 4, `[]`},
		{`{"$where": "this.v == 2 || this.v == 3"}`, `0`, 2, `[{"_id":1,"s":"a"},{"_id":4,"s":"b"}]`},
	} {
		h := newSeries(t)
		reply := h.OK(`{"delete": "c", "deletes": [{"q": ` + tt.filter + `, "limit": ` + tt.limit + `}]}`)
		if n := reply.Lookup("n").SafeInt64(); n != tt.n {
			t.Errorf("delete %s, limit %s: n %d, want %d", tt.filter, tt.limit, n, tt.n)
		}
		sensors(h, tt.left)
	}
	// Deletes one of several matching measurements; the bucket is removed with its last one.
	h := newSeries(t)
	for n := int64(3); n >= 0; n-- {
		h.OK(`{"delete": "c", "deletes": [{"q": {"m.s": {"$in": ["a", "b"]}}, "limit": 1}]}`)
		if got := h.OK(`{"count": "c"}`).Lookup("n").SafeInt64(); got != n {
			t.Errorf("%d measurements are left, want %d", got, n)
		}
	}
	if n := h.Count("system.buckets.c"); n != 0 {
		t.Errorf("%d buckets are left", n)
	}
	h = newSeries(t).AsMember()
	reply := h.Run(harness.InTxnArgs(`{"delete": "c", "deletes": [{"q": {"v": 1}, "limit": 0}]}`, 1, true))
	if text := reply.String(); !strings.Contains(text, "263") {
		t.Errorf("in a transaction: %s", reply)
	}
}

// An update changes the meta field of whole buckets, and nothing else.
func TestUpdateMetaField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		statement   string
		n, modified int64
		left        string
	}{
		{`"q": {"m.s": "a"}, "u": {"$set": {"m.s": "z"}}`, 2, 2, `[{"_id":1,"s":"z"},{"_id":2,"s":"z"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`"q": {"m.s": "a"}, "u": {"$set": {"m.s": "a"}}`, 2, 0, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`"q": {}, "u": {"$set": {"m": {"s": "y"}}}`, 4, 4, `[{"_id":1,"s":"y"},{"_id":2,"s":"y"},{"_id":3,"s":"y"},{"_id":4,"s":"y"}]`},
		{`"q": {"m.s": "b"}, "u": {"$rename": {"m.s": "m.was"}}`, 2, 2, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3},{"_id":4}]`},
		{`"q": {"m.s": "none"}, "u": {"$set": {"m.s": "z"}}`, 0, 0, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
		{`"q": {"m.s": "a"}, "u": {"$set": {"m.s": "z"}}, "hint": {"m.s": 1}`, 2, 2, `[{"_id":1,"s":"z"},{"_id":2,"s":"z"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`},
	} {
		h := newSeries(t)
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"m.s": 1}, "name": "s"}]}`)
		reply := h.OK(`{"update": "c", "updates": [{` + tt.statement + `, "multi": true}]}`)
		if n, modified := reply.Lookup("n").SafeInt64(), reply.Lookup("nModified").SafeInt64(); n != tt.n || modified != tt.modified {
			t.Errorf("%s: n %d, nModified %d, want %d and %d", tt.statement, n, modified, tt.n, tt.modified)
		}
		sensors(h, tt.left)
	}
}

func TestUpdatesOfSeriesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := newSeries(t).AsMember()
	update := func(coll, statement string) string {
		return `{"update": "` + coll + `", "updates": [{` + statement + `}]}`
	}
	const set = `"q": {"m.s": "a"}, "u": {"$set": {"m.s": "z"}}`
	for _, tt := range []struct {
		command string
		code    int32
		text    string // how it begins
	}{
		{update("c", set), 72, "Cannot perform a non-multi update on a time-series collection"},
		{update("c", set+`, "multi": true, "upsert": true`), 72, "Cannot perform an upsert on a time-series collection"},
		{update("plain", set+`, "multi": true`), 72, "Cannot perform an update on a time-series collection that does not have a metaField"},
		{update("c", `"q": {}, "u": [{"$set": {"m.s": "z"}}], "multi": true`), 72, "Cannot perform an update on a time-series collection using a pipeline update"},
		{update("c", `"q": {}, "u": {"$set": {"v": 1}}, "multi": true`), 72, "Cannot perform an update on a time-series collection which updates a field that is not the metaField 'm'"},
		{update("c", `"q": {"v": 1}, "u": {"$set": {"m.s": 1}}, "multi": true`), 72, "Cannot perform an update or delete on a time-series collection when querying on a field that is not the metaField 'm'"},
		{update("c", `"q": {}, "u": {"$inc": {"m.s": 1}}, "multi": true`), 14, ""},
		{`{"findAndModify": "c", "query": {}, "sort": {"v": 1}, "remove": true}`, 72, "Cannot perform a findAndModify with a query and sort on a time-series collection"},
		{harness.RetryArgs(`{"findAndModify": "c", "query": {"v": 1}, "remove": true}`, 1), 7308305, "Retryable findAndModify on a timeseries is not supported"},
	} {
		if text := h.Fails(tt.code, tt.command); !strings.HasPrefix(text, tt.text) {
			t.Errorf("%s\nsaid %s\nwant %s", tt.command, text, tt.text)
		}
	}
	sensors(h, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":3,"s":"b"},{"_id":4,"s":"b"}]`)
	reply := h.OK(`{"findAndModify": "c", "query": {"v": 3}, "remove": true}`)
	if d := reply.Lookup("value").Doc(); d.Lookup("_id").SafeInt64() != 3 {
		t.Errorf("findAndModify removed %s", reply)
	}
	sensors(h, `[{"_id":1,"s":"a"},{"_id":2,"s":"a"},{"_id":4,"s":"b"}]`)
}

// Buckets as mongod dumps them, compressed, hold their measurements here, too. The
// versions 2 (sorted) and 3 (not sorted) differ in nothing else.
func TestInsertBucketsOfMongod(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3"} {
		h := harness.New(t)
		h.OK(`{"create": "w", "timeseries": {"timeField": "t", "metaField": "m"}}`)
		bucket := func(a string) string {
			return `{"insert": "system.buckets.w", "documents": [{"_id": {"$oid": "65a6eba0e6d2e848e08c3752"}, "control": {"version": ` + version + `,
				"min": {"_id": {"$oid": "65a6eba7e6d2e848e08c3750"}, "t": {"$date": "2024-01-16T20:48:00Z"}, "a": 0},
				"max": {"_id": {"$oid": "65a6eba7e6d2e848e08c3751"}, "t": {"$date": "2024-01-16T20:48:39.448Z"}, "a": 1}, "count": 2}, "meta": 0,
				"data": {"t": {"$binary": {"base64": "CQAYhggUjQEAAIAOAAAAAAAAAAA=", "subType": "7"}},
					"a": {"$binary": {"base64": "` + a + `", "subType": "7"}},
					"_id": {"$binary": {"base64": "BwBlpuun5tLoSOCMN1CALgAAAAAAAAAA", "subType": "7"}}}}]}`
		}
		reply := h.Run(bucket("AQAAAAAAAAAAAJAuAAAAAAAAAA=="))
		if first := reply.Lookup("writeErrors").Doc().Index(0).Doc(); first.Lookup("code").Int32() != 22 {
			t.Errorf("a column that is cut: %s", reply)
		}
		h.OK(bucket("AQAAAAAAAAAAAJAuAAAAAAAAAAA="))
		h.Finds(`{"find": "w"}`, `[{"t":{"$date":"2024-01-16T20:48:39.448Z"},"m":0,"a":0.0,"_id":{"$oid":"65a6eba7e6d2e848e08c3750"}},`+
			`{"t":{"$date":"2024-01-16T20:48:39.448Z"},"m":0,"a":1.0,"_id":{"$oid":"65a6eba7e6d2e848e08c3751"}}]`)
		h.Finds(`{"find": "w", "filter": {"a": 1}, "projection": {"_id": 0, "a": 1}}`, `[{"a":1.0}]`)
		h.OK(`{"validate": "w"}`)
	}
}
