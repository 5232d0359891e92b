package timeseries

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func checkErr(t *testing.T, what string, err error, code mongoerr.Code, fragment string) {
	t.Helper()
	if mongoerr.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), fragment) {
		t.Errorf("%s: %v, want code %d, %q", what, err, code, fragment)
	}
}

func field(json string) value.Value { return value.MustJSON(`{"v":` + json + `}`).Lookup("v") }

func TestParseOptions(t *testing.T) {
	tests := []struct {
		v, want  string
		code     mongoerr.Code
		fragment string
	}{
		{`{"timeField":"t"}`, `{"timeField":"t","granularity":"seconds","bucketMaxSpanSeconds":3600}`, 0, ""},
		{`{"timeField":"t","metaField":"m","granularity":"hours"}`, `{"timeField":"t","metaField":"m","granularity":"hours","bucketMaxSpanSeconds":2592000}`, 0, ""},
		{`{"timeField":"t","granularity":"minutes","bucketMaxSpanSeconds":86400}`, `{"timeField":"t","granularity":"minutes","bucketMaxSpanSeconds":86400}`, 0, ""},
		{`{"timeField":"t","bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200}`, `{"timeField":"t","bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200}`, 0, ""},
		{`{"timeField":"t","bucketMaxSpanSeconds":31536000,"bucketRoundingSeconds":31536000}`, `{"timeField":"t","bucketMaxSpanSeconds":31536000,"bucketRoundingSeconds":31536000}`, 0, ""},
		{`"t"`, "", 14, ""},
		{`{"timeField":1}`, "", 14, ""},
		{`{"timeField":"t","metaField":1}`, "", 14, ""},
		{`{}`, "", 40414, "timeField"},
		{`{"timeField":"t","other":1}`, "", 40415, "other"},
		{`{"timeField":"a.b"}`, "", 72, "must be a top-level field"},
		{`{"timeField":"t","metaField":"a.b"}`, "", 72, "must be a top-level field"},
		{`{"timeField":"t\u0000"}`, "", 2, ""},
		{`{"timeField":"t","metaField":"_id"}`, "", 72, ""},
		{`{"timeField":"t","metaField":"t"}`, "", 72, ""},
		{`{"timeField":"t","granularity":"days"}`, "", 2, "Enumeration value 'days'"},
		{`{"timeField":"t","bucketMaxSpanSeconds":0,"bucketRoundingSeconds":0}`, "", 2, ""},
		{`{"timeField":"t","bucketMaxSpanSeconds":31536001,"bucketRoundingSeconds":31536001}`, "", 2, ""},
		{`{"timeField":"t","bucketRoundingSeconds":4000}`, "", 72, "must be equal to 'bucketMaxSpanSeconds'"},
		{`{"timeField":"t","bucketMaxSpanSeconds":4000}`, "", 72, "must be equal to 'bucketMaxSpanSeconds'"},
		{`{"timeField":"t","bucketMaxSpanSeconds":4000,"bucketRoundingSeconds":400}`, "", 72, "must be equal to 'bucketMaxSpanSeconds'"},
		{`{"timeField":"t","granularity":"seconds","bucketMaxSpanSeconds":3601}`, "", 72, "default of 3600"},
		{`{"timeField":"t","granularity":"seconds","bucketMaxSpanSeconds":3600,"bucketRoundingSeconds":60}`, "", 72, "bucketRoundingSeconds"},
	}
	for _, tt := range tests {
		o, err := ParseOptions(field(tt.v))
		checkErr(t, tt.v, err, tt.code, tt.fragment)
		if err != nil {
			continue
		}
		if o.Doc().JSON() != tt.want {
			t.Errorf("%s: %s", tt.v, o.Doc().JSON())
		}
		if back := LoadOptions(value.Document(o.Doc())); *back != *o {
			t.Errorf("%s is read back as %+v", tt.v, back)
		}
	}
	if LoadOptions(value.Value{}) != nil {
		t.Error("options out of nothing")
	}
}

