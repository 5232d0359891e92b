package pack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// point makes a measurement at so many milliseconds.
func point(id int, series string, ms int64, v string) value.Doc {
	return value.MustJSON(fmt.Sprintf(`{"_id": %d, "t": {"$date": {"$numberLong": "%d"}}, "m": %s, "v": %s}`, id, ms, series, v))
}

const hour = 3_600_000

// twoSeries are two packs of one series and one of another.
func twoSeries() *aggtest.Packs {
	return aggtest.NewPacks(
		[]value.Doc{point(1, `"a"`, 0, "5"), point(2, `"a"`, 1500, "1")},
		[]value.Doc{point(3, `"b"`, 1200, "7"), point(4, `"b"`, 2*hour, "2.5")},
		[]value.Doc{point(5, `"a"`, 3*hour, "9"), point(6, `"a"`, 3*hour+1, "3")},
	)
}

// compile compiles a pipeline on test.c.
func compile(t testing.TB, pipeline string) *agg.Pipeline {
	t.Helper()
	p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drain runs a pipeline on a source.
func drain(p *agg.Pipeline, x *stage.Exec, src stage.Iterator) ([]value.Doc, error) {
	it, err := p.Run(x, src)
	if err != nil {
		return nil, err
	}
	return aggtest.ReadAll(it)
}

// opened counts how often each pack was unpacked.
func opened(packs []*aggtest.Pack) string {
	var b strings.Builder
	for _, p := range packs {
		fmt.Fprint(&b, p.Opened)
	}
	return b.String()
}

// TestPlans: the results of pipelines, and which packs they unpack.
func TestPlans(t *testing.T) {
	const trunc = `{"$dateTrunc": {"date": "$t", "unit": "hour"}}`
	for _, tt := range []struct{ name, pipeline, want, opened string }{
		{"group by the series", `[{"$group": {"_id": "$m", "n": {"$sum": 1}, "c": {"$count": {}}, "lo": {"$min": "$v"}, "hi": {"$max": "$v"}, "last": {"$max": "$t"}}}, {"$sort": {"_id": 1}}]`,
			`[{"_id": "a", "n": 4, "c": 4, "lo": 1, "hi": 9, "last": {"$date": {"$numberLong": "10800001"}}}, {"_id": "b", "n": 2, "c": 2, "lo": 2.5, "hi": 7, "last": {"$date": {"$numberLong": "7200000"}}}]`, "000"},
		{"group of all", `[{"$group": {"_id": null, "s": {"$addToSet": "$m"}, "two": {"$sum": 2}, "f": {"$first": "$m"}, "l": {"$last": "$m"}, "k": {"$min": {"$literal": "x"}}}}, {"$project": {"s": {"$size": "$s"}, "two": 1, "f": 1, "l": 1, "k": 1}}]`,
			`[{"_id": null, "two": 12, "f": "a", "l": "a", "k": "x", "s": 2}]`, "000"},
		{"group by the hour unpacks what spans two", `[{"$group": {"_id": {"h": ` + trunc + `, "m": "$m"}, "n": {"$sum": 1}}}, {"$sort": {"_id.m": 1, "_id.h": 1}}, {"$set": {"_id": "$_id.m"}}]`,
			`[{"_id": "a", "n": 2}, {"_id": "a", "n": 2}, {"_id": "b", "n": 1}, {"_id": "b", "n": 1}]`, "010"},
		{"group by the hour of a fixed zone", `[{"$group": {"_id": {"$dateTrunc": {"date": "$t", "unit": "day", "timezone": "+01:00"}}, "n": {"$count": {}}}}, {"$project": {"_id": 0}}]`, `[{"n": 6}]`, "000"},
		{"group by the hour of a city", `[{"$group": {"_id": {"$dateTrunc": {"date": "$t", "unit": "day", "timezone": "Europe/Berlin"}}, "n": {"$count": {}}}}, {"$project": {"_id": 0}}]`, `[{"n": 6}]`, "111"},
		{"the hour of the day may decrease", `[{"$group": {"_id": {"$hour": "$t"}, "n": {"$count": {}}}}, {"$sort": {"_id": 1}}]`, `[{"_id": 0, "n": 3}, {"_id": 2, "n": 1}, {"_id": 3, "n": 2}]`, "111"},
		{"a sum of doubles is added in order", `[{"$group": {"_id": null, "n": {"$sum": 0.5}}}]`, `[{"_id": null, "n": 3.0}]`, "111"},
		{"a sum of a field", `[{"$group": {"_id": null, "n": {"$sum": "$v"}}}]`, `[{"_id": null, "n": 27.5}]`, "111"},
		{"the least time is known only roughly", `[{"$group": {"_id": "$m", "n": {"$min": "$t"}}}, {"$sort": {"_id": 1}}, {"$project": {"_id": 1, "n": {"$toLong": "$n"}}}]`,
			`[{"_id": "a", "n": {"$numberLong": "0"}}, {"_id": "b", "n": {"$numberLong": "1200"}}]`, "111"},
		{"group by another field", `[{"$group": {"_id": "$v"}}, {"$count": "n"}]`, `[{"n": 6}]`, "111"},
		{"sort by time", `[{"$sort": {"t": 1}}, {"$project": {"_id": 1}}]`, `[{"_id": 1}, {"_id": 3}, {"_id": 2}, {"_id": 4}, {"_id": 5}, {"_id": 6}]`, "111"},
		{"sort by time, least", `[{"$sort": {"t": 1}}, {"$limit": 2}, {"$project": {"_id": 1}}]`, `[{"_id": 1}, {"_id": 3}]`, "110"},
		{"sort by time, greatest", `[{"$sort": {"t": -1, "v": 1}}, {"$limit": 1}, {"$project": {"_id": 1}}]`, `[{"_id": 6}]`, "001"},
		{"sort by a value", `[{"$sort": {"v": 1}}, {"$limit": 1}, {"$project": {"_id": 1}}]`, `[{"_id": 2}]`, "111"},
		{"last point", `[{"$sort": {"m": 1, "t": -1}}, {"$group": {"_id": "$m", "v": {"$first": "$v"}}}]`, `[{"_id": "a", "v": 3}, {"_id": "b", "v": 2.5}]`, "011"},
		{"first point", `[{"$sort": {"m": 1, "t": 1}}, {"$group": {"_id": "$m", "v": {"$first": "$v"}}}]`, `[{"_id": "a", "v": 5}, {"_id": "b", "v": 7}]`, "110"},
		{"first point by last", `[{"$sort": {"t": -1}}, {"$group": {"_id": "$m", "v": {"$last": "$v"}}}, {"$sort": {"_id": 1}}]`, `[{"_id": "a", "v": 5}, {"_id": "b", "v": 7}]`, "110"},
		{"last point by top", `[{"$group": {"_id": "$m", "v": {"$top": {"output": "$v", "sortBy": {"t": -1}}}, "i": {"$top": {"output": "$_id", "sortBy": {"t": -1}}}}}, {"$sort": {"_id": 1}}]`,
			`[{"_id": "a", "v": 3, "i": 6}, {"_id": "b", "v": 2.5, "i": 4}]`, "011"},
		{"first point by bottom", `[{"$group": {"_id": "$m", "v": {"$bottom": {"output": "$v", "sortBy": {"t": -1}}}}}, {"$sort": {"_id": 1}}]`, `[{"_id": "a", "v": 5}, {"_id": "b", "v": 7}]`, "110"},
		{"first and last at once", `[{"$sort": {"t": 1}}, {"$group": {"_id": "$m", "a": {"$first": "$v"}, "b": {"$last": "$v"}}}, {"$sort": {"_id": 1}}]`, `[{"_id": "a", "a": 5, "b": 3}, {"_id": "b", "a": 7, "b": 2.5}]`, "111"},
		{"top by different orders", `[{"$group": {"_id": null, "a": {"$top": {"output": "$_id", "sortBy": {"t": -1}}}, "b": {"$top": {"output": "$_id", "sortBy": {"t": 1}}}}}]`, `[{"_id": null, "a": 6, "b": 1}]`, "111"},
		{"no stage for packs", `[{"$match": {"v": 9}}, {"$project": {"_id": 1}}]`, `[{"_id": 5}]`, "111"},
		{"no stages", `[]`, "", "111"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := twoSeries()
			packs := src.Packs
			got, err := drain(compile(t, tt.pipeline), aggtest.Exec(nil), src)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(got) != 6 {
					t.Error(aggtest.Canonical(got))
				}
			} else if g, w := aggtest.Canonical(got), aggtest.Canonical(aggtest.Docs(t, tt.want)); g != w {
				t.Errorf("got\n%swant\n%s", g, w)
			}
			if got := opened(packs); got != tt.opened {
				t.Errorf("unpacked %s, want %s", got, tt.opened)
			}
			if !src.Closed {
				t.Error("the source is still open")
			}
		})
	}
}

