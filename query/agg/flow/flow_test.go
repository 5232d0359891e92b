package flow_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

// Documents and results of the manual's pages on the stages, and of
// jstests/aggregation/sources.

// Documents and results of the manual's pages on the stages, and of
// jstests/aggregation/sources.

const inventory = `[
	{"_id": 1, "item": "ABC", "sizes": ["S", "M", "L"]},
	{"_id": 2, "item": "EFG", "sizes": []},
	{"_id": 3, "item": "IJK", "sizes": "M"},
	{"_id": 4, "item": "LMN"},
	{"_id": 5, "item": "XYZ", "sizes": null}]`

func TestSimpleStages(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "match", Docs: inventory, Pipeline: `[{"$match": {"_id": {"$gt": 3}}}]`,
			Want: `[{"_id": 4, "item": "LMN"}, {"_id": 5, "item": "XYZ", "sizes": null}]`},
		{Name: "match not object", Pipeline: `[{"$match": 1}]`, Err: "15959: the match filter must be an expression in an object"},
		{Name: "limit", Docs: inventory, Pipeline: `[{"$limit": 1}, {"$project": {"item": 1}}]`, Want: `[{"_id": 1, "item": "ABC"}]`},
		{Name: "limit double", Docs: inventory, Pipeline: `[{"$limit": 1.0}, {"$project": {"item": 1, "_id": 0}}]`, Want: `[{"item": "ABC"}]`},
		{Name: "limit zero", Pipeline: `[{"$limit": 0}]`, Err: "15958: the limit must be positive"},
		{Name: "limit negative", Pipeline: `[{"$limit": -1}]`, Err: "5107201: invalid argument to $limit stage :: caused by :: Expected a non-negative number in: -1"},
		{Name: "limit string", Pipeline: `[{"$limit": "x"}]`, Err: "5107201: invalid argument to $limit stage :: caused by :: Expected a number in: \"x\""},
		{Name: "skip", Docs: inventory, Pipeline: `[{"$skip": 3}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 4}, {"_id": 5}]`},
		{Name: "skip past the end", Docs: inventory, Pipeline: `[{"$skip": 30}]`, Want: `[]`},
		{Name: "skip fraction", Pipeline: `[{"$skip": 1.5}]`, Err: "5107200: invalid argument to $skip stage :: caused by :: Expected an integer: 1.5"},
		{Name: "replaceRoot", Docs: `[{"_id": 1, "n": {"f": "A"}}]`, Pipeline: `[{"$replaceRoot": {"newRoot": "$n"}}]`, Want: `[{"f": "A"}]`},
		{Name: "replaceWith merge", Docs: `[{"_id": 1, "n": {"f": "A"}}]`,
			Pipeline: `[{"$replaceWith": {"$mergeObjects": [{"x": 1}, "$n"]}}]`, Want: `[{"x": 1, "f": "A"}]`},
		{Name: "replaceRoot missing", Docs: `[{"_id": 1}]`, Pipeline: `[{"$replaceRoot": {"newRoot": "$n"}}]`,
			Err: "40228: 'newRoot' expression  must evaluate to an object, but resulting value was: MISSING. Type of resulting value: 'missing'. Input document: {_id: 1}"},
		{Name: "replaceRoot no newRoot", Pipeline: `[{"$replaceRoot": {}}]`, Err: "40414: BSON field '$replaceRoot.newRoot' is missing but a required field"},
		{Name: "replaceRoot not object", Pipeline: `[{"$replaceRoot": 1}]`, Err: "40229: expected an object as specification for $replaceRoot stage, got int"},
		{Name: "addFields", Docs: `[{"_id": 1, "a": [1, 2], "b": 5}]`, Pipeline: `[{"$addFields": {"total": {"$sum": "$a"}}}, {"$set": {"all": {"$add": ["$total", "$b"]}}}]`,
			Want: `[{"_id": 1, "a": [1, 2], "b": 5, "total": 3, "all": 8}]`},
		{Name: "addFields not object", Pipeline: `[{"$addFields": 1}]`, Err: "40272: $addFields specification stage must be an object, got int"},
		{Name: "set not object", Pipeline: `[{"$set": "x"}]`, Err: "40272: $set specification stage must be an object, got string"},
		{Name: "unset", Docs: `[{"_id": 1, "a": 1, "b": {"c": 2, "d": 3}}]`, Pipeline: `[{"$unset": ["a", "b.c"]}]`, Want: `[{"_id": 1, "b": {"d": 3}}]`},
		{Name: "unset one", Docs: `[{"_id": 1, "a": 1}]`, Pipeline: `[{"$unset": "a"}]`, Want: `[{"_id": 1}]`},
		{Name: "unset number", Pipeline: `[{"$unset": 1}]`, Err: "31002: $unset specification must be a string or an array"},
		{Name: "unset empty", Pipeline: `[{"$unset": []}]`, Err: "31119: $unset specification must be a string or an array with at least one field"},
		{Name: "unset mixed", Pipeline: `[{"$unset": ["a", 1]}]`, Err: "31120: $unset specification must be a string or an array containing only string values"},
		{Name: "project not object", Pipeline: `[{"$project": 1}]`, Err: "15969: $project specification must be an object"},
		{Name: "project empty", Pipeline: `[{"$project": {}}]`, Err: "51272: Invalid $project :: caused by :: projection specification must have at least one field"},
		{Name: "documents", Pipeline: `[{"$match": {}}]`, Docs: `[{"_id": 1}]`, Want: `[{"_id": 1}]`},
		{Name: "redact", Docs: `[{"_id": 1, "tags": ["G", "STLW"], "sub": [{"s": "1", "tags": ["SI", "G"]}, {"s": "2", "tags": ["X"]}], "n": 1}]`,
			Pipeline: `[{"$redact": {"$cond": {"if": {"$gt": [{"$size": {"$setIntersection": ["$tags", ["STLW", "G"]]}}, 0]}, "then": "$$DESCEND", "else": "$$PRUNE"}}}]`,
			Want:     `[{"_id": 1, "tags": ["G", "STLW"], "sub": [{"s": "1", "tags": ["SI", "G"]}], "n": 1}]`},
		{Name: "redact root", Docs: `[{"_id": 1, "l": 5, "a": {"l": 1}}]`,
			Pipeline: `[{"$redact": {"$cond": [{"$eq": ["$$ROOT.l", 5]}, "$$DESCEND", "$$PRUNE"]}}]`, Want: `[{"_id": 1, "l": 5, "a": {"l": 1}}]`},
		{Name: "redact wrong", Docs: `[{"_id": 1}]`, Pipeline: `[{"$redact": 5}]`,
			Err: "17053: $redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned 5"},
		{Name: "sample", Docs: `[{"_id": 1}]`, Pipeline: `[{"$sample": {"size": 3}}]`, Want: `[{"_id": 1}]`},
		{Name: "sample not object", Pipeline: `[{"$sample": 1}]`, Err: "28745: the $sample stage specification must be an object"},
		{Name: "sample string", Pipeline: `[{"$sample": {"size": "x"}}]`, Err: "28746: size argument to $sample must be a number"},
		{Name: "sample negative", Pipeline: `[{"$sample": {"size": -1}}]`, Err: "28747: size argument to $sample must be a positive integer"},
		{Name: "sample unknown", Pipeline: `[{"$sample": {"sizes": 1}}]`, Err: "28748: unrecognized option to $sample: sizes"},
		{Name: "sample empty", Pipeline: `[{"$sample": {}}]`, Err: "28749: $sample stage must specify a size"},
		{Name: "sample leaves no more than asked", Docs: `[{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]`, Pipeline: `[{"$sample": {"size": 2}}, {"$count": "n"}]`, Want: `[{"n": 2}]`},
	}, nil)
}

