package lookup_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestGraphLookupAndUnion(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "hierarchy", Docs: `[{"_id": 1, "name": "Asya", "boss": "Ron"}]`,
			Pipeline: `[{"$graphLookup": {"from": "employees", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "h", "depthField": "d"}}]`,
			Want: `[{"_id": 1, "name": "Asya", "boss": "Ron", "h": [{"_id": 3, "name": "Ron", "boss": "Eliot", "d": {"$numberLong": "0"}},
				{"_id": 2, "name": "Eliot", "boss": "Dev", "d": {"$numberLong": "1"}}, {"_id": 1, "name": "Dev", "d": {"$numberLong": "2"}}]}]`},
		{Name: "maxDepth", Docs: `[{"_id": 1, "boss": "Ron"}]`,
			Pipeline: `[{"$graphLookup": {"from": "employees", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "h", "maxDepth": 0}}, {"$project": {"h": "$h._id"}}]`, Want: `[{"_id": 1, "h": [3]}]`},
		{Name: "cycle and arrays", Docs: `[{"_id": 1}]`,
			Pipeline: `[{"$graphLookup": {"from": "loop", "startWith": 1, "connectFromField": "to", "connectToField": "_id", "as": "h"}}, {"$project": {"h": "$h._id"}}]`, Want: `[{"_id": 1, "h": [1, 2, 3]}]`},
		{Name: "restrict", Docs: `[{"_id": 1}]`,
			Pipeline: `[{"$graphLookup": {"from": "loop", "startWith": [1, 2], "connectFromField": "to", "connectToField": "_id", "as": "h", "restrictSearchWithMatch": {"_id": {"$ne": 2}}}}, {"$project": {"h": "$h._id"}}]`,
			Want:     `[{"_id": 1, "h": [1]}]`},
		{Name: "missing", Pipeline: `[{"$graphLookup": {"from": "x"}}]`, Err: "40105: $graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified."},
		{Name: "maxDepth negative", Pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": -1}}]`, Err: "40101: maxDepth requires a nonnegative argument, found: -1"},
		{Name: "maxDepth string", Pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": "x"}}]`, Err: "40100: maxDepth must be numeric, found type: string"},
		{Name: "maxDepth fraction", Pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": 1.5}}]`, Err: "40102: maxDepth could not be represented as a long long: 1"},
		{Name: "restrict not object", Pipeline: `[{"$graphLookup": {"from": "c", "restrictSearchWithMatch": 1}}]`, Err: "40185: restrictSearchWithMatch must be an object, found int"},
		{Name: "as number", Pipeline: `[{"$graphLookup": {"from": "c", "as": 1}}]`, Err: "40103: expected string as argument for as, found: int"},
		{Name: "unknown", Pipeline: `[{"$graphLookup": {"from": "c", "foo": 1}}]`, Err: "40104: Unknown argument to $graphLookup: foo"},
		{Name: "union", Docs: `[{"_id": 1}]`, Pipeline: `[{"$unionWith": {"coll": "warehouses", "pipeline": [{"$project": {"w": 1}}]}}]`,
			Want: `[{"_id": 1}, {"_id": 1, "w": "A"}, {"_id": 2, "w": "A"}, {"_id": 3, "w": "B"}]`},
		{Name: "union string", Docs: `[{"_id": 0}]`, Pipeline: `[{"$unionWith": "loop"}, {"$group": {"_id": null, "n": {"$sum": 1}}}]`, Want: `[{"_id": null, "n": 4}]`},
		{Name: "union documents", Docs: `[{"_id": 0}]`, Pipeline: `[{"$unionWith": {"pipeline": [{"$documents": [{"x": 1}]}]}}]`, Want: `[{"_id": 0}, {"x": 1}]`},
		{Name: "union number", Pipeline: `[{"$unionWith": 1}]`, Err: "9: the $unionWith stage specification must be an object or string, but found int"},
		{Name: "union out", Pipeline: `[{"$unionWith": {"coll": "x", "pipeline": [{"$out": "y"}]}}]`, Err: "31441: $out is not allowed within a $unionWith's sub-pipeline"},
		{Name: "union unknown", Pipeline: `[{"$unionWith": {"coll": "x", "foo": 1}}]`, Err: "40415: BSON field '$unionWith.foo' is an unknown field."},
	}, aggtest.WithJoins(t))
}
