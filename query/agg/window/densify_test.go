package window_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestDensify(t *testing.T) {
	const weather = `[{"m": 1, "t": {"$date": "2021-05-18T00:00:00Z"}, "temp": 12}, {"m": 1, "t": {"$date": "2021-05-18T04:00:00Z"}, "temp": 11}]`
	const coffee = `[{"v": "A", "alt": 600, "s": 68}, {"v": "B", "alt": 750, "s": 70}, {"v": "A", "alt": 1000, "s": 75}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "dates", Docs: weather, Pipeline: `[{"$densify": {"field": "t", "range": {"step": 2, "unit": "hour", "bounds": [{"$date": "2021-05-18T00:00:00Z"}, {"$date": "2021-05-18T08:00:00Z"}]}}}]`,
			Want: `[{"m": 1, "t": {"$date": "2021-05-18T00:00:00Z"}, "temp": 12}, {"t": {"$date": "2021-05-18T02:00:00Z"}}, {"m": 1, "t": {"$date": "2021-05-18T04:00:00Z"}, "temp": 11}, {"t": {"$date": "2021-05-18T06:00:00Z"}}]`},
		{Name: "full with partitions", Docs: coffee, Pipeline: `[{"$densify": {"field": "alt", "partitionByFields": ["v"], "range": {"bounds": "full", "step": 200}}}]`,
			Want: `[{"v": "A", "alt": 600, "s": 68}, {"v": "B", "alt": 600}, {"v": "B", "alt": 750, "s": 70}, {"v": "A", "alt": 800}, {"v": "A", "alt": 1000, "s": 75}, {"v": "B", "alt": 800}, {"v": "B", "alt": 1000}]`},
		{Name: "partition", Docs: coffee, Pipeline: `[{"$densify": {"field": "alt", "partitionByFields": ["v"], "range": {"bounds": "partition", "step": 200}}}]`,
			Want: `[{"v": "A", "alt": 600, "s": 68}, {"v": "A", "alt": 800}, {"v": "A", "alt": 1000, "s": 75}, {"v": "B", "alt": 750, "s": 70}]`},
		{Name: "full", Docs: `[{"_id": 1, "x": 1}, {"_id": 2, "x": 4}, {"_id": 3, "x": 4.5}]`, Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 2}}}]`,
			Want: `[{"_id": 1, "x": 1}, {"x": 3}, {"_id": 2, "x": 4}, {"_id": 3, "x": 4.5}]`},
		{Name: "explicit around", Docs: `[{"_id": 1, "x": -5}, {"_id": 2, "x": 2}, {"_id": 3, "x": 9}]`, Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [0, 6], "step": 2}}}]`,
			Want: `[{"_id": 1, "x": -5}, {"x": 0}, {"_id": 2, "x": 2}, {"x": 4}, {"_id": 3, "x": 9}]`},
		{Name: "explicit of nothing", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [0, 3], "step": 1}}}]`, Want: `[{"x": 0}, {"x": 1}, {"x": 2}]`},
		{Name: "months", Docs: `[{"_id": 1, "t": {"$date": "2021-01-31T00:00:00Z"}}, {"_id": 2, "t": {"$date": "2021-04-01T00:00:00Z"}}]`,
			Pipeline: `[{"$densify": {"field": "t", "range": {"bounds": "full", "step": 1, "unit": "month"}}}]`,
			Want:     `[{"_id": 1, "t": {"$date": "2021-01-31T00:00:00Z"}}, {"t": {"$date": "2021-02-28T00:00:00Z"}}, {"t": {"$date": "2021-03-28T00:00:00Z"}}, {"_id": 2, "t": {"$date": "2021-04-01T00:00:00Z"}}]`},
		{Name: "null passes", Docs: `[{"_id": 1, "x": null}, {"_id": 2}]`, Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 1}}}]`, Want: `[{"_id": 1, "x": null}, {"_id": 2}]`},
		{Name: "too many", Docs: `[{"_id": 1, "x": 1}, {"_id": 2, "x": 1000000000}]`, Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 1}}}, {"$count": "n"}]`,
			Err: "5897900: Generated 500001 documents in $densify, which is over the limit of 500000. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents"},
		{Name: "step zero", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 0}}}]`, Err: "5733401: The step parameter in a range statement must be a strictly positive numeric value"},
		{Name: "bounds", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "all", "step": 1}}}]`, Err: "5946802: Bounds string must either be 'full' or 'partition'"},
		{Name: "bounds order", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [2, 1], "step": 1}}}]`, Err: "5733402: A bounding array must be an ascending array of either two dates or two numbers"},
		{Name: "bounds types", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [1, 2.5], "step": 1}}}]`, Err: "5876900: Upper bound, lower bound, and step must all have the same type"},
		{Name: "partition without fields", Pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "partition", "step": 1}}}]`,
			Err: "5733408: One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds."},
		{Name: "no range", Pipeline: `[{"$densify": {"field": "x"}}]`, Err: "40414: BSON field '$densify.range' is missing but a required field"},
	}, nil)
}

func TestDensifyCorners(t *testing.T) {
	const days = `[{"_id": 1, "p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"_id": 2, "p": "b", "t": {"$date": "2020-01-02T00:00:00Z"}}, {"_id": 3, "p": "a", "t": {"$date": "2020-01-03T00:00:00Z"}}]`
	const months = `[{"_id": 1, "p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"_id": 2, "p": "b", "t": {"$date": "2020-03-01T00:00:00Z"}}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "densify days of partitions", Docs: days, Pipeline: `[{"$densify": {"field": "t", "partitionByFields": ["p"], "range": {"step": 1, "unit": "day", "bounds": "full"}}}, {"$project": {"_id": 0}}]`,
			Want: `[{"p": "a", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-01T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-02T00:00:00Z"}},
				{"p": "a", "t": {"$date": "2020-01-02T00:00:00Z"}}, {"p": "a", "t": {"$date": "2020-01-03T00:00:00Z"}}, {"p": "b", "t": {"$date": "2020-01-03T00:00:00Z"}}]`},
		{Name: "densify months of partitions", Docs: months, Pipeline: `[{"$densify": {"field": "t", "partitionByFields": ["p"], "range": {"step": 1, "unit": "month", "bounds": "full"}}}, {"$count": "n"}]`, Want: `[{"n": 6}]`},
		{Name: "densify explicit partitions", Docs: `[{"_id": 1, "p": 1, "x": 1}, {"_id": 2, "p": 2, "x": 0}]`,
			Pipeline: `[{"$densify": {"field": "x", "partitionByFields": ["p"], "range": {"step": 1, "bounds": [0, 3]}}}, {"$project": {"_id": 0}}]`,
			Want:     `[{"p": 1, "x": 0}, {"p": 1, "x": 1}, {"p": 2, "x": 0}, {"p": 1, "x": 2}, {"p": 2, "x": 1}, {"p": 2, "x": 2}]`},
		{Name: "densify nested field", Docs: `[{"_id": 1, "a": {"x": 1}}, {"_id": 2, "a": {"x": 3}}]`, Pipeline: `[{"$densify": {"field": "a.x", "range": {"step": 1, "bounds": "full"}}}]`,
			Want: `[{"_id": 1, "a": {"x": 1}}, {"a": {"x": 2}}, {"_id": 2, "a": {"x": 3}}]`},
		{Name: "densify of strings", Docs: `[{"_id": 1, "x": "a"}]`, Pipeline: `[{"$densify": {"field": "x", "range": {"step": 1, "bounds": "full"}}}]`, Err: "5733201: Densify field type must be numeric or a date"},
		{Name: "densify of dates without unit", Docs: days, Pipeline: `[{"$densify": {"field": "t", "range": {"step": 1, "bounds": "full"}}}]`,
			Err: "6053600: Encountered date densify value in collection when step does not have a date unit."},
		{Name: "densify of numbers with unit", Docs: `[{"_id": 1}]`, Pipeline: `[{"$densify": {"field": "_id", "range": {"step": 1, "unit": "day", "bounds": "full"}}}]`,
			Err: "6053600: Encountered numeric densify value in collection when step has a date unit."},
	}, nil)
}

func TestFill(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "value", Docs: `[{"_id": 1, "a": null}, {"_id": 2, "a": 5}, {"_id": 3}]`, Pipeline: `[{"$fill": {"output": {"a": {"value": 0}}}}]`, Want: `[{"_id": 1, "a": 0}, {"_id": 2, "a": 5}, {"_id": 3, "a": 0}]`},
		{Name: "linear and locf", Docs: `[{"_id": 1, "a": 10, "b": "x"}, {"_id": 2, "a": null}, {"_id": 3, "a": 20}]`,
			Pipeline: `[{"$fill": {"sortBy": {"_id": 1}, "output": {"a": {"method": "linear"}, "b": {"method": "locf"}}}}]`,
			Want:     `[{"_id": 1, "a": 10, "b": "x"}, {"_id": 2, "a": 15.0, "b": "x"}, {"_id": 3, "a": 20, "b": "x"}]`},
		{Name: "partitions", Docs: `[{"_id": 1, "p": 1, "a": 1}, {"_id": 2, "p": 2}, {"_id": 3, "p": 1}]`,
			Pipeline: `[{"$fill": {"partitionByFields": ["p"], "sortBy": {"_id": 1}, "output": {"a": {"method": "locf"}}}}]`,
			Want:     `[{"_id": 1, "p": 1, "a": 1}, {"_id": 3, "p": 1, "a": 1}, {"_id": 2, "p": 2, "a": null}]`},
		{Name: "both", Pipeline: `[{"$fill": {"output": {"a": {"value": 1, "method": "locf"}}}}]`, Err: "6050201: Each fill output specification must have exactly one of 'method' or 'value' fields, not both"},
		{Name: "method", Pipeline: `[{"$fill": {"output": {"a": {"method": "x"}}}}]`, Err: "6050202: Method must be either locf or linear"},
		{Name: "empty", Pipeline: `[{"$fill": {"output": {}}}]`, Err: "6050203: The output field in '$fill' must contain an object with at least one element"},
		{Name: "two partitions", Pipeline: `[{"$fill": {"partitionBy": "$a", "partitionByFields": ["a"], "output": {"a": {"value": 1}}}}]`,
			Err: "6050204: Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'"},
		{Name: "not object", Pipeline: `[{"$fill": 1}]`, Err: "9: The $fill stage specification must be an object, found int"},
	}, nil)
}
