package agg

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

// measurement draws a measurement: some fields are missing, null, or of mixed
// types. Its time differs from those in taken, which may be nil.
func measurement(t *rapid.T, start int64, i int, taken map[int64]bool) value.Doc {
	b := value.NewBuilder().Int32("_id", int32(i))
	at := start + int64(rapid.IntRange(0, 4*3600).Draw(t, "second"))*1000 + int64(rapid.IntRange(0, 2).Draw(t, "ms"))
	for taken[at] {
		at++
	}
	if taken != nil {
		taken[at] = true
	}
	b.Date("t", at)
	if m := rapid.SampledFrom([]string{"", `"a"`, `"b"`, `{"k": 1, "s": "x"}`, `{"k": 2, "s": "x"}`, `null`, `[1, 2]`}).Draw(t, "meta"); m != "" {
		b.Append("m", value.MustJSON(`{"v": `+m+`}`).Lookup("v"))
	}
	for _, f := range []string{"a", "b"} {
		switch v := rapid.SampledFrom([]string{"", "1", "2", "3", "4", "-7", "5", "6", `"s"`, `"T"`, "null", `{"x": 1}`, `{"x": 5, "y": "z"}`, "[3, 9]", "true"}).Draw(t, f); {
		case v == "":
		case f == "b" && strings.ContainsAny(v, `n"[{t`): // b holds numbers only, or is missing
		default:
			b.Append(f, value.MustJSON(`{"v": `+v+`}`).Lookup("v"))
		}
	}
	return b.Doc()
}

// series draws a pipeline that buckets may answer. Where measurements share
// their times (ties), each $sort ends in the _id: which of two equal documents
// comes first depends on how they were found, and buckets are found by other
// indexes than documents.
func series(t *rapid.T, start int64, ties bool) (pipeline string, ordered bool) {
	var stages []string
	sortBy := func(patterns ...string) string {
		sort := rapid.SampledFrom(patterns).Draw(t, "sort")
		if ties && !strings.Contains(sort, "_id") {
			sort += `, "_id": ` + rapid.SampledFrom([]string{"1", "-1"}).Draw(t, "last")
		}
		return sort
	}
	at := func() string {
		return fmt.Sprintf(`{"$date": %d}`, start+int64(rapid.IntRange(-100, 15000).Draw(t, "instant"))*1000)
	}
	switch rapid.IntRange(0, 6).Draw(t, "match") {
	case 0:
		stages = append(stages, `{"$match": {"t": {"$gte": `+at()+`}}}`)
	case 1:
		stages = append(stages, `{"$match": {"t": {"$gt": `+at()+`, "$lte": `+at()+`}, "m": "a"}}`)
	case 2:
		stages = append(stages, `{"$match": {"m.k": {"$gte": 1}, "$and": [{"t": {"$lt": `+at()+`}}]}}`)
	case 3:
		stages = append(stages, `{"$match": {"a": {"$gt": 2}}}`)
	case 4:
		stages = append(stages, `{"$match": {"$or": [{"m": "b"}, {"t": {"$gte": `+at()+`}}]}}`)
	}
	id := rapid.SampledFrom([]string{`"$m"`, `"$m.k"`, `null`, `{"m": "$m.s"}`, `{"$toUpper": "$m.s"}`,
		`{"$dateTrunc": {"date": "$t", "unit": "hour"}}`, `{"m": "$m", "h": {"$dateTrunc": {"date": "$t", "unit": "day"}}}`,
		`{"$dateTrunc": {"date": "$t", "unit": "minute", "binSize": 30, "timezone": "+01:30"}}`,
		`{"$dateTrunc": {"date": "$t", "unit": "hour", "timezone": "Europe/Berlin"}}`, `{"$hour": "$t"}`, `"$t"`, `"$a"`}).Draw(t, "id")
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0, 1:
		fields := ""
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			fields += fmt.Sprintf(`, "f%d": %s`, i, rapid.SampledFrom([]string{
				`{"$min": "$b"}`, `{"$max": "$b"}`, `{"$min": "$a"}`, `{"$max": "$a"}`, `{"$max": "$a.x"}`, `{"$min": "$a.x"}`, `{"$count": {}}`, `{"$sum": 1}`,
				`{"$sum": 2.5}`, `{"$max": "$t"}`, `{"$min": "$t"}`, `{"$max": "$m"}`, `{"$min": "$m.k"}`, `{"$sum": "$b"}`, `{"$sum": {"$numberLong": "4"}}`, `{"$max": 7}`,
			}).Draw(t, "field"))
		}
		stages = append(stages, `{"$group": {"_id": `+id+fields+`}}`)
	case 2:
		sort := sortBy(`"t": 1`, `"t": -1`, `"t": 1, "b": -1`, `"t": -1, "_id": 1`)
		stages, ordered = append(stages, `{"$sort": {`+sort+`}}`), true
		if n := rapid.IntRange(0, 12).Draw(t, "limit"); n > 0 {
			stages = append(stages, fmt.Sprintf(`{"$limit": %d}`, n))
		}
		stages = append(stages, `{"$project": {"b": 0}}`)
	case 3:
		op := rapid.SampledFrom([]string{"$top", "$bottom"}).Draw(t, "op")
		sort := sortBy(`"t": 1`, `"t": -1`, `"m": 1, "t": -1`)
		stages = append(stages, fmt.Sprintf(`{"$group": {"_id": %s, "a": {%q: {"sortBy": {%s}, "output": ["$a", "$b"]}}, "id": {%q: {"sortBy": {%s}, "output": "$_id"}}}}`, id, op, sort, op, sort))
	default:
		op := rapid.SampledFrom([]string{"$first", "$last"}).Draw(t, "op")
		sort := sortBy(`"t": 1`, `"t": -1`, `"m": 1, "t": -1`, `"m": -1, "t": 1`)
		stages = append(stages, `{"$sort": {`+sort+`}}`, fmt.Sprintf(`{"$group": {"_id": %s, "a": {%q: "$a"}, "id": {%q: "$_id"}}}`, id, op, op))
	}
	return "[" + strings.Join(stages, ", ") + "]", ordered
}

