package order_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func TestSort(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "two fields", Docs: `[{"_id": 1, "a": 2, "b": 1}, {"_id": 2, "a": 1, "b": 1}, {"_id": 3, "a": 2, "b": 0}]`,
			Pipeline: `[{"$sort": {"a": -1, "b": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 3}, {"_id": 1}, {"_id": 2}]`},
		{Name: "types", Docs: `[{"_id": 1, "a": "x"}, {"_id": 2}, {"_id": 3, "a": 5}, {"_id": 4, "a": {"b": 1}}, {"_id": 5, "a": null}, {"_id": 6, "a": true}]`,
			Pipeline: `[{"$sort": {"a": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 2}, {"_id": 5}, {"_id": 3}, {"_id": 1}, {"_id": 4}, {"_id": 6}]`},
		{Name: "arrays ascending take their least", Docs: `[{"_id": 1, "a": [5, 1]}, {"_id": 2, "a": 3}, {"_id": 3, "a": []}]`,
			Pipeline: `[{"$sort": {"a": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 3}, {"_id": 1}, {"_id": 2}]`},
		{Name: "arrays descending take their greatest", Docs: `[{"_id": 1, "a": [5, 1]}, {"_id": 2, "a": 3}, {"_id": 3, "a": []}]`,
			Pipeline: `[{"$sort": {"a": -1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 1}, {"_id": 2}, {"_id": 3}]`},
		{Name: "documents in arrays", Docs: `[{"_id": 1, "a": [{"b": 9}, {"b": 2}]}, {"_id": 2, "a": {"b": 5}}]`,
			Pipeline: `[{"$sort": {"a.b": -1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 1}, {"_id": 2}]`},
		{Name: "compound through one array", Docs: `[{"_id": 1, "a": [{"b": 1, "c": 9}, {"b": 2, "c": 1}]}, {"_id": 2, "a": [{"b": 1, "c": 5}]}]`,
			Pipeline: `[{"$sort": {"a.b": 1, "a.c": 1}}, {"$project": {"_id": 1}}]`, Want: `[{"_id": 2}, {"_id": 1}]`},
		{Name: "parallel arrays", Docs: `[{"_id": 1, "a": [1], "b": [2]}]`, Pipeline: `[{"$sort": {"a": 1, "b": 1}}]`,
			Err: "2: cannot sort with keys that are parallel arrays"},
		{Name: "limit", Docs: `[{"_id": 5}, {"_id": 3}, {"_id": 4}, {"_id": 1}, {"_id": 2}]`, Pipeline: `[{"$sort": {"_id": 1}}, {"$limit": 2}]`, Want: `[{"_id": 1}, {"_id": 2}]`},
		{Name: "skip and limit", Docs: `[{"_id": 5}, {"_id": 3}, {"_id": 4}, {"_id": 1}, {"_id": 2}]`,
			Pipeline: `[{"$sort": {"_id": 1}}, {"$skip": 1}, {"$limit": 2}]`, Want: `[{"_id": 2}, {"_id": 3}]`},
		{Name: "empty", Pipeline: `[{"$sort": {}}]`, Err: "15976: $sort stage must have at least one sort key"},
		{Name: "not object", Pipeline: `[{"$sort": 1}]`, Err: "15973: the $sort key specification must be an object"},
		{Name: "string", Pipeline: `[{"$sort": {"a": "x"}}]`, Err: "15974: Illegal key in $sort specification: a: \"x\""},
		{Name: "two", Pipeline: `[{"$sort": {"a": 2}}]`, Err: "15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)"},
		{Name: "bad meta", Pipeline: `[{"$sort": {"a": {"$meta": "x"}}}]`, Err: "31138: Illegal $meta sort: $meta: \"x\""},
		{Name: "expression", Pipeline: `[{"$sort": {"a": {"$add": [1]}}}]`, Err: "17312: $meta is the only expression supported by $sort right now"},
		{Name: "sort by a position", Docs: `[{"_id": 1, "a": [5, 1]}, {"_id": 2, "a": [3, 9]}, {"_id": 3, "a": [[7]]}]`, Pipeline: `[{"$sort": {"a.0": 1}}, {"$project": {"_id": 1}}]`,
			Want: `[{"_id": 2}, {"_id": 1}, {"_id": 3}]`},
	}, nil)
}

func TestMetadataSurvivesSorting(t *testing.T) {
	for _, limit := range []int64{0, 1} {
		x := aggtest.Exec(aggtest.NewHost())
		x.MemoryLimit = limit
		scores := stage.Docs(aggtest.Docs(t, `[{"_id": 1, "s": 1.5}, {"_id": 2, "s": 3.5}, {"_id": 3, "s": 2.5}]`)...)
		src := stage.Pull(scores, func() (value.Doc, error) {
			d, err := scores.Next()
			x.Env.Meta = expr.Meta{}
			if d != nil {
				x.Env.Meta.Set(expr.MetaSearchScore, d.Lookup("s"))
			}
			return d, err
		})
		p, err := agg.Compile(aggtest.Array(t, `[{"$sample": {"size": 9}}, {"$sort": {"s": {"$meta": "searchScore"}}}, {"$facet": {"f": [{"$project": {"m": {"$meta": "searchScore"}}}]}}, {"$unwind": "$f"}, {"$replaceWith": "$f"}]`), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		it, err := p.Run(x, src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := aggtest.ReadAll(it)
		if want := aggtest.Canonical(aggtest.Docs(t, `[{"_id": 2, "m": 3.5}, {"_id": 3, "m": 2.5}, {"_id": 1, "m": 1.5}]`)); err != nil || aggtest.Canonical(got) != want {
			t.Error(aggtest.Canonical(got), err)
		}
	}
}
