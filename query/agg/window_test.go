package agg

import (
	"testing"
)

const cakes = `[
	{"_id": 0, "type": "chocolate", "date": {"$date": "2020-05-18T14:10:30Z"}, "state": "CA", "price": 13, "q": 120},
	{"_id": 1, "type": "chocolate", "date": {"$date": "2021-03-20T11:30:05Z"}, "state": "WA", "price": 14, "q": 140},
	{"_id": 2, "type": "vanilla", "date": {"$date": "2021-01-11T06:31:15Z"}, "state": "CA", "price": 12, "q": 145},
	{"_id": 3, "type": "vanilla", "date": {"$date": "2020-02-08T13:13:23Z"}, "state": "WA", "price": 13, "q": 104},
	{"_id": 4, "type": "strawberry", "date": {"$date": "2019-05-18T16:09:01Z"}, "state": "CA", "price": 41, "q": 162},
	{"_id": 5, "type": "strawberry", "date": {"$date": "2019-01-08T06:12:03Z"}, "state": "WA", "price": 43, "q": 134}]`

// windowTest is a test of one output over the cakes of the manual.
func windowTest(name, spec, want string) stageTest {
	return stageTest{name: name, docs: cakes, pipeline: `[{"$setWindowFields": ` + spec + `}, {"$project": {"r": 1}}]`, want: want}
}

func windowError(name, spec, err string) stageTest {
	return stageTest{name: name, docs: cakes, pipeline: `[{"$setWindowFields": ` + spec + `}]`, err: err}
}

