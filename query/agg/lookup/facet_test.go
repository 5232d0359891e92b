package lookup_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestFacet(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "facet", Docs: `[{"_id": 1, "a": 1}, {"_id": 2, "a": 5}]`,
			Pipeline: `[{"$facet": {"n": [{"$count": "n"}], "big": [{"$match": {"a": {"$gt": 2}}}], "none": [{"$match": {"a": 9}}]}}]`,
			Want:     `[{"n": [{"n": 2}], "big": [{"_id": 2, "a": 5}], "none": []}]`},
		{Name: "facet of nothing", Pipeline: `[{"$facet": {"n": [{"$count": "n"}]}}]`, Want: `[{"n": []}]`},
		{Name: "facet empty", Pipeline: `[{"$facet": {}}]`, Err: "40169: the $facet specification must be a non-empty object, but found: $facet: {}"},
		{Name: "facet not array", Pipeline: `[{"$facet": {"a": 1}}]`, Err: "40170: arguments to $facet must be arrays, a is type int"},
		{Name: "facet in facet", Pipeline: `[{"$facet": {"a": [{"$facet": {"b": []}}]}}]`, Err: "40600: $facet is not allowed to be used within a $facet stage"},
		{Name: "facet dotted", Pipeline: `[{"$facet": {"a.b": []}}]`, Err: "16412: FieldPath field names may not contain '.'. Consider using $getField or $setField."},
	}, nil)
}
