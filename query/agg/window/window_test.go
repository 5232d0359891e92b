package window_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/value"
)

const scores = `[
	{"_id": 1, "g": "G1", "p": "PlayerA", "s": 31}, {"_id": 2, "g": "G1", "p": "PlayerB", "s": 33}, {"_id": 3, "g": "G1", "p": "PlayerC", "s": 99},
	{"_id": 4, "g": "G1", "p": "PlayerD", "s": 1}, {"_id": 5, "g": "G2", "p": "PlayerA", "s": 10}, {"_id": 6, "g": "G2", "p": "PlayerB", "s": 14},
	{"_id": 7, "g": "G2", "p": "PlayerC", "s": 66}, {"_id": 8, "g": "G2", "p": "PlayerD", "s": 80}]`

const cakes = `[
	{"_id": 0, "type": "chocolate", "date": {"$date": "2020-05-18T14:10:30Z"}, "state": "CA", "price": 13, "q": 120},
	{"_id": 1, "type": "chocolate", "date": {"$date": "2021-03-20T11:30:05Z"}, "state": "WA", "price": 14, "q": 140},
	{"_id": 2, "type": "vanilla", "date": {"$date": "2021-01-11T06:31:15Z"}, "state": "CA", "price": 12, "q": 145},
	{"_id": 3, "type": "vanilla", "date": {"$date": "2020-02-08T13:13:23Z"}, "state": "WA", "price": 13, "q": 104},
	{"_id": 4, "type": "strawberry", "date": {"$date": "2019-05-18T16:09:01Z"}, "state": "CA", "price": 41, "q": 162},
	{"_id": 5, "type": "strawberry", "date": {"$date": "2019-01-08T06:12:03Z"}, "state": "WA", "price": 43, "q": 134}]`

// windowTest is a test of one output over the cakes of the manual.
func windowTest(name, spec, want string) aggtest.Case {
	return aggtest.Case{Name: name, Docs: cakes, Pipeline: `[{"$setWindowFields": ` + spec + `}, {"$project": {"r": 1}}]`, Want: want}
}

func windowError(name, spec, err string) aggtest.Case {
	return aggtest.Case{Name: name, Docs: cakes, Pipeline: `[{"$setWindowFields": ` + spec + `}]`, Err: err}
}