func TestCollMod(t *testing.T) {
	tests := []struct {
		old, v, want string
		code         mongoerr.Code
		fragment     string
	}{
		{`"granularity":"seconds"`, `{}`, `seconds 3600 60`, 0, ""},
		{`"granularity":"seconds"`, `{"granularity":"seconds"}`, `seconds 3600 60`, 0, ""},
		{`"granularity":"seconds"`, `{"granularity":"minutes"}`, `minutes 86400 3600`, 0, ""},
		{`"granularity":"seconds"`, `{"granularity":"hours"}`, `hours 2592000 86400`, 0, ""},
		{`"granularity":"minutes"`, `{"granularity":"hours"}`, `hours 2592000 86400`, 0, ""},
		{`"granularity":"minutes"`, `{"granularity":"seconds"}`, "", 72, "Invalid transition for timeseries.granularity"},
		{`"granularity":"hours"`, `{"granularity":"minutes"}`, "", 72, "Invalid transition for timeseries.granularity"},
		{`"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200`, `{"granularity":"minutes"}`, `minutes 86400 3600`, 0, ""},
		{`"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200`, `{"granularity":"seconds"}`, "", 72, ""},
		{`"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200`, `{"bucketMaxSpanSeconds":300,"bucketRoundingSeconds":300}`, ` 300 300`, 0, ""},
		{`"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200`, `{"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200}`, ` 200 200`, 0, ""},
		{`"bucketMaxSpanSeconds":200,"bucketRoundingSeconds":200`, `{"bucketMaxSpanSeconds":100,"bucketRoundingSeconds":100}`, "", 72, ""},
		{`"granularity":"seconds"`, `{"bucketMaxSpanSeconds":3600,"bucketRoundingSeconds":3600}`, ` 3600 3600`, 0, ""},
		{`"granularity":"seconds"`, `{"bucketMaxSpanSeconds":7200}`, "", 72, ""},
		{`"granularity":"seconds"`, `{"bucketRoundingSeconds":7200}`, "", 72, ""},
		{`"granularity":"seconds"`, `{"bucketMaxSpanSeconds":7200,"bucketRoundingSeconds":7201}`, "", 72, "must be equal"},
		{`"granularity":"seconds"`, `{"bucketMaxSpanSeconds":100,"bucketRoundingSeconds":100}`, "", 72, ""},
		{`"granularity":"seconds"`, `{"timeField":"x"}`, "", 40415, ""},
		{`"granularity":"seconds"`, `{"granularity":"days"}`, "", 2, ""},
		{`"granularity":"seconds"`, `5`, "", 14, ""},
	}
	for _, tt := range tests {
		old, err := ParseOptions(field(`{"timeField":"t",` + tt.old + `}`))
		if err != nil {
			t.Fatal(err)
		}
		o, err := old.CollMod(field(tt.v))
		checkErr(t, tt.old+" "+tt.v, err, tt.code, tt.fragment)
		if err == nil {
			got := o.Granularity + " " + value.Int(o.MaxSpan).String() + " " + value.Int(o.Rounding).String()
			if got != tt.want {
				t.Errorf("%s %s: %s, want %s", tt.old, tt.v, got, tt.want)
			}
		}
	}
}

func TestCheckCreate(t *testing.T) {
	for _, name := range []string{"capped", "idIndex", "validator", "validationLevel", "validationAction", "viewOn", "pipeline", "clusteredIndex", "documentTtl", "messageQueue"} {
		err := CheckCreate(value.MustJSON(`{"timeseries":{},"` + name + `":true}`))
		checkErr(t, name, err, 72, "'timeseries' is not allowed with '"+name+"'")
	}
	checkErr(t, "none", CheckCreate(value.MustJSON(`{"timeseries":{},"capped":false,"expireAfterSeconds":5,"collation":{}}`)), 0, "")
}

func TestMinimum(t *testing.T) {
	o := &Options{MaxSpan: 3600, Rounding: 60}
	for _, tt := range [][2]int64{{614_134, 600}, {600_000, 600}, {659_999, 600}, {660_000, 660}, {0, 0}, {-1, -60}, {-60_000, -60}, {-60_001, -120}} {
		if got := o.Minimum(tt[0]); got != tt[1] {
			t.Errorf("Minimum(%d) = %d, want %d", tt[0], got, tt[1])
		}
	}
}

