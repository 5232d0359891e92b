package group_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

// TestRefusals: the errors of mongod's parsers for $group, $bucket, $bucketAuto, $count
// and the accumulators.
func TestRefusals(t *testing.T) {
	group := func(acc string) string { return `[{"$group": {"_id": null, "r": ` + acc + `}}]` }
	bucket := func(more string) string { return `[{"$bucket": {"groupBy": "$x"` + more + `}}]` }
	auto := func(more string) string { return `[{"$bucketAuto": {"groupBy": "$x"` + more + `}}]` }
	var cases []aggtest.Case
	for _, tt := range [][2]string{
		{`[{"$group": {"_id": 1, "_id": 2}}]`, "15948: a group's _id may only be specified once"},
		{`[{"$group": {"_id": {"a": 1}}}]`, "17390: $group does not support inclusion-style expressions"},
		{`[{"$group": {"_id": {"a": true}}}]`, "17390: $group does not support inclusion-style expressions"},
		{`[{"$group": {"_id": {"$foo": 1}}}]`, "168: Unrecognized expression '$foo'"},
		{group(`{"n": 1}`), "40234: The field 'r' must be an accumulator object"},
		{group(`{"$sum": {"$foo": 1}}`), "168: Unrecognized expression '$foo'"},
		{`[{"$count": "_id"}]`, "9039800: the count field cannot be '_id'"},
		{`[{"$count": "a\u0000b"}]`, "40159: the count field cannot contain a null byte"},
		{`[{"$sortByCount": {"$foo": 1}}]`, "168: Unrecognized expression '$foo'"},

		{`[{"$bucket": 1}]`, "40201: Argument to $bucket stage must be an object, but found type: int."},
		{bucket(``), "40198: $bucket requires 'groupBy' and 'boundaries' to be specified."},
		{`[{"$bucket": {"boundaries": [1, 2]}}]`, "40198: $bucket requires 'groupBy' and 'boundaries' to be specified."},
		{bucket(`, "boundaries": 1`), "40200: The $bucket 'boundaries' field must be an array, but found type: int."},
		{bucket(`, "boundaries": [1, "$a"]`), "40191: The $bucket 'boundaries' field must be an array of constant values, but found value: \"$a\"."},
		{bucket(`, "boundaries": [1, {"$foo": 1}]`), "168: Unrecognized expression '$foo'"},
		{bucket(`, "boundaries": [1, 2], "default": "$a"`), "40195: The $bucket 'default' field must be a constant expression, but found: \"$a\"."},
		{bucket(`, "boundaries": [1, 2], "default": {"$foo": 1}`), "168: Unrecognized expression '$foo'"},
		{bucket(`, "boundaries": [1, 2], "output": 1`), "40196: The $bucket 'output' field must be an object, but found type: int."},
		{bucket(`, "boundaries": [1, 2], "output": {"n": {"$foo": 1}}`), "15952: unknown group operator '$foo'"},
		{bucket(`, "boundaries": [1, 2], "x": 1`), "40197: Unrecognized option to $bucket: x."},

		{`[{"$bucketAuto": 1}]`, "40240: The argument to $bucketAuto must be an object, but found type: int"},
		{auto(``), "40246: $bucketAuto requires 'groupBy' and 'buckets' to be specified"},
		{`[{"$bucketAuto": {"buckets": 2}}]`, "40246: $bucketAuto requires 'groupBy' and 'buckets' to be specified"},
		{`[{"$bucketAuto": {"groupBy": "x", "buckets": 2}}]`, "40239: The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: \"x\""},
		{`[{"$bucketAuto": {"groupBy": {"x": 1}, "buckets": 2}}]`, "40239: The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: { x: 1 }"},
		{`[{"$bucketAuto": {"groupBy": {"$foo": 1}, "buckets": 2}}]`, "168: Unrecognized expression '$foo'"},
		{auto(`, "buckets": "x"`), "40241: The $bucketAuto 'buckets' field must be a numeric value, but found type: string"},
		{auto(`, "buckets": 1.5`), "40242: The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found 1.5"},
		{auto(`, "buckets": {"$numberLong": "4294967296"}`), "40242: The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found 4294967296"},
		{auto(`, "buckets": -1`), "40243: The $bucketAuto 'buckets' field must be greater than 0, but found: -1"},
		{auto(`, "buckets": 2, "output": 1`), "40244: The $bucketAuto 'output' field must be an object, but found type: int"},
		{auto(`, "buckets": 2, "output": {"n": {"$foo": 1}}`), "15952: unknown group operator '$foo'"},
		{auto(`, "buckets": 2, "output": {"n": {"$firstN": {"input": "$a", "n": "$b"}}}`), "4544714: Can't refer to the group key in $bucketAuto"},
		{auto(`, "buckets": 2, "granularity": 1`), "40261: The $bucketAuto 'granularity' field must be a string, but found type: int"},
		{auto(`, "buckets": 2, "x": 1`), "40245: Unrecognized option to $bucketAuto: x"},

		{group(`{"$minN": 1}`), "5787900: specification must be an object; found $minN: 1"},
		{group(`{"$maxN": 1}`), "5787900: specification must be an object; found $maxN: 1"},
		{group(`{"$lastN": 1}`), "5787801: specification must be an object; found $lastN: 1"},
		{group(`{"$topN": 1}`), "5788001: specification must be an object; found $topN: 1"},
		{group(`{"$topN": {"output": 1, "sortBy": {"a": 1}}}`), "5788003: Missing value for 'n'"},
		{group(`{"$topN": {"n": 1, "sortBy": {"a": 1}}}`), "5788004: Missing value for 'output'"},
		{group(`{"$bottom": {"output": 1, "sortBy": 1}}`), "10065: invalid parameter: expected an object (sortBy)"},
		{group(`{"$top": {"output": 1, "sortBy": {"a": 5}}}`), "15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)"},
		{group(`{"$median": 1}`), "7436100: specification must be an object; found $median: 1"},
		{group(`{"$percentile": 1}`), "7429703: specification must be an object; found $percentile: 1"},
		{group(`{"$percentile": {"p": [0.5], "method": "approximate"}}`), "40414: BSON field '$percentile.input' is missing but a required field"},
		{group(`{"$percentile": {"input": 1, "method": "approximate"}}`), "40414: BSON field '$percentile.p' is missing but a required field"},
		{group(`{"$percentile": {"input": 1, "p": [0.5]}}`), "40414: BSON field '$percentile.method' is missing but a required field"},
		{group(`{"$median": {"input": 1, "method": 1}}`), "14: BSON field '$median.method' is the wrong type 'int', expected type 'string'"},
		{group(`{"$median": {"input": 1, "method": "approximate", "x": 1}}`), "40415: BSON field '$median.x' is an unknown field."},
		{group(`{"$percentile": {"input": 1, "p": "$a", "method": "approximate"}}`), "7750300: The $percentile 'p' field must be an array of constant values, but found value: …"},
		{group(`{"$percentile": {"input": 1, "p": ["x"], "method": "approximate"}}`), "7750302: The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: \"x\""},
		{group(`{"$percentile": {"input": 1, "p": {"$foo": 1}, "method": "approximate"}}`), "168: Unrecognized expression '$foo'"},

		{group(`{"$accumulator": 1}`), "4544703: $accumulator expects an object as an argument; found: int"},
		{group(`{"$accumulator": {"init": "function() {}"}}`), "4544708: $accumulator missing required argument 'accumulate'"},
		{group(`{"$accumulator": {"init": "function() {}", "accumulate": "function() {}"}}`), "4544709: $accumulator missing required argument 'merge'"},
		{group(`{"$accumulator": {"init": "function() {}", "accumulate": "function() {}", "merge": "function() {}"}}`), "4544710: $accumulator missing required argument 'accumulateArgs'"},
		{group(`{"$accumulator": {"init": "$a"}}`), "4544701: $accumulator 'init' must be a constant expression"},
		{group(`{"$accumulator": {"merge": 5}}`), "4544702: $accumulator 'merge' must be a String or Code"},
		{group(`{"$accumulator": {"finalize": {"$foo": 1}}}`), "168: Unrecognized expression '$foo'"},
		{group(`{"$accumulator": {"lang": 5}}`), "4544704: $accumulator lang must be a string; found: int"},
		{group(`{"$accumulator": {"lang": "python"}}`), "4544705: $accumulator only supports lang: 'js'"},
		{group(`{"$accumulator": {"x": 5}}`), "4544706: $accumulator got an unexpected field: x"},
		{group(`{"$_internalJsReduce": 1}`), "31326: $_internalJsReduce requires a document argument, but found int"},
		{group(`{"$_internalJsReduce": {"eval": 1}}`), "31244: $_internalJsReduce requires the 'eval' argument to be of type string, or code but found int"},
		{group(`{"$_internalJsReduce": {"foo": 1}}`), "31243: Invalid argument specified to $_internalJsReduce: foo: 1"},
		{group(`{"$_internalJsReduce": {"data": 1}}`), "31245: $_internalJsReduce requires 'eval' argument, recieved input: { data: 1 }"},       //nolint:misspell // mongod's spelling
		{group(`{"$_internalJsReduce": {"eval": "f"}}`), "31349: $_internalJsReduce requires 'data' argument, recieved input: { eval: \"f\" }"}, //nolint:misspell // mongod's spelling
	} {
		cases = append(cases, aggtest.Case{Name: tt[0], Docs: `[{"_id": 1, "a": 1}]`, Pipeline: tt[0], Err: tt[1]})
	}
	aggtest.RunCases(t, cases, nil)
}

