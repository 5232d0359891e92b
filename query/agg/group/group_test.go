package group_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

const sales = `[
	{"_id": 1, "item": "abc", "price": {"$numberDecimal": "10"}, "quantity": 2, "date": {"$date": "2014-03-01T08:00:00Z"}},
	{"_id": 2, "item": "jkl", "price": {"$numberDecimal": "20"}, "quantity": 1, "date": {"$date": "2014-03-01T09:00:00Z"}},
	{"_id": 3, "item": "xyz", "price": {"$numberDecimal": "5"}, "quantity": 10, "date": {"$date": "2014-03-15T09:00:00Z"}},
	{"_id": 4, "item": "xyz", "price": {"$numberDecimal": "5"}, "quantity": 20, "date": {"$date": "2014-04-04T11:21:39.736Z"}},
	{"_id": 5, "item": "abc", "price": {"$numberDecimal": "10"}, "quantity": 10, "date": {"$date": "2014-04-04T21:23:13.331Z"}}]`

const scores = `[
	{"_id": 1, "g": "G1", "p": "PlayerA", "s": 31}, {"_id": 2, "g": "G1", "p": "PlayerB", "s": 33}, {"_id": 3, "g": "G1", "p": "PlayerC", "s": 99},
	{"_id": 4, "g": "G1", "p": "PlayerD", "s": 1}, {"_id": 5, "g": "G2", "p": "PlayerA", "s": 10}, {"_id": 6, "g": "G2", "p": "PlayerB", "s": 14},
	{"_id": 7, "g": "G2", "p": "PlayerC", "s": 66}, {"_id": 8, "g": "G2", "p": "PlayerD", "s": 80}]`

func TestGroup(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "manual", Docs: sales, Pipeline: `[{"$group": {"_id": "$item", "total": {"$sum": {"$multiply": ["$price", "$quantity"]}}}}, {"$match": {"total": {"$gte": 100}}}]`,
			Want: `[{"_id": "abc", "total": {"$numberDecimal": "120"}}, {"_id": "xyz", "total": {"$numberDecimal": "150"}}]`},
		{Name: "by null", Docs: sales, Pipeline: `[{"$group": {"_id": null, "avg": {"$avg": "$quantity"}, "count": {"$sum": 1}, "n": {"$count": {}}}}]`,
			Want: `[{"_id": null, "avg": 8.6, "count": 5, "n": 5}]`},
		{Name: "by object", Docs: `[{"_id": 1, "a": 1, "b": 2}, {"_id": 2, "a": 1}, {"_id": 3, "a": 1, "b": 2}]`,
			Pipeline: `[{"$group": {"_id": {"x": "$a", "y": "$b"}, "n": {"$sum": 1}}}]`, Want: `[{"_id": {"x": 1, "y": 2}, "n": 2}, {"_id": {"x": 1}, "n": 1}]`},
		{Name: "missing and null are one group", Docs: `[{"_id": 1}, {"_id": 2, "a": null}, {"_id": 3, "a": 1}, {"_id": 4, "a": 1.0}]`,
			Pipeline: `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, Want: `[{"_id": null, "n": 2}, {"_id": 1, "n": 2}]`},
		{Name: "no _id", Pipeline: `[{"$group": {"n": {"$sum": 1}}}]`, Err: "15955: a group specification must include an _id"},
		{Name: "not object", Pipeline: `[{"$group": 1}]`, Err: "15947: a group's fields must be specified in an object"},
		{Name: "unknown", Pipeline: `[{"$group": {"_id": 1, "n": {"$foo": 1}}}]`, Err: "15952: unknown group operator '$foo'"},
		{Name: "no accumulator", Pipeline: `[{"$group": {"_id": 1, "n": 5}}]`, Err: "40234: The field 'n' must be an accumulator object"},
		{Name: "two accumulators", Pipeline: `[{"$group": {"_id": 1, "n": {"$sum": 1, "$avg": 1}}}]`, Err: "40238: The field 'n' must specify one accumulator"},
		{Name: "dotted", Pipeline: `[{"$group": {"_id": 1, "n.m": {"$sum": 1}}}]`, Err: "40235: The field name 'n.m' cannot contain '.'"},
		{Name: "dollar", Pipeline: `[{"$group": {"_id": 1, "$n": {"$sum": 1}}}]`, Err: "40236: The field name '$n' cannot be an operator name"},
		{Name: "array argument", Pipeline: `[{"$group": {"_id": 1, "n": {"$sum": ["$a", "$b"]}}}]`, Err: "40237: The $sum accumulator is a unary operator"},
		{Name: "javascript", Pipeline: `[{"$group": {"_id": 1, "n": {"$accumulator": {}}}}]`, Err: "4544707: $accumulator missing required argument 'init'"},
		{Name: "group by an array", Docs: `[{"_id": 1, "a": [1, 2]}, {"_id": 2, "a": [1.0, 2]}]`, Pipeline: `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, Want: `[{"_id": [1, 2], "n": 2}]`},
	}, nil)
}