func TestBucketOptions(t *testing.T) {
	o, _ := ParseOptions(field(`{"timeField":"t","metaField":"m"}`))
	e := int64(100)
	d := o.BucketOptions(&e)
	if d.Lookup("expireAfterSeconds").Kind() != value.KindInt64 || !d.Lookup("clusteredIndex").Bool() || d.Lookup("timeseries").Doc().JSON() != o.Doc().JSON() {
		t.Error(d)
	}
	schema := d.Lookup("validator").Doc().Lookup("$jsonSchema").Doc()
	want := `{"bsonType":"object","required":["_id","control","data"],"properties":{"_id":{"bsonType":"objectId"},"control":{"bsonType":"object","required":["version","min","max"],"properties":{"version":{"bsonType":"number"},"min":{"bsonType":"object","required":["t"],"properties":{"t":{"bsonType":"date"}}},"max":{"bsonType":"object","required":["t"],"properties":{"t":{"bsonType":"date"}}},"closed":{"bsonType":"bool"},"count":{"bsonType":"number","minimum":1}},"additionalProperties":false},"data":{"bsonType":"object"},"meta":{}},"additionalProperties":false}`
	if schema.JSON() != want {
		t.Errorf("%s\nwant %s", schema.JSON(), want)
	}
	if o.BucketOptions(nil).Has("expireAfterSeconds") {
		t.Error("expireAfterSeconds without expiry")
	}
}

