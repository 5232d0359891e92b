package timeseries

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

func TestPushdownFilter(t *testing.T) {
	o := &Options{TimeField: "t", MetaField: "m", MaxSpan: 10, Rounding: 10}
	date := func(s int) string { return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, s*1000) }
	tests := []struct {
		filter, want string
		metaOnly     bool
	}{
		{`{}`, `{}`, true},
		{`{"m":5}`, `{"meta":5}`, true},
		{`{"m.a":{"$not":{"$gt":5}},"m.b":{"$exists":false}}`, `{"meta.a":{"$not":{"$gt":5}},"meta.b":{"$exists":false}}`, true},
		{`{"$or":[{"m":1},{"m.x":{"$in":[1]}}]}`, `{"$or":[{"meta":1},{"meta.x":{"$in":[1]}}]}`, true},
		{`{"$nor":[{"m":1},{"m.x":2}]}`, `{"$nor":[{"meta":1},{"meta.x":2}]}`, true},
		{`{"$nor":[{"m":1},{"a":2}]}`, `{}`, false},
		{`{"$or":[{"m":1},{"a":2}]}`, `{}`, false},
		{`{"$or":[{"m":1,"a":2},{"m":2}]}`, `{"$or":[{"meta":1},{"meta":2}]}`, false},
		{`{"$and":[{"m.a":1},{"m.a":2}],"$comment":"x"}`, `{"$and":[{"meta.a":1},{"meta.a":2}]}`, true},
		{`{"mx":1,"x.m":2}`, `{}`, false},
		{`{"t":` + date(100) + `}`, `{"control.min.t":{"$gt":` + date(90) + `,"$lte":` + date(100) + `},"control.max.t":{"$gte":` + date(100) + `,"$lt":` + date(110) + `}}`, false},
		{`{"t":{"$gte":` + date(100) + `}}`, `{"control.min.t":{"$gt":` + date(90) + `},"control.max.t":{"$gte":` + date(100) + `}}`, false},
		{`{"t":{"$lte":` + date(100) + `},"m":1}`, `{"control.min.t":{"$lte":` + date(100) + `},"control.max.t":{"$lt":` + date(110) + `},"meta":1}`, false},
		{`{"t":{"$gt":5}}`, `{}`, false},
		{`{"$expr":{"$eq":["$m",1]}}`, `{}`, false},
	}
	for _, tt := range tests {
		p := o.NewPushdown(value.MustJSON(tt.filter), PushdownOptions{})
		if string(p.Filter) != string(value.MustJSON(tt.want)) || p.MetaOnly != tt.metaOnly {
			t.Errorf("%s: %s, meta only: %v; want %s, %v", tt.filter, p.Filter.JSON(), p.MetaOnly, tt.want, tt.metaOnly)
		}
	}
}

func TestMayMatch(t *testing.T) {
	bucket := pack(seconds, 0, value.Value{}, docs(
		`{"t":{"$date":{"$numberLong":"5000"}},"a":5,"s":"k","mixed":1,"d":{"e":2},"l":[1,9]}`,
		`{"t":{"$date":{"$numberLong":"9000"}},"a":9,"s":"p","mixed":"x","d":{"e":4},"l":[5]}`), nil)
	for filter, want := range map[string]bool{
		`{"a":{"$gt":8}}`: true, `{"a":{"$gt":9}}`: false, `{"a":{"$gte":9}}`: true, `{"a":{"$lt":5}}`: false, `{"a":{"$lte":5}}`: true,
		`{"a":7}`: true, `{"a":4}`: false, `{"a":{"$in":[1,2,3]}}`: false, `{"a":{"$in":[1,6]}}`: true, `{"a":{"$in":[1,null]}}`: true,
		`{"a":"x"}`: false, `{"a":null}`: true, `{"a":{"$ne":5}}`: true, `{"missing":5}`: false, `{"missing":{"$exists":false}}`: true,
		`{"s":{"$lt":"k"}}`: false, `{"s":"m"}`: true, `{"mixed":{"$gt":5}}`: true, `{"d.e":{"$gt":4}}`: false, `{"d.e":3}`: true,
		`{"l":{"$gt":100}}`: true, `{"l.0":77}`: true, `{"t":{"$gt":{"$date":{"$numberLong":"9000"}}}}`: false,
		`{"$or":[{"a":1},{"a":2}]}`: false, `{"$or":[{"a":1},{"a":6}]}`: true, `{"$and":[{"a":6},{"s":"z"}]}`: false, `{"$or":[{"a":1},{"m":1}]}`: true,
	} {
		if got := seconds.NewPushdown(value.MustJSON(filter), PushdownOptions{}).MayMatch(bucket); got != want {
			t.Errorf("%s: %v", filter, got)
		}
	}
	if !seconds.NewPushdown(value.MustJSON(`{"s":{"$lt":"a"}}`), PushdownOptions{OtherCollation: true}).MayMatch(bucket) {
		t.Error("strings are compared though the collations differ")
	}
}

