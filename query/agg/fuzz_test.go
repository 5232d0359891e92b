package agg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/value"
)

// fuzzLimit bounds what a fuzzed pipeline may do.
const fuzzLimit = 2000

// FuzzCompile compiles and runs arbitrary pipelines: whatever they are, they
// must not panic.
func FuzzCompile(f *testing.F) {
	for _, seed := range fuzzSeeds {
		d := aggtest.Array(f, seed)
		f.Add([]byte(d))
	}
	for _, name := range append(group.Accumulators(), "$_internalJsReduce") {
		f.Add([]byte(aggtest.Array(f, `[{"$group": {"_id": "$a", "x": {"`+name+`": {"input": "$b", "n": 2, "output": "$c", "sortBy": {"a": 1}, "p": [0.5], "method": "approximate"}}}}]`)))
	}
	for _, name := range window.Operators() {
		f.Add([]byte(aggtest.Array(f, `[{"$setWindowFields": {"sortBy": {"a": 1}, "output": {"x": {"`+name+`": {"input": "$b", "unit": "day", "N": 2, "by": 1, "output": "$c"}, "window": {"range": [-1, 1]}}}}}]`)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			t.Skip()
		}
		fuzzPipeline(t, value.Doc(b))
	})
}

var fuzzSeeds = []string{
	`[{"$match": {"a": 1}}, {"$sort": {"a.b": -1}}, {"$limit": 3}]`,
	`[{"$lookup": {"from": "c", "localField": "a", "foreignField": "b", "as": "x", "let": {"v": "$a"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}]}}, {"$unwind": "$x"}]`,
	`[{"$graphLookup": {"from": "c", "startWith": "$a", "connectFromField": "a", "connectToField": "b", "as": "x", "maxDepth": 2, "depthField": "d"}}]`,
	`[{"$densify": {"field": "a", "partitionByFields": ["b"], "range": {"step": 1, "bounds": "full"}}}]`,
	`[{"$densify": {"field": "a", "range": {"step": 9223372036854775807, "unit": "year", "bounds": [{"$date": 0}, {"$date": {"$numberLong": "9223372036854775807"}}]}}}]`,
	`[{"$fill": {"sortBy": {"a": 1}, "output": {"b": {"method": "linear"}, "c": {"value": 1}}}}]`,
	`[{"$bucketAuto": {"groupBy": "$a", "buckets": 3, "granularity": "R5"}}]`,
	`[{"$bucket": {"groupBy": "$a", "boundaries": [0, 1, 2], "default": 9}}]`,
	`[{"$facet": {"x": [{"$count": "n"}], "y": [{"$sample": {"size": 2}}]}}]`,
	`[{"$unionWith": {"coll": "c", "pipeline": [{"$skip": 1}]}}]`,
	`[{"$redact": {"$cond": ["$a", "$$DESCEND", "$$PRUNE"]}}]`,
	`[{"$merge": {"into": "x", "on": "_id", "let": {"y": 1}, "whenMatched": [{"$set": {"z": "$$new.a"}}]}}]`,
	`[{"$out": {"db": "a", "coll": "b"}}]`,
	`[{"$geoNear": {"near": [1, 2], "distanceField": "d.e", "includeLocs": "l"}}]`,
	`[{"$setWindowFields": {"partitionBy": {"$add": ["$a", 1]}, "sortBy": {"a": 1}, "output": {"x.y": {"$sum": "$a", "window": {"documents": [-1, "unbounded"]}}}}}]`,
	`[{"$replaceRoot": {"newRoot": {"$mergeObjects": ["$$ROOT", {"x": 1}]}}}, {"$unset": ["a", "b.c"]}, {"$sortByCount": "$x"}]`,
}

// fuzzPipeline runs a pipeline on a few documents.
func fuzzPipeline(t *testing.T, spec value.Doc) {
	p, err := agg.Compile(spec, stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		return
	}
	p.Explain(pipeline.QueryPlanner, nil)
	p.Leading()
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "a": 1, "b": {"c": 2}}, {"_id": 2, "a": [1, {"b": 2}], "b": null}, {"_id": 3, "a": {"b": [1, [2]]}, "b": "x"}, {"_id": 4, "a": 2.5, "b": {"$date": 5}},
		{"_id": 5, "a": {"$date": 86400000}, "b": 3}, {"_id": 6}]`)
	x := aggtest.Exec(h)
	steps := 0
	x.Interrupt = func() error {
		if steps++; steps > fuzzLimit {
			return errFuzzDone
		}
		return nil
	}
	x.Env.Interrupt = x.Interrupt
	it, err := p.Open(x)
	if err != nil {
		return
	}
	defer it.Close()
	for range fuzzLimit {
		if d, err := it.Next(); d == nil || err != nil {
			return
		} else if err := value.Validate(d); err != nil && !strings.Contains(err.Error(), "depth") {
			t.Fatalf("%s gives invalid BSON: %v", spec, err)
		}
	}
}

type fuzzDone struct{}

func (fuzzDone) Error() string { return "enough" }

var errFuzzDone = fuzzDone{}

// mutate replaces one value somewhere in v by another; at counts down to it.
func mutate(v value.Value, at *int, with value.Value) value.Value {
	if *at == 0 {
		*at = -1
		return with
	}
	*at--
	if v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		return v
	}
	b := value.NewBuilder()
	for k, e := range v.Doc().All() {
		b.Append(k, mutate(e, at, with))
	}
	if v.Kind() == value.KindArray {
		return value.Array(b.Doc())
	}
	return value.Document(b.Doc())
}

func countValues(v value.Value) int {
	n := 1
	if v.Kind() == value.KindDocument || v.Kind() == value.KindArray {
		for e := range v.Doc().Values() {
			n += countValues(e)
		}
	}
	return n
}

// TestMutatedPipelinesDoNotPanic puts a wrong value into every place of the
// seeds.
func TestMutatedPipelinesDoNotPanic(t *testing.T) {
	wrong := aggtest.Array(t, `[null, 0, -1, 1.5, {"$numberDouble": "NaN"}, {"$numberLong": "9223372036854775807"}, {"$numberDecimal": "1E+6000"}, "", "$a", "$$ROOT", "a.b", "unbounded",
		[], [1, 2], [[]], {}, {"a": 1}, {"$add": [1, "$a"]}, {"$literal": []}, {"$date": 0}, true, {"$undefined": true}, {"$minKey": 1}, {"$regularExpression": {"pattern": "a", "options": ""}}]`)
	seeds := slices.Clone(fuzzSeeds)
	for _, name := range append(group.Accumulators(), "$_internalJsReduce") {
		seeds = append(seeds, `[{"$group": {"_id": "$a", "x": {"`+name+`": {"input": "$b", "n": 2}}, "y": {"`+name+`": "$a"}}}]`)
	}
	for _, name := range window.Operators() {
		for _, arg := range []string{`"$a"`, `{}`, `{"input": "$a", "N": 2}`, `{"output": "$a", "by": 1, "default": 2}`, `{"input": "$_id", "unit": "hour"}`, `{"output": "$a", "n": 2, "sortBy": {"b": 1}}`} {
			seeds = append(seeds, `[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"x": {"`+name+`": `+arg+`, "window": {"documents": [-1, 1]}}, "y": {"`+name+`": `+arg+`}}}}]`)
		}
	}
	for _, seed := range seeds {
		pipeline := value.Array(aggtest.Array(t, seed))
		for i := 1; i < countValues(pipeline); i++ {
			for w := range wrong.Values() {
				at := i
				fuzzPipeline(t, mutate(pipeline, &at, w).Doc())
			}
		}
	}
}