// A pack whose summary is of no use is unpacked.
func TestSummariesOfNoUse(t *testing.T) {
	for name, spoil := range map[string]func(*aggtest.Packs){
		"filtered": func(p *aggtest.Packs) { p.Packs[0].Part = true; p.Packs[2].Part = true },
		"no times": func(p *aggtest.Packs) {
			p.Packs[0].Unknown = true
			p.Packs[1].Unknown = true
			p.Packs[2].Unknown = true
		},
		"empty":       func(p *aggtest.Packs) { p.Packs = append(p.Packs, &aggtest.Pack{}) },
		"no shared":   func(p *aggtest.Packs) { p.Shared = "" },
		"nothing":     func(p *aggtest.Packs) { p.Packs = nil },
		"no nonsense": func(*aggtest.Packs) {},
	} {
		for _, pipeline := range []string{
			`[{"$group": {"_id": {"$dateTrunc": {"date": "$t", "unit": "hour"}}, "n": {"$sum": 1}, "lo": {"$min": "$v"}}}, {"$sort": {"_id": 1}}]`,
			`[{"$sort": {"t": -1}}]`, `[{"$sort": {"t": 1}}, {"$limit": 3}]`,
			`[{"$sort": {"m": 1, "t": 1}}, {"$group": {"_id": "$m", "v": {"$last": "$v"}}}, {"$sort": {"_id": 1}}]`,
		} {
			src, plain := twoSeries(), twoSeries()
			spoil(src)
			spoil(plain)
			var docs []value.Doc
			for _, p := range plain.Packs {
				docs = append(docs, p.Content...)
			}
			p := compile(t, pipeline)
			got, err := drain(p, aggtest.Exec(nil), src)
			want, err2 := drain(p, aggtest.Exec(nil), stage.Docs(docs...))
			if err != nil || err2 != nil || aggtest.Canonical(got) != aggtest.Canonical(want) {
				t.Errorf("%s, %s:\n%s%v\nwant\n%s%v", name, pipeline, aggtest.Canonical(got), err, aggtest.Canonical(want), err2)
			}
		}
	}
}