func TestWindowBounds(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		windowTest("cumulative by partition", `{"partitionBy": "$state", "sortBy": {"date": 1}, "output": {"r": {"$sum": "$q", "window": {"documents": ["unbounded", "current"]}}}}`,
			`[{"_id": 4, "r": 162}, {"_id": 0, "r": 282}, {"_id": 2, "r": 427}, {"_id": 5, "r": 134}, {"_id": 3, "r": 238}, {"_id": 1, "r": 378}]`),
		windowTest("partition by expression", `{"partitionBy": {"$year": "$date"}, "sortBy": {"date": 1}, "output": {"r": {"$avg": "$q", "window": {"documents": [-1, 0]}}}}`,
			`[{"_id": 5, "r": 134.0}, {"_id": 4, "r": 148.0}, {"_id": 3, "r": 104.0}, {"_id": 0, "r": 112.0}, {"_id": 2, "r": 145.0}, {"_id": 1, "r": 142.5}]`),
		windowTest("range of numbers", `{"partitionBy": "$state", "sortBy": {"price": 1}, "output": {"r": {"$sum": "$q", "window": {"range": [-10, 10]}}}}`,
			`[{"_id": 2, "r": 265}, {"_id": 0, "r": 265}, {"_id": 4, "r": 162}, {"_id": 3, "r": 244}, {"_id": 1, "r": 244}, {"_id": 5, "r": 134}]`),
		windowTest("range of time", `{"partitionBy": "$state", "sortBy": {"date": 1}, "output": {"r": {"$push": "$_id", "window": {"range": ["unbounded", 10], "unit": "month"}}}}`,
			`[{"_id": 4, "r": [4]}, {"_id": 0, "r": [4, 0, 2]}, {"_id": 2, "r": [4, 0, 2]}, {"_id": 5, "r": [5]}, {"_id": 3, "r": [5, 3]}, {"_id": 1, "r": [5, 3, 1]}]`),
		windowTest("whole partition", `{"partitionBy": "$state", "output": {"r": {"$max": "$q"}}}`,
			`[{"_id": 0, "r": 162}, {"_id": 2, "r": 162}, {"_id": 4, "r": 162}, {"_id": 1, "r": 140}, {"_id": 3, "r": 140}, {"_id": 5, "r": 140}]`),
		windowTest("ahead", `{"sortBy": {"_id": 1}, "output": {"r": {"$push": "$_id", "window": {"documents": [1, 2]}}}}`,
			`[{"_id": 0, "r": [1, 2]}, {"_id": 1, "r": [2, 3]}, {"_id": 2, "r": [3, 4]}, {"_id": 3, "r": [4, 5]}, {"_id": 4, "r": [5]}, {"_id": 5, "r": []}]`),
		windowTest("behind", `{"sortBy": {"_id": 1}, "output": {"r": {"$sum": "$_id", "window": {"documents": ["unbounded", -1]}}}}`,
			`[{"_id": 0, "r": 0}, {"_id": 1, "r": 0}, {"_id": 2, "r": 1}, {"_id": 3, "r": 3}, {"_id": 4, "r": 6}, {"_id": 5, "r": 10}]`),
		{Name: "nested output", Docs: `[{"_id": 1, "a": {"b": 1}}]`, Pipeline: `[{"$setWindowFields": {"output": {"a.c": {"$count": {}}}}}]`, Want: `[{"_id": 1, "a": {"b": 1, "c": 1}}]`},
		windowError("array partition", `{"partitionBy": {"$literal": [1]}, "output": {"r": {"$sum": 1}}}`, "14: An expression used to partition cannot evaluate to value of type array"),
		windowError("unknown function", `{"output": {"r": {"$summ": 1}}}`, "9: Unrecognized window function, $summ"),
		windowError("no function", `{"output": {"r": {"window": {}}}}`, "9: Expected a $-prefixed window function, window"),
		windowError("two functions", `{"output": {"r": {"$sum": 1, "$avg": 1}}}`, "9: Cannot specify two functions in window function spec"),
		windowError("unknown argument", `{"output": {"r": {"$sum": 1, "x": 1}}}`, "9: Window function found an unknown argument: x"),
		windowError("unknown argument of first", `{"output": {"r": {"$first": 1, "x": 1}}}`, "9: $first got unexpected argument: x"),
		windowError("bounds order", `{"sortBy": {"_id": 1}, "output": {"r": {"$sum": 1, "window": {"documents": [1, -1]}}}}`, "5339900: Lower bound must not exceed upper bound: [1, -1]"),
		windowError("documents without sortBy", `{"output": {"r": {"$sum": 1, "window": {"documents": [-1, 0]}}}}`, "5339901: Document-based bounds require a sortBy"),
		windowError("nothing to sort by", `{"sortBy": {}, "output": {"r": {"$sum": 1}}}`, "15976: $sort stage must have at least one sort key"),
		windowError("rank and nothing to sort by", `{"sortBy": {}, "output": {"r": {"$rank": {}}}}`, "5371602: $rank must be specified with a top level sortBy expression with exactly one element"),
		windowError("range with two sort fields", `{"sortBy": {"a": 1, "b": 1}, "output": {"r": {"$sum": 1, "window": {"range": [-1, 0]}}}}`, "5339902: Range-based bounds require sortBy a single field"),
		windowError("range descending", `{"sortBy": {"a": -1}, "output": {"r": {"$sum": 1, "window": {"range": [-1, 0]}}}}`, "8947401: Range-based bounds require an ascending sortBy"),
		windowError("fraction of documents", `{"sortBy": {"a": 1}, "output": {"r": {"$sum": 1, "window": {"documents": [-1.5, 0]}}}}`, "9: Numeric document-based bounds must be an integer"),
		windowError("dates without unit", `{"sortBy": {"date": 1}, "output": {"r": {"$sum": 1, "window": {"range": [-1, 0]}}}}`,
			"5429413: Invalid range: For windows that involve date or time ranges, a unit must be provided."),
		windowError("unit without dates", `{"sortBy": {"_id": 1}, "output": {"r": {"$sum": 1, "window": {"range": [-1, 0], "unit": "day"}}}}`,
			"5429513: Invalid range: Expected the sortBy field to be a Date, but it was int"),
		windowError("not a number", `{"sortBy": {"type": 1}, "output": {"r": {"$sum": 1, "window": {"range": [-1, 0]}}}}`,
			"5429414: Invalid range: Expected the sortBy field to be a number, but it was string"),
		windowError("conflicting outputs", `{"output": {"a": {"$sum": 1}, "a.b": {"$sum": 1}}}`, "6307900: $setWindowFields 'output' specification contains two conflicting paths"),
		windowError("unknown field", `{"foo": 1, "output": {}}`, "40415: BSON field '$setWindowFields.foo' is an unknown field."),
		windowError("no output", `{}`, "40414: BSON field '$setWindowFields.output' is missing but a required field"),
		windowError("bad bound", `{"sortBy": {"a": 1}, "output": {"r": {"$sum": 1, "window": {"documents": ["x", 0]}}}}`, "9: Window bounds must be 'unbounded', 'current', or a number."),
	}, nil)
}

