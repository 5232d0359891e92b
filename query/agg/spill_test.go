package agg_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

func TestSpillingGivesTheSame(t *testing.T) {
	pipelines := []string{
		`[{"$sort": {"a": 1, "_id": -1}}]`,
		`[{"$sort": {"b.a": -1}}, {"$limit": 7}]`,
		`[{"$group": {"_id": "$a", "n": {"$sum": "$b"}, "l": {"$push": "$_id"}, "s": {"$addToSet": "$c"}, "f": {"$first": "$_id"}, "z": {"$last": "$c"}, "avg": {"$avg": "$b"},
			"min": {"$min": "$c"}, "max": {"$max": "$c"}, "t": {"$topN": {"output": "$_id", "sortBy": {"b": 1}, "n": 3}},
			"fn": {"$firstN": {"input": "$_id", "n": 2}}, "ln": {"$lastN": {"input": "$_id", "n": 2}}, "mn": {"$minN": {"input": "$c", "n": 2}},
			"med": {"$median": {"input": "$b", "method": "approximate"}}, "c": {"$count": {}}}}]`,
		`[{"$bucketAuto": {"groupBy": "$a", "buckets": 3, "output": {"l": {"$push": "$_id"}}}}]`,
		`[{"$facet": {"n": [{"$count": "n"}], "l": [{"$sort": {"_id": -1}}, {"$limit": 3}]}}]`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		h := aggtest.NewHost()
		for i := range rapid.IntRange(0, 60).Draw(rt, "docs") {
			h.Colls["test.c"] = append(h.Colls["test.c"], aggtest.GenDoc(rt, i))
		}
		pipeline := rapid.SampledFrom(pipelines).Draw(rt, "pipeline")
		o := stage.Options{DB: "test", Coll: "c"}
		all, err := aggtest.Drain(t, pipeline, o, aggtest.Exec(h))
		x := aggtest.Exec(h)
		x.TempDir = t.TempDir()
		x.MemoryLimit = int64(rapid.IntRange(1, 5000).Draw(rt, "limit"))
		spilled, err2 := aggtest.Drain(t, pipeline, o, x)
		if err != nil || err2 != nil {
			rt.Fatal(err, err2)
		}
		if strings.Contains(pipeline, "$group") { // which has no order
			byText := func(a, b value.Doc) int { return strings.Compare(a.CanonicalJSON(), b.CanonicalJSON()) }
			slices.SortFunc(all, byText)
			slices.SortFunc(spilled, byText)
		}
		if a, s := aggtest.Canonical(all), aggtest.Canonical(spilled); a != s {
			rt.Fatalf("%s\nin memory\n%sspilled\n%s", pipeline, a, s)
		}
	})
}

func TestMemoryLimits(t *testing.T) {
	h := aggtest.NewHost()
	for i := range 200 {
		h.Colls["test.c"] = append(h.Colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	for pipeline, want := range map[string]string{
		`[{"$sort": {"_id": 1}}]`:       "292: Sort exceeded memory limit of 1000 bytes, but did not opt in to external sorting.",
		`[{"$group": {"_id": "$_id"}}]`: "292: Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.",
	} {
		x := aggtest.Exec(h)
		x.AllowDiskUse, x.MemoryLimit = false, 1000
		_, err := aggtest.Drain(t, pipeline, stage.Options{DB: "test", Coll: "c"}, x)
		aggtest.CheckError(t, err, want)
		x = aggtest.Exec(h)
		x.MemoryLimit, x.TempDir = 1000, t.TempDir()
		got, err := aggtest.Drain(t, pipeline, stage.Options{DB: "test", Coll: "c"}, x)
		if err != nil || len(got) != 200 || !x.UsedDisk() {
			t.Error(len(got), err, x.UsedDisk())
		}
	}
}