func TestUnwind(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "plain", Docs: inventory, Pipeline: `[{"$unwind": "$sizes"}]`,
			Want: `[{"_id": 1, "item": "ABC", "sizes": "S"}, {"_id": 1, "item": "ABC", "sizes": "M"}, {"_id": 1, "item": "ABC", "sizes": "L"}, {"_id": 3, "item": "IJK", "sizes": "M"}]`},
		{Name: "preserve", Docs: inventory, Pipeline: `[{"$unwind": {"path": "$sizes", "preserveNullAndEmptyArrays": true}}]`,
			Want: `[{"_id": 1, "item": "ABC", "sizes": "S"}, {"_id": 1, "item": "ABC", "sizes": "M"}, {"_id": 1, "item": "ABC", "sizes": "L"},
				{"_id": 2, "item": "EFG"}, {"_id": 3, "item": "IJK", "sizes": "M"}, {"_id": 4, "item": "LMN"}, {"_id": 5, "item": "XYZ", "sizes": null}]`},
		{Name: "index", Docs: inventory, Pipeline: `[{"$unwind": {"path": "$sizes", "includeArrayIndex": "i"}}]`,
			Want: `[{"_id": 1, "item": "ABC", "sizes": "S", "i": {"$numberLong": "0"}}, {"_id": 1, "item": "ABC", "sizes": "M", "i": {"$numberLong": "1"}},
				{"_id": 1, "item": "ABC", "sizes": "L", "i": {"$numberLong": "2"}}, {"_id": 3, "item": "IJK", "sizes": "M", "i": null}]`},
		{Name: "nested", Docs: `[{"_id": 1, "a": {"b": [1, 2], "c": 0}}]`, Pipeline: `[{"$unwind": "$a.b"}]`,
			Want: `[{"_id": 1, "a": {"b": 1, "c": 0}}, {"_id": 1, "a": {"b": 2, "c": 0}}]`},
		{Name: "through array", Docs: `[{"_id": 1, "a": [{"b": [1]}]}]`, Pipeline: `[{"$unwind": "$a.b"}]`, Want: `[]`},
		{Name: "number", Pipeline: `[{"$unwind": 1}]`, Err: "15981: expected either a string or an object as specification for $unwind stage, got int"},
		{Name: "no dollar", Pipeline: `[{"$unwind": "a"}]`, Err: "28818: path option to $unwind stage should be prefixed with a '$': a"},
		{Name: "no path", Pipeline: `[{"$unwind": {}}]`, Err: "28812: no path specified to $unwind stage"},
		{Name: "path number", Pipeline: `[{"$unwind": {"path": 1}}]`, Err: "28808: expected a string as the path for $unwind stage, got int"},
		{Name: "preserve number", Pipeline: `[{"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": 1}}]`,
			Err: "28809: expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got int"},
		{Name: "index dollar", Pipeline: `[{"$unwind": {"path": "$a", "includeArrayIndex": "$i"}}]`,
			Err: "28822: includeArrayIndex option to $unwind stage should not be prefixed with a '$': $i"},
		{Name: "unknown", Pipeline: `[{"$unwind": {"path": "$a", "x": 1}}]`, Err: "28811: unrecognized option to $unwind stage: x"},
	}, nil)
}