// TestPacksGiveTheSame: a pipeline returns the same over packs as over their documents,
// also when memory is short.
func TestPacksGiveTheSame(t *testing.T) {
	pipelines := []string{
		`[{"$sort": {"t": 1}}]`, `[{"$sort": {"t": -1, "_id": 1}}]`, `[{"$sort": {"t": -1}}, {"$limit": 4}]`, `[{"$sort": {"t": 1, "v": -1}}, {"$limit": 2}]`,
		`[{"$sort": {"m": 1, "t": -1}}, {"$group": {"_id": "$m", "v": {"$first": "$v"}, "i": {"$first": "$_id"}}}]`,
		`[{"$sort": {"t": 1}}, {"$group": {"_id": "$m", "i": {"$last": "$_id"}}}]`,
		`[{"$group": {"_id": "$m", "i": {"$top": {"output": "$_id", "sortBy": {"t": 1}}}}}]`,
		`[{"$group": {"_id": "$m", "i": {"$bottom": {"output": ["$_id", "$v"], "sortBy": {"m": 1, "t": 1}}}}}]`,
		`[{"$group": {"_id": "$m", "n": {"$sum": 1}, "lo": {"$min": "$v"}, "hi": {"$max": "$v"}, "t": {"$max": "$t"}}}]`,
		`[{"$group": {"_id": {"$dateTrunc": {"date": "$t", "unit": "minute"}}, "n": {"$count": {}}, "m": {"$addToSet": "$m"}}}]`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		src, id := aggtest.NewPacks(), 0
		var docs []value.Doc
		for range rapid.IntRange(0, 8).Draw(rt, "packs") {
			series := rapid.SampledFrom([]string{`"a"`, `"b"`, `null`, `{"x": 1}`}).Draw(rt, "series")
			var content []value.Doc
			for range rapid.IntRange(1, 4).Draw(rt, "docs") {
				id++
				// No two times are equal, because $sort leaves the order of ties open.
				at := int64(rapid.IntRange(0, 2000).Draw(rt, "t"))*100 + int64(id)
				content = append(content, point(id, series, at, aggtest.GenScalar(rt, "v")))
			}
			src.Packs = append(src.Packs, &aggtest.Pack{Content: content, Part: rapid.Bool().Draw(rt, "part"), Unknown: rapid.IntRange(0, 5).Draw(rt, "unknown") == 0})
			docs = append(docs, content...)
		}
		pipeline := rapid.SampledFrom(pipelines).Draw(rt, "pipeline")
		p := compile(t, pipeline)
		x := aggtest.Exec(nil)
		if rapid.Bool().Draw(rt, "short of memory") {
			x.TempDir, x.MemoryLimit = t.TempDir(), int64(rapid.IntRange(1, 3000).Draw(rt, "limit"))
		}
		got, err := drain(p, x, src)
		want, err2 := drain(p, aggtest.Exec(nil), stage.Docs(docs...))
		if err != nil || err2 != nil {
			rt.Fatal(err, err2)
		}
		if strings.Contains(pipeline, "$group") { // which has no order
			byText := func(a, b value.Doc) int { return strings.Compare(a.CanonicalJSON(), b.CanonicalJSON()) }
			slices.SortFunc(got, byText)
			slices.SortFunc(want, byText)
		}
		if g, w := aggtest.Canonical(got), aggtest.Canonical(want); g != w && !strings.Contains(pipeline, "addToSet") {
			rt.Fatalf("%s\ngot\n%swant\n%s", pipeline, g, w)
		} else if len(got) != len(want) {
			rt.Fatalf("%d documents, want %d", len(got), len(want))
		}
	})
}

