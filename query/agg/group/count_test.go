package group_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
)

func TestCountAndSortByCount(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "count", Docs: `[{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]`, Pipeline: `[{"$match": {"_id": {"$lt": 4}}}, {"$count": "n"}]`, Want: `[{"n": 3}]`},
		{Name: "count nothing", Pipeline: `[{"$count": "n"}]`, Want: `[]`},
		{Name: "count empty", Pipeline: `[{"$count": ""}]`, Err: "40157: the count field must be a non-empty string"},
		{Name: "count dollar", Pipeline: `[{"$count": "$a"}]`, Err: "40158: the count field cannot be a $-prefixed path"},
		{Name: "count dot", Pipeline: `[{"$count": "a.b"}]`, Err: "40160: the count field cannot contain '.'"},
		{Name: "count not string", Pipeline: `[{"$count": 1}]`, Err: "40156: the count field must be a non-empty string"},
		{Name: "sortByCount", Docs: `[{"_id": 1, "t": ["a", "b"]}, {"_id": 2, "t": ["b"]}]`,
			Pipeline: `[{"$unwind": "$t"}, {"$sortByCount": "$t"}]`, Want: `[{"_id": "b", "count": 2}, {"_id": "a", "count": 1}]`},
		{Name: "sortByCount bad string", Pipeline: `[{"$sortByCount": "t"}]`,
			Err: "40148: the sortByCount field must be defined as a $-prefixed path or an expression inside an object"},
		{Name: "sortByCount bad object", Pipeline: `[{"$sortByCount": {"a": 1}}]`,
			Err: "40147: the sortByCount field must be defined as a $-prefixed path or an expression inside an object"},
		{Name: "sortByCount number", Pipeline: `[{"$sortByCount": 1}]`, Err: "40149: the sortByCount field must be specified as a string or as an object"},
	}, nil)
}