func genPredicate(t *rapid.T, depth int) string {
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "logical") == 0 {
		op := rapid.SampledFrom([]string{"$and", "$or", "$nor"}).Draw(t, "op")
		return fmt.Sprintf(`{"%s":[%s,%s]}`, op, genPredicate(t, depth-1), genPredicate(t, depth-1))
	}
	path := rapid.SampledFrom([]string{"t", "m", "m.x", "a", "b", "c.y", "a.0", "a.y"}).Draw(t, "path")
	v := genValue(t)
	if path == "t" && rapid.IntRange(0, 4).Draw(t, "date") > 0 {
		v = value.DateTime(rapid.Int64Range(-1000, 4000_000).Draw(t, "instant"))
	}
	literal := value.NewDoc("v", v).CanonicalJSON()
	literal = literal[5 : len(literal)-1]
	switch rapid.IntRange(0, 3).Draw(t, "form") {
	case 0:
		return fmt.Sprintf(`{%s:%s}`, quote(path), literal)
	case 1:
		return fmt.Sprintf(`{%s:{"$in":[%s]}}`, quote(path), literal)
	case 2:
		return fmt.Sprintf(`{%s:{"$not":{"$gt":%s}}}`, quote(path), literal)
	}
	op := rapid.SampledFrom([]string{"$eq", "$ne", "$lt", "$lte", "$gt", "$gte"}).Draw(t, "compare")
	return fmt.Sprintf(`{%s:{"%s":%s}}`, quote(path), op, literal)
}

// A bucket with a matching measurement is never passed over, and one that
// matches a filter on meta alone matches with all of its measurements.
func TestPushdownIsSound(t *testing.T) {
	env := expr.NewEnv(0)
	rapid.Check(t, func(t *rapid.T) {
		meta := rapid.SampledFrom([]string{"", "1", `{"x":5}`, `[1,2]`, "null"}).Draw(t, "meta")
		var in []value.Doc
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			in = append(in, genDoc(t, rapid.Int64Range(0, 3599_999).Draw(t, "t"), meta))
		}
		var m value.Value
		if meta != "" {
			m = field(meta)
		}
		bucket := pack(seconds, 0, m, in, nil)
		out, err := Unpack(seconds, bucket)
		if err != nil {
			t.Fatal(err)
		}
		filter := value.MustJSON(genPredicate(t, 2))
		matcher, err := match.Compile(filter, match.Options{})
		if err != nil {
			t.Skip(err)
		}
		p := seconds.NewPushdown(filter, PushdownOptions{})
		onBuckets, err := match.Compile(p.Filter, match.Options{})
		if err != nil {
			t.Fatalf("%s: %v", p.Filter, err)
		}
		bucketMatches, err := onBuckets.Match(env, bucket)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range out {
			ok, err := matcher.Match(env, d)
			if err != nil {
				t.Fatal(err)
			}
			if ok && (!bucketMatches || !p.MayMatch(bucket)) {
				t.Fatalf("%s matches %s, but not the bucket: filter %s: %v, control: %v", filter, d, p.Filter, bucketMatches, p.MayMatch(bucket))
			}
			if p.MetaOnly && ok != bucketMatches {
				t.Fatalf("%s is about meta alone, but %s and its bucket differ", filter, d)
			}
		}
	})
}
