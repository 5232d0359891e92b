package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// Corners of the stages that the manual's examples do not reach.

func TestCorners(t *testing.T) {
	const days = `[{"_id": 1, "p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"_id": 2, "p": "b", "t": {"$date": "2020-01-02T00:00:00Z"}}, {"_id": 3, "p": "a", "t": {"$date": "2020-01-03T00:00:00Z"}}]`
	const months = `[{"_id": 1, "p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"_id": 2, "p": "b", "t": {"$date": "2020-03-01T00:00:00Z"}}]`
	runStageTests(t, []stageTest{
		{name: "densify days of partitions", docs: days, pipeline: `[{"$densify": {"field": "t", "partitionByFields": ["p"], "range": {"step": 1, "unit": "day", "bounds": "full"}}}, {"$project": {"_id": 0}}]`,
			want: `[{"p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-02T00:00:00Z"}},
				{"p": "a", "t": {"$date": "2020-01-02T00:00:00Z"}}, {"p": "a", "t": {"$date": "2020-01-03T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-03T00:00:00Z"}}]`},
		{name: "densify months of partitions", docs: months, pipeline: `[{"$densify": {"field": "t", "partitionByFields": ["p"], "range": {"step": 1, "unit": "month", "bounds": "full"}}}, {"$count": "n"}]`, want: `[{"n": 6}]`},
		{name: "densify explicit partitions", docs: `[{"_id": 1, "p": 1, "x": 1}, {"_id": 2, "p": 2, "x": 0}]`,
			pipeline: `[{"$densify": {"field": "x", "partitionByFields": ["p"], "range": {"step": 1, "bounds": [0, 3]}}}, {"$project": {"_id": 0}}]`,
			want:     `[{"p": 1, "x": 0}, {"p": 1, "x": 1}, {"p": 2, "x": 0}, {"p": 1, "x": 2}, {"p": 2, "x": 1}, {"p": 2, "x": 2}]`},
		{name: "densify nested field", docs: `[{"_id": 1, "a": {"x": 1}}, {"_id": 2, "a": {"x": 3}}]`, pipeline: `[{"$densify": {"field": "a.x", "range": {"step": 1, "bounds": "full"}}}]`,
			want: `[{"_id": 1, "a": {"x": 1}}, {"a": {"x": 2}}, {"_id": 2, "a": {"x": 3}}]`},
		{name: "densify of strings", docs: `[{"_id": 1, "x": "a"}]`, pipeline: `[{"$densify": {"field": "x", "range": {"step": 1, "bounds": "full"}}}]`, err: "5733201: Densify field type must be numeric or a date"},
		{name: "densify of dates without unit", docs: days, pipeline: `[{"$densify": {"field": "t", "range": {"step": 1, "bounds": "full"}}}]`,
			err: "6053600: Encountered date densify value in collection when step does not have a date unit."},
		{name: "densify of numbers with unit", docs: `[{"_id": 1}]`, pipeline: `[{"$densify": {"field": "_id", "range": {"step": 1, "unit": "day", "bounds": "full"}}}]`,
			err: "6053600: Encountered numeric densify value in collection when step has a date unit."},
		{name: "granularity of decimals", docs: `[{"_id": 1, "x": {"$numberDecimal": "8.5"}}, {"_id": 2, "x": {"$numberDecimal": "120"}}]`,
			pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 2, "granularity": "R5"}}]`,
			want: `[{"_id": {"min": {"$numberDecimal": "6.3"}, "max": {"$numberDecimal": "10"}}, "count": 1},
				{"_id": {"min": {"$numberDecimal": "10"}, "max": {"$numberDecimal": "160"}}, "count": 1}]`},
		{name: "granularity 1-2-5", docs: `[{"_id": 1, "x": 0.3}, {"_id": 2, "x": 7}, {"_id": 3, "x": 4000}]`, pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 3, "granularity": "1-2-5"}}]`,
			want: `[{"_id": {"min": 0.2, "max": 0.5}, "count": 1}, {"_id": {"min": 0.5, "max": 10.0}, "count": 1}, {"_id": {"min": 10.0, "max": 5000.0}, "count": 1}]`},
		{name: "granularity between decades", docs: `[{"_id": 1, "x": 0.8}]`, pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 1, "granularity": "E6"}}]`,
			want: `[{"_id": {"min": 0.68, "max": 1.0}, "count": 1}]`},
		{name: "granularity of negative numbers", docs: `[{"_id": -1}]`, pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 1, "granularity": "E6"}}]`,
			err: "40260: $bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number"},
		{name: "granularity of NaN", docs: `[{"_id": {"$numberDouble": "NaN"}}]`, pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 1, "granularity": "E6"}}]`,
			err: "40259: $bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN"},
		{name: "window into arrays", docs: `[{"_id": 1, "a": [{"x": 1}, 5]}]`, pipeline: `[{"$setWindowFields": {"output": {"a.n": {"$count": {}}}}}]`, want: `[{"_id": 1, "a": [{"x": 1, "n": 1}, {"n": 1}]}]`},
		{name: "rank by a path through an array", docs: `[{"_id": 1, "a": [{"x": 1}, {"x": 2}, 5]}, {"_id": 2, "a": {"x": 9}}]`, pipeline: `[{"$setWindowFields": {"sortBy": {"a.x": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`,
			want: `[{"_id": 1, "r": 1}, {"_id": 2, "r": 2}]`},
		{name: "sort by a position", docs: `[{"_id": 1, "a": [5, 1]}, {"_id": 2, "a": [3, 9]}, {"_id": 3, "a": [[7]]}]`, pipeline: `[{"$sort": {"a.0": 1}}, {"$project": {"_id": 1}}]`,
			want: `[{"_id": 2}, {"_id": 1}, {"_id": 3}]`},
		{name: "lookup by a position", docs: `[{"_id": 1, "a": [{"b": 7}, {"b": 2}]}]`, pipeline: `[{"$lookup": {"from": "c", "localField": "a.0.b", "foreignField": "a.b", "as": "d"}}, {"$project": {"n": {"$size": "$d"}}}]`, want: `[{"_id": 1, "n": 1}]`},
		{name: "lookup replaces a scalar on the way", docs: `[{"_id": 1, "a": 5}]`, pipeline: `[{"$lookup": {"from": "none", "localField": "x", "foreignField": "y", "as": "a.b"}}]`, want: `[{"_id": 1, "a": {"b": []}}]`},
		{name: "sample leaves no more than asked", docs: `[{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]`, pipeline: `[{"$sample": {"size": 2}}, {"$count": "n"}]`, want: `[{"n": 2}]`},
		{name: "group by an array", docs: `[{"_id": 1, "a": [1, 2]}, {"_id": 2, "a": [1.0, 2]}]`, pipeline: `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, want: `[{"_id": [1, 2], "n": 2}]`},
		{name: "out of nothing", pipeline: `[{"$out": "x"}]`, want: `[]`},
	}, nil)
}

func TestSortedTwice(t *testing.T) {
	p, err := Compile(array(t, `[{"$sort": {"a": 1, "b": 1}}, {"$sort": {"a": 1}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := shape(p); got != `[{"$sort":{"sortKey":{"a":1,"b":1}}}]` {
		t.Error(got)
	}
}

func TestPipelineFacts(t *testing.T) {
	for _, tt := range []struct {
		coll, pipeline string
		stream, source bool
		namespaces     string
	}{
		{"c", `[{"$changeStream": {}}, {"$project": {"x": 1}}, {"$changeStreamSplitLargeEvent": {}}]`, true, true, ""},
		{"", `[{"$documents": []}]`, false, true, ""},
		{"c", `[{"$lookup": {"from": "a", "as": "x", "pipeline": [{"$unionWith": "b"}]}}, {"$facet": {"f": [{"$graphLookup": {"from": "g", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "c"}}]}}, {"$out": "o"}]`,
			false, false, "test.b test.a test.g test.o"},
	} {
		p, err := Compile(array(t, tt.pipeline), stage.Options{DB: "test", Coll: tt.coll})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Namespaces(), " "); p.IsChangeStream() != tt.stream || p.IsSource() != tt.source || got != tt.namespaces {
			t.Error(p.IsChangeStream(), p.IsSource(), got)
		}
		p.Explain(pipeline.ExecutionStats, newExec(nil))
		if p.Len() == 0 {
			t.Error("no stages")
		}
	}
}