var errBroken = errors.New("broken")

// TestFailures: an error of the source, of a pack or of an expression ends the run, and
// so does an interruption.
func TestFailures(t *testing.T) {
	pipelines := []string{
		`[{"$group": {"_id": "$m", "n": {"$sum": 1}}}]`, `[{"$sort": {"t": 1}}]`, `[{"$sort": {"t": 1}}, {"$limit": 1}]`,
		`[{"$sort": {"t": 1}}, {"$group": {"_id": "$m", "v": {"$last": "$v"}}}]`,
	}
	for _, pipeline := range pipelines {
		src := twoSeries()
		src.Err = errBroken
		if _, err := drain(compile(t, pipeline), aggtest.Exec(nil), src); !errors.Is(err, errBroken) {
			t.Errorf("source, %s: %v", pipeline, err)
		}
		src = twoSeries()
		for _, p := range src.Packs {
			p.Part, p.Err = true, errBroken
		}
		if _, err := drain(compile(t, pipeline), aggtest.Exec(nil), src); !errors.Is(err, errBroken) {
			t.Errorf("pack, %s: %v", pipeline, err)
		}
		src = &aggtest.Packs{Shared: "m"}
		for i := range 200 {
			src.Packs = append(src.Packs, &aggtest.Pack{Content: []value.Doc{point(i, `"a"`, int64(i), "1")}})
		}
		x := aggtest.Exec(nil)
		x.Interrupt = func() error { return errBroken }
		if _, err := drain(compile(t, pipeline), x, src); !errors.Is(err, errBroken) {
			t.Errorf("interruption, %s: %v", pipeline, err)
		}
	}
	for _, pipeline := range []string{
		`[{"$group": {"_id": {"$divide": [1, "$m"]}, "n": {"$sum": 1}}}]`,
		`[{"$sort": {"t": 1}}, {"$group": {"_id": {"$divide": [1, "$m"]}, "v": {"$last": "$v"}}}]`,
		`[{"$group": {"_id": null, "n": {"$max": {"$divide": [1, "$m"]}}}}]`,
	} {
		src := aggtest.NewPacks([]value.Doc{point(1, "0", 0, "1")})
		_, err := drain(compile(t, pipeline), aggtest.Exec(nil), src)
		aggtest.CheckError(t, err, "…")
		if err == nil || !strings.Contains(err.Error(), "can't $divide by zero") {
			t.Errorf("%s: %v", pipeline, err)
		}
	}
}

// TestWithoutDisk: without the disk a sort that fills the memory fails.
func TestWithoutDisk(t *testing.T) {
	x := aggtest.Exec(nil)
	x.AllowDiskUse, x.MemoryLimit = false, 300
	_, err := drain(compile(t, `[{"$sort": {"t": 1}}]`), x, twoSeries())
	aggtest.CheckError(t, err, "292: Sort exceeded memory limit of 300 bytes, but did not opt in to external sorting.")
}

// TestExplainOverPacks: explain shows a $sort by time as mongod's bounded sorter.
func TestExplainOverPacks(t *testing.T) {
	for pipeline, want := range map[string]string{
		`[{"$sort": {"t": 1}}]`:                    `{"$_internalBoundedSort":{"sortKey":{"t":1},"bound":{"base":"min"},"limit":0}}`,
		`[{"$sort": {"t": -1}}, {"$limit": 3}]`:    `{"$_internalBoundedSort":{"sortKey":{"t":-1},"bound":{"base":"max"},"limit":3}}`,
		`[{"$sort": {"v": 1}}]`:                    `{"$sort":{"sortKey":{"v":1}}}`,
		`[{"$group": {"_id": "$m"}}]`:              `{"$group":{"_id":"$m"}}`,
		`[{"$sort": {"s": {"$meta": "randVal"}}}]`: `{"$sort":{"sortKey":{"s":{"$meta":"randVal"}}}}`,
		`[{"$sort": {"m": 1, "t": 1}}, {"$group": {"_id": "$m", "v": {"$first": "$v"}}}]`: `{"$sort":{"sortKey":{"m":1,"t":1}}}`,
	} {
		docs := compile(t, pipeline).ExplainOverPacks(agg.QueryPlanner, nil, "m", "t")
		if got := docs[0].JSON(); got != want {
			t.Errorf("%s: got %s, want %s", pipeline, got, want)
		}
	}
}