func TestWindowOperators(t *testing.T) {
	const by = `"sortBy": {"_id": 1}, `
	plain := func(name, docs, spec, want string) aggtest.Case {
		return aggtest.Case{Name: name, Docs: docs, Pipeline: `[{"$setWindowFields": ` + spec + `}, {"$project": {"r": 1}}]`, Want: want}
	}
	const series = `[{"_id": 1, "v": 1}, {"_id": 2, "v": 4}, {"_id": 3}, {"_id": 4, "v": 7}]`
	const stock = `[{"_id": 1, "d": 1, "p": 13.0}, {"_id": 2, "d": 2, "p": 15.4}, {"_id": 3, "d": 3, "p": 12.0}, {"_id": 4, "d": 4, "p": 11.7}]`
	const trucks = `[
		{"_id": 1, "t": {"$date": "2020-05-18T14:10:30Z"}, "miles": 1295.1}, {"_id": 2, "t": {"$date": "2020-05-18T14:11:00Z"}, "miles": 1295.63},
		{"_id": 3, "t": {"$date": "2020-05-18T14:11:30Z"}, "miles": 1296.25}, {"_id": 4, "t": {"$date": "2020-05-18T14:12:00Z"}, "miles": 1296.76}]`
	aggtest.RunCases(t, []aggtest.Case{
		plain("rank", cakes, `{"partitionBy": "$type", "sortBy": {"q": -1}, "output": {"r": {"$rank": {}}}}`,
			`[{"_id": 1, "r": 1}, {"_id": 0, "r": 2}, {"_id": 4, "r": 1}, {"_id": 5, "r": 2}, {"_id": 2, "r": 1}, {"_id": 3, "r": 2}]`),
		plain("no field to sort by", `[{"_id": 1, "v": 5}]`, `{"partitionBy": "$v", "sortBy": {}, "output": {"r": {"$sum": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": 5}]`),
		plain("null for sortBy", `[{"_id": 1, "v": 5}]`, `{"sortBy": null, "output": {"r": {"$sum": "$v"}}}`, `[{"_id": 1, "r": 5}]`),
		plain("rank and ties", `[{"_id": 1, "x": 5}, {"_id": 2, "x": 5}, {"_id": 3, "x": 6}]`, `{"sortBy": {"x": 1}, "output": {"r": {"$rank": {}}}}`,
			`[{"_id": 1, "r": 1}, {"_id": 2, "r": 1}, {"_id": 3, "r": 3}]`),
		plain("denseRank", `[{"_id": 1, "x": 5}, {"_id": 2, "x": 5}, {"_id": 3, "x": 6}]`, `{"sortBy": {"x": 1}, "output": {"r": {"$denseRank": {}}}}`,
			`[{"_id": 1, "r": 1}, {"_id": 2, "r": 1}, {"_id": 3, "r": 2}]`),
		plain("documentNumber", `[{"_id": 1, "x": 5}, {"_id": 2, "x": 5}]`, `{"sortBy": {"x": 1}, "output": {"r": {"$documentNumber": {}}}}`,
			`[{"_id": 1, "r": 1}, {"_id": 2, "r": 2}]`),
		plain("shift", series, `{`+by+`"output": {"r": {"$shift": {"output": "$v", "by": 1, "default": "none"}}}}`,
			`[{"_id": 1, "r": 4}, {"_id": 2, "r": null}, {"_id": 3, "r": 7}, {"_id": 4, "r": "none"}]`),
		plain("shift back", series, `{`+by+`"output": {"r": {"$shift": {"output": "$v", "by": -1}}}}`, `[{"_id": 1, "r": null}, {"_id": 2, "r": 1}, {"_id": 3, "r": 4}, {"_id": 4, "r": null}]`),
		plain("first and last", series, `{`+by+`"output": {"r": {"$first": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": 1}, {"_id": 2, "r": 1}, {"_id": 3, "r": 4}, {"_id": 4, "r": null}]`),
		plain("last ahead", series, `{`+by+`"output": {"r": {"$last": "$v", "window": {"documents": [1, 1]}}}}`, `[{"_id": 1, "r": 4}, {"_id": 2, "r": null}, {"_id": 3, "r": 7}, {"_id": 4, "r": null}]`),
		plain("locf", series, `{`+by+`"output": {"r": {"$locf": "$v"}}}`, `[{"_id": 1, "r": 1}, {"_id": 2, "r": 4}, {"_id": 3, "r": 4}, {"_id": 4, "r": 7}]`),
		plain("linearFill", `[{"_id": 1, "x": 0, "v": 500}, {"_id": 2, "x": 1}, {"_id": 3, "x": 2, "v": 515}, {"_id": 4, "x": 3}, {"_id": 5, "x": 4}, {"_id": 6, "x": 5, "v": 485}, {"_id": 7, "x": 6}]`,
			`{"sortBy": {"x": 1}, "output": {"r": {"$linearFill": "$v"}}}`,
			`[{"_id": 1, "r": 500}, {"_id": 2, "r": 507.5}, {"_id": 3, "r": 515}, {"_id": 4, "r": 505.0}, {"_id": 5, "r": 495.0}, {"_id": 6, "r": 485}, {"_id": 7, "r": null}]`),
		plain("expMovingAvg N", stock, `{"sortBy": {"d": 1}, "output": {"r": {"$expMovingAvg": {"input": "$p", "N": 2}}}}`,
			`[{"_id": 1, "r": 13.0}, {"_id": 2, "r": 14.6}, {"_id": 3, "r": 12.866666666666667}, {"_id": 4, "r": 12.088888888888889}]`),
		plain("expMovingAvg alpha", stock, `{"sortBy": {"d": 1}, "output": {"r": {"$expMovingAvg": {"input": "$p", "alpha": 0.75}}}}`,
			`[{"_id": 1, "r": 13.0}, {"_id": 2, "r": 14.8}, {"_id": 3, "r": 12.7}, {"_id": 4, "r": 11.95}]`),
		plain("derivative", trucks, `{"sortBy": {"t": 1}, "output": {"r": {"$derivative": {"input": "$miles", "unit": "hour"}, "window": {"range": [-30, 0], "unit": "second"}}}}`,
			`[{"_id": 1, "r": null}, {"_id": 2, "r": 63.60000000002401}, {"_id": 3, "r": 74.3999999999869}, {"_id": 4, "r": 61.199999999998916}]`),
		plain("derivative of numbers", `[{"_id": 1, "y": 10}, {"_id": 3, "y": 20}]`, `{`+by+`"output": {"r": {"$derivative": {"input": "$y"}, "window": {"documents": [-1, 0]}}}}`,
			`[{"_id": 1, "r": null}, {"_id": 3, "r": 5.0}]`),
		plain("integral", `[{"_id": 1, "t": {"$date": "2020-05-18T14:10:30Z"}, "k": 2}, {"_id": 2, "t": {"$date": "2020-05-18T15:10:30Z"}, "k": 4}, {"_id": 3, "t": {"$date": "2020-05-18T16:10:30Z"}, "k": 4}]`,
			`{"sortBy": {"t": 1}, "output": {"r": {"$integral": {"input": "$k", "unit": "hour"}, "window": {"range": ["unbounded", "current"], "unit": "hour"}}}}`,
			`[{"_id": 1, "r": 0.0}, {"_id": 2, "r": 3.0}, {"_id": 3, "r": 7.0}]`),
		plain("covariancePop", `[{"_id": 1, "y": 1}, {"_id": 2, "y": 3}, {"_id": 3, "y": 8}]`, `{`+by+`"output": {"r": {"$covariancePop": ["$_id", "$y"], "window": {"documents": ["unbounded", "current"]}}}}`,
			`[{"_id": 1, "r": 0.0}, {"_id": 2, "r": 0.5}, {"_id": 3, "r": 2.3333333333333335}]`),
		plain("covarianceSamp", `[{"_id": 1, "y": 1}, {"_id": 2, "y": 3}]`, `{`+by+`"output": {"r": {"$covarianceSamp": ["$_id", "$y"], "window": {"documents": ["unbounded", "current"]}}}}`,
			`[{"_id": 1, "r": null}, {"_id": 2, "r": 1.0}]`),
		plain("sliding stdDev", series, `{`+by+`"output": {"r": {"$stdDevPop": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": 0}, {"_id": 2, "r": 1.5}, {"_id": 3, "r": 0}, {"_id": 4, "r": 0}]`),
		plain("sliding stdDev and infinity", `[{"_id": 1, "v": {"$numberDouble": "Infinity"}}, {"_id": 2, "v": 10}, {"_id": 3, "v": 20}, {"_id": 4, "v": 30}]`, `{`+by+`"output": {"r": {"$stdDevPop": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": null}, {"_id": 2, "r": null}, {"_id": 3, "r": 5.0}, {"_id": 4, "r": 5.0}]`),
		plain("stdDev from here on", `[{"_id": 1, "v": 10}, {"_id": 2, "v": 20}, {"_id": 3, "v": 30}]`, `{`+by+`"output": {"r": {"$stdDevPop": "$v", "window": {"documents": ["current", "unbounded"]}}}}`, `[{"_id": 1, "r": 8.16496580927726}, {"_id": 2, "r": 5.0}, {"_id": 3, "r": 0}]`),
		plain("covariance of decimals", `[{"_id": 1, "x": {"$numberDecimal": "1"}, "y": 2}, {"_id": 2, "x": 2.0, "y": {"$numberDecimal": "4"}}, {"_id": 3, "x": {"$numberDecimal": "3"}, "y": 6}]`,
			`{`+by+`"output": {"r": {"$covariancePop": ["$x", "$y"]}}}`, `[{"_id": 1, "r": {"$numberDecimal": "1.333333333333333333333333333333333"}}, {"_id": 2, "r": {"$numberDecimal": "1.333333333333333333333333333333333"}}, {"_id": 3, "r": {"$numberDecimal": "1.333333333333333333333333333333333"}}]`),
		plain("covariance of equal decimals", `[{"_id": 1, "x": {"$numberDecimal": "42.5"}, "y": {"$numberDecimal": "99.9"}}, {"_id": 2, "x": {"$numberDecimal": "42.5"}, "y": {"$numberDecimal": "99.9"}}]`,
			`{`+by+`"output": {"r": {"$covarianceSamp": ["$x", "$y"], "window": {"documents": ["unbounded", "unbounded"]}}}}`, `[{"_id": 1, "r": {"$numberDecimal": "0E+12"}}, {"_id": 2, "r": {"$numberDecimal": "0E+12"}}]`),
		plain("sliding covariance and infinity", `[{"_id": 1, "x": {"$numberDouble": "Infinity"}, "y": 10}, {"_id": 2, "x": 2, "y": 20}, {"_id": 3, "x": 3, "y": 30}]`,
			`{`+by+`"output": {"r": {"$covariancePop": ["$x", "$y"], "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": null}, {"_id": 2, "r": 0.0}, {"_id": 3, "r": 2.5}]`),
		plain("sliding covariance, from which an infinity goes", `[{"_id": 1, "x": 1, "y": 10}, {"_id": 2, "x": 2, "y": 20}, {"_id": 3, "x": {"$numberDouble": "Infinity"}, "y": 30}, {"_id": 4, "x": 4, "y": 40}, {"_id": 5, "x": 5, "y": 50}]`,
			`{`+by+`"output": {"r": {"$covariancePop": ["$x", "$y"], "window": {"documents": [-1, 1]}}}}`,
			`[{"_id": 1, "r": 2.5}, {"_id": 2, "r": {"$numberDouble": "Infinity"}}, {"_id": 3, "r": {"$numberDouble": "Infinity"}}, {"_id": 4, "r": {"$numberDouble": "Infinity"}}, {"_id": 5, "r": 2.5000000000000107}]`),
		plain("covariance and infinity", `[{"_id": 1, "x": {"$numberDouble": "Infinity"}, "y": 10}, {"_id": 2, "x": 2, "y": 20}, {"_id": 3, "x": 3, "y": 30}]`,
			`{`+by+`"output": {"r": {"$covariancePop": ["$x", "$y"], "window": {"documents": ["unbounded", "current"]}}}}`, `[{"_id": 1, "r": null}, {"_id": 2, "r": 0.0}, {"_id": 3, "r": {"$numberDouble": "Infinity"}}]`),
		plain("sliding min", series, `{`+by+`"output": {"r": {"$min": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": 1}, {"_id": 2, "r": 1}, {"_id": 3, "r": 4}, {"_id": 4, "r": 7}]`),
		plain("sliding sum of doubles", `[{"_id": 1, "v": 0.5}, {"_id": 2, "v": 2}, {"_id": 3, "v": 3}]`, `{`+by+`"output": {"r": {"$sum": "$v", "window": {"documents": [-1, 0]}}}}`, `[{"_id": 1, "r": 0.5}, {"_id": 2, "r": 2.5}, {"_id": 3, "r": 5}]`),
		plain("count", series, `{`+by+`"output": {"r": {"$count": {}, "window": {"documents": [-1, 1]}}}}`, `[{"_id": 1, "r": 2}, {"_id": 2, "r": 3}, {"_id": 3, "r": 3}, {"_id": 4, "r": 2}]`),
		plain("topN", scores, `{"partitionBy": "$g", "sortBy": {"_id": 1}, "output": {"r": {"$topN": {"output": "$s", "sortBy": {"s": -1}, "n": 1}, "window": {"documents": ["unbounded", "current"]}}}}`,
			`[{"_id": 1, "r": [31]}, {"_id": 2, "r": [33]}, {"_id": 3, "r": [99]}, {"_id": 4, "r": [99]}, {"_id": 5, "r": [10]}, {"_id": 6, "r": [14]}, {"_id": 7, "r": [66]}, {"_id": 8, "r": [80]}]`),
		plain("median", series, `{"output": {"r": {"$median": {"input": "$v", "method": "approximate"}}}}`, `[{"_id": 1, "r": 4.0}, {"_id": 2, "r": 4.0}, {"_id": 3, "r": 4.0}, {"_id": 4, "r": 4.0}]`),
		windowError("rank with argument", `{"sortBy": {"a": 1}, "output": {"r": {"$rank": 1}}}`, "5371603: $rank must be specified with '{}' as the value"),
		windowError("rank without sortBy", `{"output": {"r": {"$rank": {}}}}`, "5371602: $rank must be specified with a top level sortBy expression with exactly one element"),
		windowError("rank with window", `{"sortBy": {"a": 1}, "output": {"r": {"$rank": {}, "window": {}}}}`, "5371601: Rank style window functions take no other arguments"),
		windowError("shift without by", `{"sortBy": {"a": 1}, "output": {"r": {"$shift": {"output": 1}}}}`, "9: '$shift' requires 'by' as an integer value."),
		windowError("shift without sortBy", `{"output": {"r": {"$shift": {"output": 1, "by": 1}}}}`, "9: '$shift' requires a sortBy"),
		windowError("derivative without window", `{"sortBy": {"a": 1}, "output": {"r": {"$derivative": {"input": "$a"}}}}`, "9: $derivative requires explicit window bounds"),
		windowError("derivative of months", `{"sortBy": {"a": 1}, "output": {"r": {"$derivative": {"input": "$a", "unit": "month"}, "window": {}}}}`, "5490710: unit must be 'week' or smaller"),
		windowError("derivative of dates", `{"sortBy": {"date": 1}, "output": {"r": {"$derivative": {"input": "$q"}, "window": {"documents": [-1, 0]}}}}`, "5624901: $derivative where the sortBy is a Date requires an 'unit'"),
		windowError("integral of strings", `{"sortBy": {"_id": 1}, "output": {"r": {"$integral": {"input": "$type"}}}}`, "5423902: Input values of $integral must be numeric, but found string"),
		windowError("expMovingAvg shape", `{"sortBy": {"a": 1}, "output": {"r": {"$expMovingAvg": {"input": 1}}}}`, "9: $expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field"),
		windowError("expMovingAvg N", `{"sortBy": {"a": 1}, "output": {"r": {"$expMovingAvg": {"input": 1, "N": 0}}}}`, "9: 'N' must be greater than zero. Got 0"),
		windowError("linearFill repeated", `{"sortBy": {"price": 1}, "output": {"r": {"$linearFill": "$q"}}}`, "6050106: There can be no repeated values in the sort field"),
		windowError("linearFill of strings", `{"sortBy": {"_id": 1}, "output": {"r": {"$linearFill": "$type"}}}`, "14: Value to be filled must be numeric or nullish, but found string"),
		windowError("locf with window", `{"output": {"r": {"$locf": "$a", "window": {}}}}`, "9: 'window' field is not allowed in $locf"),
	}, nil)
}