func TestWindowBounds(t *testing.T) {
	runStageTests(t, []stageTest{
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
		{name: "nested output", docs: `[{"_id": 1, "a": {"b": 1}}]`, pipeline: `[{"$setWindowFields": {"output": {"a.c": {"$count": {}}}}}]`, want: `[{"_id": 1, "a": {"b": 1, "c": 1}}]`},
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
	plain := func(name, docs, spec, want string) stageTest {
		return stageTest{name: name, docs: docs, pipeline: `[{"$setWindowFields": ` + spec + `}, {"$project": {"r": 1}}]`, want: want}
	}
	const series = `[{"_id": 1, "v": 1}, {"_id": 2, "v": 4}, {"_id": 3}, {"_id": 4, "v": 7}]`
	const stock = `[{"_id": 1, "d": 1, "p": 13.0}, {"_id": 2, "d": 2, "p": 15.4}, {"_id": 3, "d": 3, "p": 12.0}, {"_id": 4, "d": 4, "p": 11.7}]`
	const trucks = `[
		{"_id": 1, "t": {"$date": "2020-05-18T14:10:30Z"}, "miles": 1295.1}, {"_id": 2, "t": {"$date": "2020-05-18T14:11:00Z"}, "miles": 1295.63},
		{"_id": 3, "t": {"$date": "2020-05-18T14:11:30Z"}, "miles": 1296.25}, {"_id": 4, "t": {"$date": "2020-05-18T14:12:00Z"}, "miles": 1296.76}]`
	runStageTests(t, []stageTest{
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

func TestFill(t *testing.T) {
	runStageTests(t, []stageTest{
		{name: "value", docs: `[{"_id": 1, "a": null}, {"_id": 2, "a": 5}, {"_id": 3}]`, pipeline: `[{"$fill": {"output": {"a": {"value": 0}}}}]`, want: `[{"_id": 1, "a": 0}, {"_id": 2, "a": 5}, {"_id": 3, "a": 0}]`},
		{name: "linear and locf", docs: `[{"_id": 1, "a": 10, "b": "x"}, {"_id": 2, "a": null}, {"_id": 3, "a": 20}]`,
			pipeline: `[{"$fill": {"sortBy": {"_id": 1}, "output": {"a": {"method": "linear"}, "b": {"method": "locf"}}}}]`,
			want:     `[{"_id": 1, "a": 10, "b": "x"}, {"_id": 2, "a": 15.0, "b": "x"}, {"_id": 3, "a": 20, "b": "x"}]`},
		{name: "partitions", docs: `[{"_id": 1, "p": 1, "a": 1}, {"_id": 2, "p": 2}, {"_id": 3, "p": 1}]`,
			pipeline: `[{"$fill": {"partitionByFields": ["p"], "sortBy": {"_id": 1}, "output": {"a": {"method": "locf"}}}}]`,
			want:     `[{"_id": 1, "p": 1, "a": 1}, {"_id": 3, "p": 1, "a": 1}, {"_id": 2, "p": 2, "a": null}]`},
		{name: "both", pipeline: `[{"$fill": {"output": {"a": {"value": 1, "method": "locf"}}}}]`, err: "6050201: Each fill output specification must have exactly one of 'method' or 'value' fields, not both"},
		{name: "method", pipeline: `[{"$fill": {"output": {"a": {"method": "x"}}}}]`, err: "6050202: Method must be either locf or linear"},
		{name: "empty", pipeline: `[{"$fill": {"output": {}}}]`, err: "6050203: The output field in '$fill' must contain an object with at least one element"},
		{name: "two partitions", pipeline: `[{"$fill": {"partitionBy": "$a", "partitionByFields": ["a"], "output": {"a": {"value": 1}}}}]`,
			err: "6050204: Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'"},
		{name: "not object", pipeline: `[{"$fill": 1}]`, err: "9: The $fill stage specification must be an object, found int"},
	}, nil)
}

func TestDensify(t *testing.T) {
	const weather = `[{"m": 1, "t": {"$date": "2021-05-18T00:00:00Z"}, "temp": 12}, {"m": 1, "t": {"$date": "2021-05-18T04:00:00Z"}, "temp": 11}]`
	const coffee = `[{"v": "A", "alt": 600, "s": 68}, {"v": "B", "alt": 750, "s": 70}, {"v": "A", "alt": 1000, "s": 75}]`
	runStageTests(t, []stageTest{
		{name: "dates", docs: weather, pipeline: `[{"$densify": {"field": "t", "range": {"step": 2, "unit": "hour", "bounds": [{"$date": "2021-05-18T00:00:00Z"}, {"$date": "2021-05-18T08:00:00Z"}]}}}]`,
			want: `[{"m": 1, "t": {"$date": "2021-05-18T00:00:00Z"}, "temp": 12}, {"t": {"$date": "2021-05-18T02:00:00Z"}}, {"m": 1, "t": {"$date": "2021-05-18T04:00:00Z"}, "temp": 11}, {"t": {"$date": "2021-05-18T06:00:00Z"}}]`},
		{name: "full with partitions", docs: coffee, pipeline: `[{"$densify": {"field": "alt", "partitionByFields": ["v"], "range": {"bounds": "full", "step": 200}}}]`,
			want: `[{"v": "A", "alt": 600, "s": 68}, {"v": "B", "alt": 600}, {"v": "B", "alt": 750, "s": 70}, {"v": "A", "alt": 800}, {"v": "A", "alt": 1000, "s": 75}, {"v": "B", "alt": 800}, {"v": "B", "alt": 1000}]`},
		{name: "partition", docs: coffee, pipeline: `[{"$densify": {"field": "alt", "partitionByFields": ["v"], "range": {"bounds": "partition", "step": 200}}}]`,
			want: `[{"v": "A", "alt": 600, "s": 68}, {"v": "A", "alt": 800}, {"v": "A", "alt": 1000, "s": 75}, {"v": "B", "alt": 750, "s": 70}]`},
		{name: "full", docs: `[{"_id": 1, "x": 1}, {"_id": 2, "x": 4}, {"_id": 3, "x": 4.5}]`, pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 2}}}]`,
			want: `[{"_id": 1, "x": 1}, {"x": 3}, {"_id": 2, "x": 4}, {"_id": 3, "x": 4.5}]`},
		{name: "explicit around", docs: `[{"_id": 1, "x": -5}, {"_id": 2, "x": 2}, {"_id": 3, "x": 9}]`, pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [0, 6], "step": 2}}}]`,
			want: `[{"_id": 1, "x": -5}, {"x": 0}, {"_id": 2, "x": 2}, {"x": 4}, {"_id": 3, "x": 9}]`},
		{name: "explicit of nothing", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [0, 3], "step": 1}}}]`, want: `[{"x": 0}, {"x": 1}, {"x": 2}]`},
		{name: "months", docs: `[{"_id": 1, "t": {"$date": "2021-01-31T00:00:00Z"}}, {"_id": 2, "t": {"$date": "2021-04-01T00:00:00Z"}}]`,
			pipeline: `[{"$densify": {"field": "t", "range": {"bounds": "full", "step": 1, "unit": "month"}}}]`,
			want:     `[{"_id": 1, "t": {"$date": "2021-01-31T00:00:00Z"}}, {"t": {"$date": "2021-02-28T00:00:00Z"}}, {"t": {"$date": "2021-03-28T00:00:00Z"}}, {"_id": 2, "t": {"$date": "2021-04-01T00:00:00Z"}}]`},
		{name: "null passes", docs: `[{"_id": 1, "x": null}, {"_id": 2}]`, pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 1}}}]`, want: `[{"_id": 1, "x": null}, {"_id": 2}]`},
		{name: "too many", docs: `[{"_id": 1, "x": 1}, {"_id": 2, "x": 1000000000}]`, pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 1}}}, {"$count": "n"}]`,
			err: "5897900: Generated 500001 documents in $densify, which is over the limit of 500000. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents"},
		{name: "step zero", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "full", "step": 0}}}]`, err: "5733401: The step parameter in a range statement must be a strictly positive numeric value"},
		{name: "bounds", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "all", "step": 1}}}]`, err: "5946802: Bounds string must either be 'full' or 'partition'"},
		{name: "bounds order", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [2, 1], "step": 1}}}]`, err: "5733402: A bounding array must be an ascending array of either two dates or two numbers"},
		{name: "bounds types", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": [1, 2.5], "step": 1}}}]`, err: "5876900: Upper bound, lower bound, and step must all have the same type"},
		{name: "partition without fields", pipeline: `[{"$densify": {"field": "x", "range": {"bounds": "partition", "step": 1}}}]`,
			err: "5733408: One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds."},
		{name: "no range", pipeline: `[{"$densify": {"field": "x"}}]`, err: "40414: BSON field '$densify.range' is missing but a required field"},
	}, nil)
}