// Results from the control values of buckets equal the results from single measurements,
// also after deletions and expiry.
func TestSeriesAreAnsweredFromBuckets(t *testing.T) {
	s := newServer(t)
	rapid.Check(t, func(t *rapid.T) {
		s.ok(`{dropDatabase: 1}`)
		start := s.Clock.Now().Truncate(24 * time.Hour).Add(24 * time.Hour).UnixMilli()
		s.Clock.Set(time.UnixMilli(start))
		s.ok(`{create: "ts", timeseries: {timeField: "t", metaField: "m", granularity: "%s"}, expireAfterSeconds: 7200}`,
			rapid.SampledFrom([]string{"seconds", "minutes"}).Draw(t, "granularity"))
		ties, taken := rapid.Bool().Draw(t, "ties"), map[int64]bool{}
		if ties {
			taken = nil
		}
		var docs []value.Doc
		for i := range rapid.IntRange(0, 60).Draw(t, "measurements") {
			docs = append(docs, measurement(t, start, i, taken))
		}
		s.insertDocs("ts", docs)
		if rapid.Bool().Draw(t, "delete") {
			s.ok(`{delete: "ts", deletes: [{q: {b: {$gte: 4}}, limit: 0}]}`)
		}
		s.ok(`admin: {testClock: 1, advanceMillis: {"$numberLong": "%d"}, runDuePasses: true}`, rapid.SampledFrom([]int{0, 4 * 3600_000, 6 * 3600_000}).Draw(t, "advance"))
		s.ok(`{create: "plain"}`)
		s.insertDocs("plain", s.aggregate("ts", `[]`))
		for range 8 {
			pipeline, ordered := series(t, start, ties)
			got, reply := s.tryAggregate("ts", pipeline)
			want, reply2 := s.tryAggregate("plain", pipeline)
			if a, b := reply.Lookup("errmsg").Str(), strings.Replace(reply2.Lookup("errmsg").Str(), " test.plain ", " test.ts ", 1); a != b {
				t.Fatalf("%s\nfrom buckets:\n%s\nfrom documents:\n%s", pipeline, a, b)
			}
			if !ordered {
				sortDocs(got)
				sortDocs(want)
			}
			a, b := lines(canonical(got)), lines(canonical(want))
			if a != b {
				t.Fatalf("%s\nfrom buckets:\n%s\nfrom documents:\n%s", pipeline, a, b)
			}
		}
	})
}