func TestWindowPaths(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "window into arrays", Docs: `[{"_id": 1, "a": [{"x": 1}, 5]}]`, Pipeline: `[{"$setWindowFields": {"output": {"a.n": {"$count": {}}}}}]`, Want: `[{"_id": 1, "a": [{"x": 1, "n": 1}, {"n": 1}]}]`},
		{Name: "rank by a path through an array", Docs: `[{"_id": 1, "a": [{"x": 1}, {"x": 2}, 5]}, {"_id": 2, "a": {"x": 9}}]`, Pipeline: `[{"$setWindowFields": {"sortBy": {"a.x": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`,
			Want: `[{"_id": 1, "r": 1}, {"_id": 2, "r": 2}]`},
	}, nil)
}

// A window gives what the accumulator gives over just its documents.
func TestWindowsAgreeWithGroups(t *testing.T) {
	accs := []string{`"$sum": "$b"`, `"$avg": "$b"`, `"$min": "$b"`, `"$max": "$b"`, `"$push": "$b"`, `"$addToSet": "$b"`, `"$count": {}`, `"$stdDevPop": "$b"`,
		`"$firstN": {"input": "$b", "n": 2}`, `"$topN": {"output": "$_id", "sortBy": {"b": 1}, "n": 2}`, `"$median": {"input": "$b", "method": "approximate"}`}
	rapid.Check(t, func(rt *rapid.T) {
		var in []value.Doc
		for i := range rapid.IntRange(0, 12).Draw(rt, "docs") {
			in = append(in, aggtest.GenDoc(rt, i))
		}
		acc := rapid.SampledFrom(accs).Draw(rt, "acc")
		lower := rapid.IntRange(-4, 3).Draw(rt, "lower")
		upper := rapid.IntRange(lower, 5).Draw(rt, "upper")
		from, to := fmt.Sprint(lower), fmt.Sprint(upper)
		if rapid.IntRange(0, 4).Draw(rt, "left") == 0 {
			from, lower = `"unbounded"`, -100
		}
		if rapid.IntRange(0, 4).Draw(rt, "right") == 0 {
			to, upper = `"unbounded"`, 100
		}
		kind := rapid.SampledFrom([]string{"documents", "range"}).Draw(rt, "kind") // the same for consecutive _id
		h := aggtest.NewHost()
		h.Colls["test.c"] = in
		pipeline := fmt.Sprintf(`[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": {%s, "window": {%q: [%s, %s]}}}}}]`, acc, kind, from, to)
		got, err := aggtest.Run(t, h, pipeline)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range in {
			part := aggtest.NewHost()
			part.Colls["test.c"] = in[min(max(i+lower, 0), len(in)):min(max(i+upper+1, 0), len(in))]
			want := value.Value{}
			if len(part.Colls["test.c"]) == 0 {
				continue
			}
			group, err := aggtest.Run(t, part, `[{"$group": {"_id": null, "r": {`+acc+`}}}]`)
			if err != nil {
				rt.Fatal(err)
			}
			want = group[0].Lookup("r")
			r := got[i].Lookup("r")
			deviation := r.Kind() == value.KindInt32 && strings.Contains(acc, "stdDev") // of one number in a window
			if (r.Kind() == value.KindDouble || deviation) && math.Abs(r.Double()-want.AsDouble()) < 1e-9 {
				continue
			}
			if lower > -100 && strings.Contains(acc, "$max") && value.Compare(r, want) == 0 {
				continue // MongoDB's window takes the latest of equal values, its group the first
			}
			if r.JSON() != want.JSON() || r.Kind() != want.Kind() {
				rt.Fatalf("%s document %d: %s, want %s", pipeline, i, r.JSON(), want.JSON())
			}
		}
	})
}
