package lookup_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestFacet(t *testing.T) {
	const art = `[
		{"_id": 1, "year": 1926, "price": {"$numberDecimal": "199.99"}}, {"_id": 2, "year": 1902, "price": {"$numberDecimal": "280.00"}},
		{"_id": 3, "year": 1925, "price": {"$numberDecimal": "76.04"}}, {"_id": 4, "price": {"$numberDecimal": "167.30"}}]`
	const people = `[{"_id": 1, "last": "Bernard", "born": 1868}, {"_id": 2, "last": "Rippl", "born": 1861}, {"_id": 3, "last": "Ost", "born": 1855},
		{"_id": 4, "last": "Gogh", "born": 1853}, {"_id": 5, "last": "Maurer", "born": 1851}, {"_id": 6, "last": "Munch", "born": 1863}]`
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
