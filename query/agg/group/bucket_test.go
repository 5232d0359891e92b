package group_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestBuckets(t *testing.T) {
	const art = `[
		{"_id": 1, "year": 1926, "price": {"$numberDecimal": "199.99"}}, {"_id": 2, "year": 1902, "price": {"$numberDecimal": "280.00"}},
		{"_id": 3, "year": 1925, "price": {"$numberDecimal": "76.04"}}, {"_id": 4, "price": {"$numberDecimal": "167.30"}}]`
	const people = `[{"_id": 1, "last": "Bernard", "born": 1868}, {"_id": 2, "last": "Rippl", "born": 1861}, {"_id": 3, "last": "Ost", "born": 1855},
		{"_id": 4, "last": "Gogh", "born": 1853}, {"_id": 5, "last": "Maurer", "born": 1851}, {"_id": 6, "last": "Munch", "born": 1863}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "bucket", Docs: people, Pipeline: `[{"$bucket": {"groupBy": "$born", "boundaries": [1840, 1850, 1860, 1870], "default": "Other",
			"output": {"count": {"$sum": 1}, "names": {"$push": "$last"}}}}]`,
			Want: `[{"_id": 1850, "count": 3, "names": ["Ost", "Gogh", "Maurer"]}, {"_id": 1860, "count": 3, "names": ["Bernard", "Rippl", "Munch"]}]`},
		{Name: "bucket default", Docs: art, Pipeline: `[{"$bucket": {"groupBy": "$year", "boundaries": [1900, 1920], "default": "Other"}}]`,
			Want: `[{"_id": 1900, "count": 1}, {"_id": "Other", "count": 3}]`},
		{Name: "bucket without default", Docs: art, Pipeline: `[{"$bucket": {"groupBy": "$year", "boundaries": [1900, 1920]}}]`, Err: "40066: $switch could not find a matching branch for an input, and no default was specified.…"},
		{Name: "bucket unsorted", Pipeline: `[{"$bucket": {"groupBy": "$x", "boundaries": [2, 1]}}]`,
			Err: "40194: The 'boundaries' option to $bucket must be sorted, but elements 0 and 1 are not in ascending order (2 is not less than 1)."},
		{Name: "bucket mixed", Pipeline: `[{"$bucket": {"groupBy": "$x", "boundaries": [1, "a"]}}]`,
			Err: "40193: All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types int and string."},
		{Name: "bucket one boundary", Pipeline: `[{"$bucket": {"groupBy": "$x", "boundaries": [1]}}]`,
			Err: "40192: The $bucket 'boundaries' field must have at least 2 values, but found 1 value(s)."},
		{Name: "bucket default inside", Pipeline: `[{"$bucket": {"groupBy": "$x", "boundaries": [1, 5], "default": 3}}]`,
			Err: "40199: The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary."},
		{Name: "bucket groupBy", Pipeline: `[{"$bucket": {"groupBy": "x", "boundaries": [1, 5]}}]`,
			Err: "40202: The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: \"x\"."},
		{Name: "bucketAuto", Docs: art, Pipeline: `[{"$bucketAuto": {"groupBy": "$price", "buckets": 2}}]`,
			Want: `[{"_id": {"min": {"$numberDecimal": "76.04"}, "max": {"$numberDecimal": "199.99"}}, "count": 2},
				{"_id": {"min": {"$numberDecimal": "199.99"}, "max": {"$numberDecimal": "280.00"}}, "count": 2}]`},
		{Name: "bucketAuto more buckets than documents", Docs: `[{"_id": 1}, {"_id": 2}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 5}}]`,
			Want: `[{"_id": {"min": 1, "max": 2}, "count": 1}, {"_id": {"min": 2, "max": 2}, "count": 1}]`},
		{Name: "bucketAuto equal values stay together", Docs: `[{"_id": 1, "x": 1}, {"_id": 2, "x": 1}, {"_id": 3, "x": 1}, {"_id": 4, "x": 2}]`,
			Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 2}}]`, Want: `[{"_id": {"min": 1, "max": 2}, "count": 3}, {"_id": {"min": 2, "max": 2}, "count": 1}]`},
		{Name: "bucketAuto granularity R20", Docs: `[{"_id": 1, "x": 0}, {"_id": 2, "x": 1}, {"_id": 3, "x": 8}, {"_id": 4, "x": 50}, {"_id": 5, "x": 99}]`,
			Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 5, "granularity": "POWERSOF2"}}]`,
			Want: `[{"_id": {"min": 0, "max": 0.5}, "count": 1}, {"_id": {"min": 0.5, "max": 2}, "count": 1}, {"_id": {"min": 2, "max": 16}, "count": 1},
				{"_id": {"min": 16, "max": 64}, "count": 1}, {"_id": {"min": 64, "max": 128}, "count": 1}]`},
		{Name: "bucketAuto E6", Docs: `[{"_id": 1, "x": 0}, {"_id": 2, "x": 1}, {"_id": 3, "x": 2}, {"_id": 4, "x": 3}]`,
			Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 2, "granularity": "E6"}}]`,
			Want:     `[{"_id": {"min": 0, "max": 1.5}, "count": 2}, {"_id": {"min": 1.5, "max": 3.3000000000000003}, "count": 2}]`}, // 33 * 0.1, as mongod forms it
		{Name: "bucketAuto positional accumulators see the input order", Docs: `[{"_id": 1, "x": 3}, {"_id": 2, "x": 1}, {"_id": 3, "x": 2}]`,
			Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 1, "output": {"f": {"$first": "$_id"}, "l": {"$last": "$_id"}}}}]`,
			Want:     `[{"_id": {"min": 1, "max": 3}, "f": 1, "l": 3}]`},
		{Name: "bucketAuto zero", Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 0}}]`, Err: "40243: The $bucketAuto 'buckets' field must be greater than 0, but found: 0"},
		{Name: "bucketAuto granularity unknown", Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 1, "granularity": "E1"}}]`, Err: "40257: Unknown rounding granularity 'E1'"},
		{Name: "bucketAuto granularity string", Docs: `[{"_id": "a"}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 1, "granularity": "E6"}}]`,
			Err: "40258: $bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: string"},
		{Name: "out in facet", Pipeline: `[{"$facet": {"a": [{"$out": "x"}]}}]`, Err: "40600: $out is not allowed to be used within a $facet stage"},
		{Name: "granularity of decimals", Docs: `[{"_id": 1, "x": {"$numberDecimal": "8.5"}}, {"_id": 2, "x": {"$numberDecimal": "120"}}]`,
			Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 2, "granularity": "R5"}}]`,
			Want: `[{"_id": {"min": {"$numberDecimal": "6.3"}, "max": {"$numberDecimal": "10"}}, "count": 1},
				{"_id": {"min": {"$numberDecimal": "10"}, "max": {"$numberDecimal": "160"}}, "count": 1}]`},
		{Name: "granularity 1-2-5", Docs: `[{"_id": 1, "x": 0.3}, {"_id": 2, "x": 7}, {"_id": 3, "x": 4000}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 3, "granularity": "1-2-5"}}]`,
			Want: `[{"_id": {"min": 0.2, "max": 0.5}, "count": 1}, {"_id": {"min": 0.5, "max": 10.0}, "count": 1}, {"_id": {"min": 10.0, "max": 5000.0}, "count": 1}]`},
		{Name: "granularity between decades", Docs: `[{"_id": 1, "x": 0.8}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$x", "buckets": 1, "granularity": "E6"}}]`,
			Want: `[{"_id": {"min": 0.68, "max": 1.0}, "count": 1}]`},
		{Name: "granularity of negative numbers", Docs: `[{"_id": -1}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 1, "granularity": "E6"}}]`,
			Err: "40260: $bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number"},
		{Name: "granularity of NaN", Docs: `[{"_id": {"$numberDouble": "NaN"}}]`, Pipeline: `[{"$bucketAuto": {"groupBy": "$_id", "buckets": 1, "granularity": "E6"}}]`,
			Err: "40259: $bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN"},
	}, nil)
}