func lines(docs []value.Doc) string {
	var b strings.Builder
	for _, d := range docs {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

// canonical are documents with the order of fields that measurements have.
func canonical(docs []value.Doc) []value.Doc {
	for i, d := range docs {
		if !d.Has("t") {
			continue
		}
		b := value.NewBuilder()
		for _, name := range []string{"_id", "t", "m", "a", "b"} {
			if v, ok := d.Get(name); ok {
				b.Append(name, v)
			}
		}
		docs[i] = b.Doc()
	}
	return docs
}

// fill makes a series of full, compressed buckets: 3 sensors, one measurement
// in every 5 seconds of 12 hours.
func (s *server) fill(coll string) (n int) {
	s.ok(`{create: "%s", timeseries: {timeField: "t", metaField: "m"}}`, coll)
	var docs []value.Doc
	start := time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()
	for i := range 12 * 720 {
		for sensor := range 3 {
			docs = append(docs, value.NewDoc("t", value.DateTime(start+int64(i)*5000), "m", value.Document(value.NewDoc("sensor", value.Int32(int32(sensor)))),
				"x", value.Int32(int32(i*7%1000)), "y", value.String("a reading")))
		}
	}
	s.insertDocs(coll, docs)
	return len(docs)
}

// explainSeries returns the $_internalUnpackBucket stage, and the names of all
// stages.
func (s *server) explainSeries(pipeline string) (unpack value.Doc, names string) {
	for v := range s.ok(`{explain: {aggregate: "ts", pipeline: %s, cursor: {}}, verbosity: "executionStats"}`, pipeline).Lookup("stages").Doc().Values() {
		name, _ := v.Doc().First()
		if names += name; name == "$_internalUnpackBucket" {
			unpack = v.Doc()
		}
	}
	return unpack, names
}

func TestExplainOfSeries(t *testing.T) {
	s := newServer(t)
	all := s.fill("ts")
	const buckets = 3 * 12
	const day = `{$gte: ISODate("2025-12-31T00:00:00Z"), $lt: ISODate("2025-12-31T02:30:00Z")}`
	for _, c := range []struct {
		pipeline, names string
		unpacked        int // buckets, at most
		returned        int // measurements, -1: not said
	}{
		{`[{$count: "n"}]`, "$cursor$_internalUnpackBucket$group$project", 0, 0},
		{`[{$group: {_id: "$m.sensor", lo: {$min: "$x"}, hi: {$max: "$x"}, n: {$sum: 1}, last: {$max: "$t"}}}]`, "$cursor$_internalUnpackBucket$group", 0, 0},
		{`[{$group: {_id: {$dateTrunc: {date: "$t", unit: "day"}}, hi: {$max: "$x"}}}]`, "$cursor$_internalUnpackBucket$group", 0, 0},
		{`[{$match: {"m.sensor": 1}}, {$group: {_id: "$m", hi: {$max: "$x"}}}]`, "$cursor$_internalUnpackBucket$group", 0, 0},
		{`[{$match: {t: ` + day + `}}, {$group: {_id: "$m", hi: {$max: "$x"}}}]`, "$cursor$_internalUnpackBucket$group", 3, -1},
		{`[{$group: {_id: "$m", sum: {$sum: "$x"}}}]`, "$cursor$_internalUnpackBucket$group", buckets, all},
		{`[{$sort: {t: -1}}, {$limit: 5}]`, "$cursor$_internalUnpackBucket$_internalBoundedSort", 6, -1},
		{`[{$sort: {t: 1}}, {$limit: 5}, {$project: {x: 1}}]`, "$cursor$_internalUnpackBucket$_internalBoundedSort$project", 6, -1},
		{`[{$sort: {m: 1, t: -1}}, {$group: {_id: "$m", t: {$first: "$t"}}}]`, "$cursor$_internalUnpackBucket$sort$group", 3, -1},
		{`[{$match: {x: {$gt: 5000}}}]`, "$cursor$_internalUnpackBucket", 0, 0},
		{`[{$group: {_id: "$m", last: {$top: {sortBy: {t: -1}, output: ["$t", "$x"]}}}}]`, "$cursor$_internalUnpackBucket$group", 3, -1},
		{`[{$group: {_id: "$m.sensor", x: {$bottom: {sortBy: {t: 1}, output: "$x"}}, t: {$bottom: {sortBy: {t: 1}, output: "$t"}}}}]`, "$cursor$_internalUnpackBucket$group", 3, -1},
		{`[{$group: {_id: "$m", first: {$top: {sortBy: {t: 1}, output: "$t"}}, last: {$top: {sortBy: {t: -1}, output: "$t"}}}}]`, "$cursor$_internalUnpackBucket$group", buckets, all},
	} {
		unpack, names := s.explainSeries(c.pipeline)
		if names != c.names {
			t.Errorf("%s: stages %s, want %s", c.pipeline, names, c.names)
		}
		if n := int(unpack.Lookup("nBucketsUnpacked").SafeInt64()); n > c.unpacked {
			t.Errorf("%s: %d buckets are unpacked, want %d at most of %d", c.pipeline, n, c.unpacked, buckets)
		}
		if n := int(unpack.Lookup("nReturned").SafeInt64()); c.returned >= 0 && n != c.returned {
			t.Errorf("%s: %d measurements, want %d", c.pipeline, n, c.returned)
		}
	}
	reply := s.ok(`{explain: {aggregate: "ts", pipeline: [{$match: {"m.sensor": 1, t: %s}}, {$project: {x: 1}}], cursor: {}}, verbosity: "queryPlanner"}`, day)
	for path, want := range map[string]string{
		"stages.0.$cursor.queryPlanner.namespace":              `"test.system.buckets.ts"`,
		"stages.1.$_internalUnpackBucket.include":              `["_id", "m", "t", "x"]`,
		"stages.1.$_internalUnpackBucket.timeField":            `"t"`,
		"stages.1.$_internalUnpackBucket.metaField":            `"m"`,
		"stages.1.$_internalUnpackBucket.bucketMaxSpanSeconds": `3600`,
		"stages.1.$_internalUnpackBucket.wholeBucketFilter":    `{control.min.t: {$gte: ISODate("2025-12-31T00:00:00Z")}, control.max.t: {$lte: ISODate("2025-12-31T02:29:59.999Z")}}`,
	} {
		got := value.Document(reply)
		for _, name := range strings.Split(path, ".") {
			got = got.Doc().Lookup(name)
		}
		if want := doc(`{v: ` + strings.ReplaceAll(strings.ReplaceAll(want, "control.min.t:", `"control.min.t":`), "control.max.t:", `"control.max.t":`) + `}`).Lookup("v"); !value.Equal(got, want) {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