func TestIndexes(t *testing.T) {
	o, _ := ParseOptions(field(`{"timeField":"t","metaField":"m"}`))
	tests := []struct {
		spec, key string
		partial   string
		code      mongoerr.Code
		fragment  string
	}{
		{`{"key":{"m":1,"t":1}}`, `{"meta":1,"control.min.t":1,"control.max.t":1}`, "", 0, ""},
		{`{"key":{"m.x":1,"t":-1}}`, `{"meta.x":1,"control.max.t":-1,"control.min.t":-1}`, "", 0, ""},
		{`{"key":{"a":1}}`, `{"control.min.a":1,"control.max.a":1}`, "", 0, ""},
		{`{"key":{"a.b":-1}}`, `{"control.max.a.b":-1,"control.min.a.b":-1}`, "", 0, ""},
		{`{"key":{"loc":"2dsphere"}}`, `{"data.loc":"2dsphere"}`, "", 0, ""},
		{`{"key":{"m":1,"loc":"2dsphere"}}`, `{"meta":1,"data.loc":"2dsphere"}`, "", 0, ""},
		{`{"key":{"t":"2dsphere"}}`, "", "", 67, "Indexes on the time field must be ascending or descending"},
		{`{"key":{"m.loc":"2dsphere"}}`, `{"meta.loc":"2dsphere"}`, "", 0, ""},
		{`{"key":{"m":"hashed"}}`, `{"meta":"hashed"}`, "", 0, ""},
		{`{"key":{"m.$**":1}}`, `{"meta.$**":1}`, "", 0, ""},
		{`{"key":{"mx":1}}`, `{"control.min.mx":1,"control.max.mx":1}`, "", 0, ""},
		{`{"key":{"t":"hashed"}}`, "", "", 67, "Indexes on the time field must be ascending or descending"},
		{`{"key":{"a":"hashed"}}`, "", "", 67, "Indexes on measurement fields must be ascending or descending"},
		{`{"key":{"$**":1}}`, "", "", 7246201, ""},
		{`{"key":{"v.$**":1}}`, "", "", 7246201, ""},
		{`{"key":{"m":"text"}}`, "", "", 72, "Text indexes are not supported"},
		{`{"key":{"m":1},"unique":true}`, "", "", 72, "Unique indexes are not supported"},
		{`{"key":{"a":1},"sparse":true}`, "", "", 72, "Sparse indexes are not supported on time-series measurements"},
		{`{"key":{"m":1,"t":1},"sparse":true}`, `{"meta":1,"control.min.t":1,"control.max.t":1}`, "", 0, ""},
		{`{"key":{"t":1},"expireAfterSeconds":1,"partialFilterExpression":{"m":{"$gt":5}}}`, `{"control.min.t":1}`, `{"meta":{"$gt":5}}`, 0, ""},
		{`{"key":{"t":-1},"expireAfterSeconds":1,"partialFilterExpression":{"$and":[{"m.x":1},{"m.y":{"$in":[1,2]}}]}}`, `{"control.min.t":-1}`, `{"meta.x":1,"meta.y":{"$in":[1,2]}}`, 0, ""},
		{`{"key":{"t":1},"expireAfterSeconds":1}`, "", "", 72, "require a partialFilterExpression on the metaField"},
		{`{"key":{"t":1},"expireAfterSeconds":1,"partialFilterExpression":{"t":{"$gt":{"$date":"2026-01-01T00:00:00Z"}}}}`, "", "", 72, "require a partialFilterExpression on the metaField"},
		{`{"key":{"m":1},"expireAfterSeconds":1,"partialFilterExpression":{"m":{"$gt":5}}}`, "", "", 72, "TTL indexes on non-time fields are not supported on time-series collections"},
		{`{"key":{"a":1},"expireAfterSeconds":1,"partialFilterExpression":{"m":{"$gt":5}}}`, "", "", 72, "TTL indexes on non-time fields"},
		{`{"key":{"t":1,"m":1},"expireAfterSeconds":1,"partialFilterExpression":{"m":{"$gt":5}}}`, "", "", 67, "TTL indexes are single-field indexes"},
		{`{"key":{"t":1},"partialFilterExpression":{"m":1},"collation":{"locale":"de"}}`, "", "", 85, ""},
		{`{"key":{"t":1},"expireAfterSeconds":1,"partialFilterExpression":{"v":1}}`, "", "", 72, "TTL indexes on time-series collections require a partialFilterExpression on the metaField"},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$gt":1}}}`, `{"control.min.a":1,"control.max.a":1}`, "", 0, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$in":[1,"x"]},"b":{"$lte":5,"$gte":2}}}`, `{"control.min.a":1,"control.max.a":1}`, "", 0, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"$or":[{"a":3},{"m":{"$gt":5}},{"$and":[{"b":{"$exists":true}},{"t":{"$lt":{"$date":"1970-01-01T00:00:05Z"}}}]}]}}`, `{"control.min.a":1,"control.max.a":1}`, "", 0, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"x":1}}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":[1]}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":null}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$in":[1,null]}}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$regex":"x"}}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"a":{"$exists":false}}}`, "", "", 5916301, ""},
		{`{"key":{"a":1},"partialFilterExpression":{"t":{"$gte":{"$date":"1970-01-01T00:00:05Z"}},"m":3}}`, `{"control.min.a":1,"control.max.a":1}`, `{"control.max.t":{"$gte":{"$date":"1970-01-01T00:00:05Z"}},"meta":3}`, 0, ""},
	}
	for _, tt := range tests {
		spec := value.MustJSON(`{"v":2,"name":"x",` + tt.spec[1:])
		got, err := o.BucketIndex(spec)
		checkErr(t, tt.spec, err, tt.code, tt.fragment)
		if err != nil {
			continue
		}
		if key := got.Lookup("key").Doc().JSON(); key != tt.key {
			t.Errorf("%s: key %s", tt.spec, key)
		}
		if p := got.Lookup("partialFilterExpression"); tt.partial != "" && p.Doc().JSON() != tt.partial {
			t.Errorf("%s: partial filter %s", tt.spec, p)
		}
		back, ok := o.UserIndex(got)
		if !ok || string(back) != string(spec) {
			t.Errorf("%s comes back as %s", tt.spec, back)
		}
	}
}

func TestUserIndex(t *testing.T) {
	o, _ := ParseOptions(field(`{"timeField":"t","metaField":"m"}`))
	for _, tt := range []struct{ stored, want string }{
		{`{"v":2,"key":{"meta.a":1,"control.min.t":1,"control.max.t":1},"name":"x"}`, `{"v":2,"key":{"m.a":1,"t":1},"name":"x"}`},
		{`{"v":2,"key":{"control.max.a.b":-1,"control.min.a.b":-1},"name":"x"}`, `{"v":2,"key":{"a.b":-1},"name":"x"}`},
		{`{"v":2,"key":{"control.max.a":1,"control.min.a":1},"name":"x"}`, ""},
		{`{"v":2,"key":{"control.min.a":1},"name":"x"}`, ""},
		{`{"v":2,"key":{"control.min.a":1,"control.max.b":1},"name":"x"}`, ""},
		{`{"v":2,"key":{"data":1},"name":"x"}`, ""},
		{`{"v":2,"key":{"control.min.t":1},"name":"$bucket.min","internal":"bucket-min"}`, ""},
		{`{"v":2,"key":{"_id":1},"name":"_id_"}`, ""},
		{`{"v":2,"key":{"control.min.t":1},"name":"x","hidden":true,"expireAfterSeconds":9,"originalSpec":{"v":2,"key":{"t":1},"name":"x","expireAfterSeconds":5}}`,
			`{"v":2,"key":{"t":1},"name":"x","expireAfterSeconds":9,"hidden":true}`},
	} {
		got, ok := o.UserIndex(value.MustJSON(tt.stored))
		if ok != (tt.want != "") || ok && got.JSON() != tt.want {
			t.Errorf("%s: %s", tt.stored, got)
		}
	}
	if got := o.DefaultIndex().JSON(); got != `{"v":2,"key":{"m":1,"t":1},"name":"m_1_t_1"}` {
		t.Error(got)
	}
	if (&Options{TimeField: "t"}).DefaultIndex() != nil {
		t.Error("a default index without a meta field")
	}
}

func TestTranslateUpdate(t *testing.T) {
	o := &Options{TimeField: "t", MetaField: "m", MaxSpan: 3600, Rounding: 60}
	multi := func(q, u string) UpdateRequest {
		return UpdateRequest{Filter: value.MustJSON(q), Update: field(u), Multi: true}
	}
	tests := []struct {
		r        UpdateRequest
		q, u     string
		fragment string
	}{
		{multi(`{"m.a":1}`, `{"$set":{"m":5},"$unset":{"m.b":1}}`), `{"meta.a":1}`, `{"$set":{"meta":5},"$unset":{"meta.b":1}}`, ""},
		{multi(`{"$or":[{"m":1},{"m.x":2}]}`, `{"$rename":{"m.a":"m.b"}}`), `{"$or":[{"meta":1},{"meta.x":2}]}`, `{"$rename":{"meta.a":"meta.b"}}`, ""},
		{multi(`{}`, `{"$set":{"m":5}}`), `{}`, `{"$set":{"meta":5}}`, ""},
		{UpdateRequest{Update: field(`{"$set":{"m":5}}`)}, "", "", "Cannot perform a non-multi update"},
		{UpdateRequest{Update: field(`{"$set":{"m":5}}`), Multi: true, Upsert: true}, "", "", "Cannot perform an upsert"},
		{multi(`{}`, `{"m":5}`), "", "", "using a replacement document"},
		{multi(`{}`, `[{"$set":{"m":5}}]`), "", "", "using a pipeline update"},
		{multi(`{}`, `{"$set":{"a":5}}`), "", "", "which updates a field that is not the metaField 'm'"},
		{multi(`{}`, `{"$rename":{"m.a":"b"}}`), "", "", "which updates a field that is not the metaField"},
		{multi(`{"a":5}`, `{"$set":{"m":5}}`), "", "", "when querying on a field that is not the metaField 'm'"},
		{multi(`{"t":5}`, `{"$set":{"m":5}}`), "", "", "when querying on a field that is not the metaField 'm'"},
		{multi(`{"$and":[{"$expr":true}]}`, `{"$set":{"m":5}}`), "", "", "Cannot use $expr"},
	}
	for i, tt := range tests {
		q, u, err := o.TranslateUpdate(tt.r)
		code := mongoerr.OK
		if tt.fragment != "" {
			code = mongoerr.InvalidOptions
		}
		checkErr(t, tt.fragment, err, code, tt.fragment)
		if err == nil && (q.JSON() != tt.q || u.JSON() != tt.u) {
			t.Errorf("%d: %s %s", i, q, u)
		}
	}
	_, _, err := (&Options{TimeField: "t"}).TranslateUpdate(multi(`{}`, `{"$set":{"m":5}}`))
	checkErr(t, "no meta field", err, 72, "that does not have a metaField")
	checkErr(t, "findAndModify", CheckFindAndModify(true, false, false), 0, "")
	checkErr(t, "findAndModify", CheckFindAndModify(true, true, false), 72, "Cannot perform a findAndModify with a query and sort on a time-series collection")
	checkErr(t, "findAndModify", CheckFindAndModify(true, false, true), 7308305, "Retryable findAndModify on a timeseries is not supported")
	checkErr(t, "transaction", TransactionError("delete"), 263, "delete")
	checkErr(t, "transaction", TransactionError("insert"), 263, "Cannot insert into a time-series collection in a multi-document transaction")
}