func TestAccumulators(t *testing.T) {
	one := func(name, docs, acc, want string) aggtest.Case {
		return aggtest.Case{Name: name, Docs: docs, Pipeline: `[{"$group": {"_id": null, "r": ` + acc + `}}, {"$project": {"_id": 0}}]`, Want: `[{"r": ` + want + `}]`}
	}
	fail := func(name, acc, err string) aggtest.Case {
		return aggtest.Case{Name: name, Docs: `[{"_id": 1, "a": 1}]`, Pipeline: `[{"$group": {"_id": null, "r": ` + acc + `}}]`, Err: err}
	}
	const nums = `[{"_id": 1, "a": 3}, {"_id": 2, "a": "x"}, {"_id": 3}, {"_id": 4, "a": null}, {"_id": 5, "a": 4}]`
	aggtest.RunCases(t, []aggtest.Case{
		one("sum ignores what is no number", nums, `{"$sum": "$a"}`, `7`),
		one("sum of nothing", `[{"_id": 1}]`, `{"$sum": "$a"}`, `0`),
		one("sum of ints becomes long", `[{"_id": 1, "a": 2147483647}, {"_id": 2, "a": 1}]`, `{"$sum": "$a"}`, `{"$numberLong": "2147483648"}`),
		one("sum of longs stays long", `[{"_id": 1, "a": {"$numberLong": "1"}}, {"_id": 2, "a": 1}]`, `{"$sum": "$a"}`, `{"$numberLong": "2"}`),
		one("sum of longs becomes double", `[{"_id": 1, "a": {"$numberLong": "9223372036854775807"}}, {"_id": 2, "a": 1}]`, `{"$sum": "$a"}`, `9.223372036854775807e18`),
		one("sum of longs is exact through an overflow", `[{"_id": 1, "a": {"$numberLong": "9223372036854775807"}}, {"_id": 2, "a": 1}, {"_id": 3, "a": -1}]`, `{"$sum": "$a"}`, `{"$numberLong": "9223372036854775807"}`),
		one("sum of doubles is compensated", `[{"_id": 1, "a": 1.0}, {"_id": 2, "a": 1e100}, {"_id": 3, "a": 1.0}, {"_id": 4, "a": -1e100}]`, `{"$sum": "$a"}`, `2.0`),
		one("sum of tenths", `[{"_id": 1, "a": 0.1}, {"_id": 2, "a": 0.1}, {"_id": 3, "a": 0.1}, {"_id": 4, "a": 0.1}, {"_id": 5, "a": 0.1}, {"_id": 6, "a": 0.1}, {"_id": 7, "a": 0.1}, {"_id": 8, "a": 0.1}, {"_id": 9, "a": 0.1}, {"_id": 10, "a": 0.1}]`, `{"$sum": "$a"}`, `1.0`),
		one("sum with a decimal", `[{"_id": 1, "a": 1}, {"_id": 2, "a": {"$numberDecimal": "1.10"}}]`, `{"$sum": "$a"}`, `{"$numberDecimal": "2.10"}`),
		one("sum of infinities", `[{"_id": 1, "a": {"$numberDouble": "Infinity"}}, {"_id": 2, "a": 1}]`, `{"$sum": "$a"}`, `{"$numberDouble": "Infinity"}`),
		one("avg", nums, `{"$avg": "$a"}`, `3.5`),
		one("avg of nothing", `[{"_id": 1, "a": "x"}]`, `{"$avg": "$a"}`, `null`),
		one("avg with a decimal", `[{"_id": 1, "a": {"$numberDecimal": "1"}}, {"_id": 2, "a": 2}]`, `{"$avg": "$a"}`, `{"$numberDecimal": "1.5"}`),
		one("min", nums, `{"$min": "$a"}`, `3`),
		one("max across types", nums, `{"$max": "$a"}`, `"x"`),
		one("min of nothing", `[{"_id": 1}]`, `{"$min": "$a"}`, `null`),
		one("first missing", `[{"_id": 1}, {"_id": 2, "a": 1}]`, `{"$first": "$a"}`, `null`),
		one("last", nums, `{"$last": "$a"}`, `4`),
		one("push leaves out what is missing", nums, `{"$push": "$a"}`, `[3, "x", null, 4]`),
		one("push object", `[{"_id": 1, "a": 5}]`, `{"$push": {"k": "$a"}}`, `[{"k": 5}]`),
		one("addToSet", `[{"_id": 1, "a": [1]}, {"_id": 2, "a": [1]}, {"_id": 3, "a": 1}, {"_id": 4, "a": 1.0}]`, `{"$addToSet": "$a"}`, `[[1], 1]`),
		one("stdDevPop", `[{"_id": 1, "a": 85}, {"_id": 2, "a": 90}, {"_id": 3, "a": 71}]`, `{"$stdDevPop": "$a"}`, `8.04155872120988`),
		one("stdDevSamp of one", `[{"_id": 1, "a": 85}]`, `{"$stdDevSamp": "$a"}`, `null`),
		one("stdDevPop of one", `[{"_id": 1, "a": 85}]`, `{"$stdDevPop": "$a"}`, `0.0`),
		one("mergeObjects", `[{"_id": 1, "a": {"x": 1, "y": 2}}, {"_id": 2}, {"_id": 3, "a": {"x": 5, "z": 3}}]`, `{"$mergeObjects": "$a"}`, `{"x": 5, "y": 2, "z": 3}`),
		one("firstN", scores, `{"$firstN": {"input": "$p", "n": 2}}`, `["PlayerA", "PlayerB"]`),
		one("firstN turns missing into null", `[{"_id": 1}, {"_id": 2, "a": 1}]`, `{"$firstN": {"input": "$a", "n": 5}}`, `[null, 1]`),
		one("lastN", scores, `{"$lastN": {"input": "$s", "n": 3}}`, `[14, 66, 80]`),
		one("maxN", scores, `{"$maxN": {"input": "$s", "n": 3}}`, `[99, 80, 66]`),
		one("minN leaves out null", nums, `{"$minN": {"input": "$a", "n": 2}}`, `[3, 4]`),
		one("top", scores, `{"$top": {"output": ["$p", "$s"], "sortBy": {"s": -1}}}`, `["PlayerC", 99]`),
		one("bottom", scores, `{"$bottom": {"output": ["$p", "$s"], "sortBy": {"s": -1}}}`, `["PlayerD", 1]`),
		one("topN", scores, `{"$topN": {"output": "$s", "sortBy": {"s": -1}, "n": 3}}`, `[99, 80, 66]`),
		one("bottomN", scores, `{"$bottomN": {"output": "$s", "sortBy": {"s": -1}, "n": 3}}`, `[14, 10, 1]`),
		one("top tie keeps the first", `[{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]`, `{"$top": {"output": "$_id", "sortBy": {"a": 1}}}`, `1`),
		one("median", `[{"_id": 1, "a": 62}, {"_id": 2, "a": 60}, {"_id": 3, "a": 85}, {"_id": 4, "a": 71}, {"_id": 5, "a": "x"}]`, `{"$median": {"input": "$a", "method": "approximate"}}`, `62.0`),
		one("percentile", `[{"_id": 1, "a": 62}, {"_id": 2, "a": 60}, {"_id": 3, "a": 85}, {"_id": 4, "a": 71}, {"_id": 5, "a": 88}]`,
			`{"$percentile": {"input": "$a", "p": [0.0, 0.5, 0.9, 1.0], "method": "approximate"}}`, `[60.0, 71.0, 88.0, 88.0]`),
		one("percentile of nothing", `[{"_id": 1}]`, `{"$percentile": {"input": "$a", "p": [0.5, 0.9], "method": "approximate"}}`, `[null, null]`),
		{Name: "n by group", Docs: scores, Pipeline: `[{"$group": {"_id": {"g": "$g"}, "r": {"$firstN": {"input": "$s", "n": {"$cond": [{"$eq": ["$g", "G2"]}, 1, 3]}}}}}]`,
			Want: `[{"_id": {"g": "G1"}, "r": [31, 33, 99]}, {"_id": {"g": "G2"}, "r": [10]}]`},
		fail("count with argument", `{"$count": 1}`, "14: $count takes no arguments, i.e. $count:{}"),
		fail("mergeObjects of number", `{"$mergeObjects": "$a"}`, "5911200: $mergeObjects only supports objects"),
		fail("firstN not object", `{"$firstN": 1}`, "5787801: specification must be an object; found $firstN: 1"),
		fail("firstN without n", `{"$firstN": {"input": "$a"}}`, "5787906: Missing value for 'n'"),
		fail("firstN without input", `{"$firstN": {"n": 1}}`, "5787907: Missing value for 'input'"),
		fail("firstN unknown", `{"$firstN": {"n": 1, "x": 1}}`, "5787901: Unknown argument for 'n' operator: x"),
		fail("firstN zero", `{"$firstN": {"input": "$a", "n": 0}}`, "7548606: parameter 'n' must be coercible to a positive 64-bit integer"),
		fail("firstN string", `{"$firstN": {"input": "$a", "n": "x"}}`, "7548606: parameter 'n' must be coercible to a positive 64-bit integer"),
		fail("firstN fraction", `{"$firstN": {"input": "$a", "n": 1.5}}`, "7548606: parameter 'n' must be coercible to a positive 64-bit integer"),
		fail("top without sortBy", `{"$top": {"output": "$a"}}`, "5788005: Missing value for 'sortBy'"),
		fail("top with n", `{"$top": {"output": "$a", "n": 1, "sortBy": {"a": 1}}}`, "5788002: Unknown argument to $top 'n'"),
		fail("percentile method", `{"$percentile": {"input": "$a", "p": [0.5], "method": "exact"}}`, "2: Currently only 'approximate' can be used as percentile 'method'."),
		fail("percentile p", `{"$percentile": {"input": "$a", "p": [2], "method": "approximate"}}`, "7750303: The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: 2"),
		fail("percentile p empty", `{"$percentile": {"input": "$a", "p": [], "method": "approximate"}}`, "7750301: The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: []"),
	}, nil)
}