// TestFailuresOfRuns: errors of expressions while documents are read.
func TestFailuresOfRuns(t *testing.T) {
	const docs = `[{"_id": 1, "a": 1}, {"_id": 2, "a": 0}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "key", Docs: docs, Pipeline: `[{"$limit": 5}, {"$group": {"_id": {"$divide": [1, "$a"]}}}]`, Err: "2: can't $divide by zero"},
		{Name: "key in the other engine", Docs: docs, Pipeline: `[{"$group": {"_id": {"$divide": [1, "$a"]}}}]`, Err: "4848401: can't $divide by zero"},
		{Name: "argument", Docs: docs, Pipeline: `[{"$limit": 5}, {"$group": {"_id": null, "n": {"$sum": {"$divide": [1, "$a"]}}}}]`, Err: "2: can't $divide by zero"},
		{Name: "argument that grows", Docs: docs, Pipeline: `[{"$limit": 5}, {"$group": {"_id": null, "n": {"$push": {"$divide": [1, "$a"]}}}}]`, Err: "2: can't $divide by zero"},
		{Name: "objects", Docs: docs, Pipeline: `[{"$limit": 5}, {"$group": {"_id": null, "n": {"$mergeObjects": "$a"}}}]`, Err: "40400: $mergeObjects requires object inputs, but input 1 is of type int"},
		{Name: "n", Docs: docs, Pipeline: `[{"$limit": 5}, {"$group": {"_id": {"a": "$a"}, "n": {"$firstN": {"input": 1, "n": {"$divide": [1, "$a"]}}}}}]`, Err: "2: can't $divide by zero"},
		{Name: "sort key", Docs: `[{"_id": 1, "a": [1], "b": [1]}]`, Pipeline: `[{"$limit": 5}, {"$group": {"_id": null, "n": {"$top": {"output": 1, "sortBy": {"a": 1, "b": 1}}}}}]`, Err: "2: cannot sort with keys that are parallel arrays"},
		{Name: "bucketAuto key", Docs: docs, Pipeline: `[{"$bucketAuto": {"groupBy": {"$divide": [1, "$a"]}, "buckets": 2}}]`, Err: "2: can't $divide by zero"},
		{Name: "bucketAuto output", Docs: docs, Pipeline: `[{"$bucketAuto": {"groupBy": "$a", "buckets": 2, "output": {"n": {"$sum": {"$divide": [1, "$a"]}}}}}]`, Err: "2: can't $divide by zero"},
		{Name: "bucketAuto of strings", Docs: `[{"_id": "x"}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2, "granularity": "R5"}}]`, Err: "40258: $bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: string"},
		{Name: "bucketAuto of nothing", Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 2}}]`, Want: `[]`},
		{Name: "bucketAuto of missing", Docs: `[{"_id": 1}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 2}}]`, Want: `[{"_id": {"min": null, "max": null}, "count": 1}]`},
	}, nil)
}
