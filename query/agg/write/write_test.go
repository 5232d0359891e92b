package write_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

// writeTest is a pipeline over test.c whose result is in test.t.
type writeTest struct {
	name     string
	docs     string
	target   string
	pipeline string
	want     string
	err      string
}

func TestMergeAndOut(t *testing.T) {
	const target = `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 2}]`
	const input = `[{"_id": 2, "b": 20}, {"_id": 3, "b": 30}]`
	for _, tt := range []writeTest{
		{name: "merge", docs: input, target: target, pipeline: `[{"$merge": "t"}]`, want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 2, "b": 20}, {"_id": 3, "b": 30}]`},
		{name: "replace", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "whenMatched": "replace"}}]`,
			want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "b": 20}, {"_id": 3, "b": 30}]`},
		{name: "keepExisting", docs: input, target: target, pipeline: `[{"$merge": {"into": {"db": "test", "coll": "t"}, "whenMatched": "keepExisting"}}]`,
			want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 2}, {"_id": 3, "b": 30}]`},
		{name: "fail on match", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "whenMatched": "fail"}}]`,
			err: "11000: $merge with whenMatched: fail found an existing document with the same values for the 'on' fields :: caused by :: E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 2 }"},
		{name: "discard", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "whenNotMatched": "discard"}}]`,
			want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 2, "b": 20}]`},
		{name: "fail on no match", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "whenNotMatched": "fail"}}]`,
			err: "13113: $merge could not find a matching document in the target collection for at least one document in the source collection"},
		{name: "pipeline", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "whenMatched": [{"$set": {"a": {"$add": ["$a", "$$new.b"]}}}]}}]`,
			want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 22}, {"_id": 3, "b": 30}]`},
		{name: "pipeline with let", docs: input, target: target, pipeline: `[{"$merge": {"into": "t", "let": {"x": "$b"}, "whenMatched": [{"$addFields": {"a": "$$x"}}], "whenNotMatched": "discard"}}]`,
			want: `[{"_id": 1, "a": 1, "keep": true}, {"_id": 2, "a": 20}]`},
		{name: "on a field", docs: `[{"k": 1, "v": 2}]`, target: `[{"_id": 9, "k": 1}]`, pipeline: `[{"$merge": {"into": "t", "on": "k"}}]`, want: `[{"_id": 9, "k": 1, "v": 2}]`},
		{name: "on a field keeps _id when replacing", docs: `[{"k": 1, "v": 2}]`, target: `[{"_id": 9, "k": 1, "x": 1}]`, pipeline: `[{"$merge": {"into": "t", "on": ["k"], "whenMatched": "replace"}}]`,
			want: `[{"_id": 9, "k": 1, "v": 2}]`},
		{name: "on a field with another _id", docs: `[{"_id": 8, "k": 1}]`, target: `[{"_id": 9, "k": 1}]`, pipeline: `[{"$merge": {"into": "t", "on": "k"}}]`,
			err: "66: $merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: Performing an update on the path '_id' would modify the immutable field '_id'"},
		{name: "on null", docs: `[{"_id": 8, "k": null}]`, target: `[]`, pipeline: `[{"$merge": {"into": "t", "on": "k"}}]`, want: `[{"_id": 8, "k": null}]`},
		{name: "on array", docs: `[{"_id": 8, "k": [1]}]`, target: `[]`, pipeline: `[{"$merge": {"into": "t", "on": "k"}}]`, err: "51185: $merge write error: 'on' field 'k' is an array"},
		{name: "on without index", docs: `[{"_id": 8}]`, target: `[]`, pipeline: `[{"$merge": {"into": "t", "on": "z"}}]`, err: "51183: Cannot find index to verify that join fields will be unique"},
		{name: "bad modes", pipeline: `[{"$merge": {"into": "t", "whenMatched": "fail", "whenNotMatched": "discard"}}]`,
			err: "51181: Combination of $merge modes 'whenMatched: fail' and 'whenNotMatched: discard' is not supported"},
		{name: "bad mode", pipeline: `[{"$merge": {"into": "t", "whenMatched": "x"}}]`, err: "2: Enumeration value 'x' for field 'whenMatched' is not a valid value."},
		{name: "no into", pipeline: `[{"$merge": {}}]`, err: "40414: BSON field '$merge.into' is missing but a required field"},
		{name: "let without pipeline", pipeline: `[{"$merge": {"into": "t", "let": {"x": 1}}}]`, err: "51199: Cannot use 'let' variables with 'whenMatched: merge' mode"},
		{name: "new is reserved", pipeline: `[{"$merge": {"into": "t", "let": {"new": 1}, "whenMatched": []}}]`, err: "51273: 'let' may not define a value for the reserved 'new' variable other than '$$ROOT'"},
		{name: "stage not for the update of a document", docs: `[{"_id": 1}]`, target: `[{"_id": 1}]`, pipeline: `[{"$merge": {"into": "t", "whenMatched": [{"$match": {}}]}}]`, err: "72: $match is not allowed to be used within an update"},
		{name: "number", pipeline: `[{"$merge": 1}]`, err: "14: $merge requires a string or object argument, but found int"},
		{name: "special", pipeline: `[{"$merge": "system.x"}]`, err: "31319: Cannot $merge to special collection: system.x"},
		{name: "duplicate on", pipeline: `[{"$merge": {"into": "t", "on": ["a", "a"]}}]`, err: "31465: Found a duplicate field 'a'"},
		{name: "not last", pipeline: `[{"$merge": "t"}, {"$match": {}}]`, err: "40601: $merge can only be the final stage in the pipeline"},
		{name: "out", docs: input, target: target, pipeline: `[{"$out": "t"}]`, want: input},
		{name: "out object", docs: input, target: target, pipeline: `[{"$match": {"b": 20}}, {"$out": {"db": "test", "coll": "t"}}]`, want: `[{"_id": 2, "b": 20}]`},
		{name: "out number", pipeline: `[{"$out": 1}]`, err: "16990: $out only supports a string or object argument, but found int"},
		{name: "out not last", pipeline: `[{"$out": "t"}, {"$limit": 1}]`, err: "40601: $out can only be the final stage in the pipeline"},
		{name: "out without coll", pipeline: `[{"$out": {"db": "x"}}]`, err: "40414: BSON field '$out.coll' is missing but a required field"},
		{name: "out special", pipeline: `[{"$out": "system.x"}]`, err: "17385: Can't $out to special collection: system.x"},
		{name: "out internal", pipeline: `[{"$out": {"db": "admin", "coll": "x"}}]`, err: "31321: Can't $out to internal database: admin"},
		{name: "out to a time series", pipeline: `[{"$out": {"db": "test", "coll": "t", "timeseries": {}}}]`, err: "40414: BSON field '$out.timeseries.timeField' is missing but a required field"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := aggtest.NewHost()
			h.Unique["k"] = true
			if tt.docs != "" {
				h.Colls["test.c"] = aggtest.Docs(t, tt.docs)
				h.Colls["test.t"] = aggtest.Docs(t, tt.target)
			}
			got, err := aggtest.Run(t, h, tt.pipeline)
			if tt.err != "" {
				aggtest.CheckError(t, err, tt.err)
				return
			}
			if err != nil || len(got) != 0 {
				t.Fatal(got, err)
			}
			if g, w := aggtest.Canonical(h.Colls["test.t"]), aggtest.Canonical(aggtest.Docs(t, tt.want)); g != w {
				t.Errorf("got\n%swant\n%s", g, w)
			}
		})
	}
}

func TestOutGivesIDs(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "a": 1}]`)
	if _, err := aggtest.Run(t, h, `[{"$project": {"_id": 0, "a": 1}}, {"$out": "t"}]`); err != nil {
		t.Fatal(err)
	}
	d := h.Colls["test.t"][0]
	if k, v := d.First(); k != "_id" || v.Kind() != value.KindObjectID || v.ObjectID().Seconds() != aggtest.Now/1000 {
		t.Error(d)
	}
}

func TestOutOfNothing(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "out of nothing", Pipeline: `[{"$out": "x"}]`, Want: `[]`},
	}, nil)
}
