package lookup_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
)

func TestLookup(t *testing.T) {
	const orders = `[{"_id": 1, "item": "almonds", "quantity": 2}, {"_id": 2, "item": "pecans", "quantity": 100}, {"_id": 3}]`
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "equality", Docs: orders, Pipeline: `[{"$lookup": {"from": "inventory", "localField": "item", "foreignField": "sku", "as": "docs"}}]`,
			Want: `[{"_id": 1, "item": "almonds", "quantity": 2, "docs": [{"_id": 1, "sku": "almonds", "instock": 120}]},
				{"_id": 2, "item": "pecans", "quantity": 100, "docs": [{"_id": 4, "sku": "pecans", "instock": 70}]},
				{"_id": 3, "docs": [{"_id": 5, "sku": null}, {"_id": 6}]}]`},
		{Name: "local array", Docs: `[{"_id": 1, "a": ["bread", "pecans"]}, {"_id": 2, "a": []}]`,
			Pipeline: `[{"$lookup": {"from": "inventory", "localField": "a", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`,
			Want:     `[{"_id": 1, "d": [2, 4]}, {"_id": 2, "d": [5, 6]}]`},
		{Name: "local path through array", Docs: `[{"_id": 1, "a": [{"b": "bread"}, {"b": ["pecans"]}, {"c": 1}]}]`,
			Pipeline: `[{"$lookup": {"from": "inventory", "localField": "a.b", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, Want: `[{"_id": 1, "d": [2, 4]}]`},
		{Name: "let and pipeline", Docs: orders, Pipeline: `[{"$match": {"_id": {"$lt": 3}}}, {"$lookup": {"from": "warehouses", "let": {"i": "$item", "q": "$quantity"}, "as": "stock",
			"pipeline": [{"$match": {"$expr": {"$and": [{"$eq": ["$item", "$$i"]}, {"$gte": ["$instock", "$$q"]}]}}}, {"$project": {"item": 0, "_id": 0}}]}}]`,
			Want: `[{"_id": 1, "item": "almonds", "quantity": 2, "stock": [{"w": "A", "instock": 120}, {"w": "B", "instock": 60}]},
				{"_id": 2, "item": "pecans", "quantity": 100, "stock": []}]`},
		{Name: "both", Docs: orders, Pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "let": {"q": "$quantity"}, "as": "s",
			"pipeline": [{"$match": {"w": "B"}}, {"$project": {"instock": 1, "_id": 0, "q": "$$q"}}]}}]`,
			Want: `[{"_id": 1, "item": "almonds", "quantity": 2, "s": [{"instock": 60, "q": 2}]}, {"_id": 2, "item": "pecans", "quantity": 100, "s": []}, {"_id": 3, "s": []}]`},
		{Name: "uncorrelated", Docs: `[{"_id": 1}, {"_id": 2}]`, Pipeline: `[{"$lookup": {"from": "warehouses", "as": "n", "pipeline": [{"$match": {"w": "A"}}, {"$count": "n"}]}}]`,
			Want: `[{"_id": 1, "n": [{"n": 2}]}, {"_id": 2, "n": [{"n": 2}]}]`},
		{Name: "variables in every kind of stage", Docs: `[{"_id": 1, "q": 3}, {"_id": 2, "q": 4}]`, Pipeline: `[{"$lookup": {"from": "warehouses", "let": {"q": "$q"}, "as": "d", "pipeline": [
			{"$sort": {"_id": 1}}, {"$limit": 1}, {"$addFields": {"v": {"$add": ["$$q", 1]}}}, {"$group": {"_id": "$$q", "v": {"$sum": "$v"}, "w": {"$push": {"x": "$$q"}}}}, {"$unionWith": {"pipeline": [{"$documents": ["$$CURRENT"]}, {"$match": {"x": 1}}]}},
			{"$replaceWith": {"a": "$$q", "b": "$$ROOT.v", "c": "$w.x"}}]}}, {"$project": {"d": 1}}]`,
			Want: `[{"_id": 1, "d": [{"a": 3, "b": 4, "c": [3]}]}, {"_id": 2, "d": [{"a": 4, "b": 5, "c": [4]}]}]`},
		{Name: "variable of an outer lookup", Docs: `[{"_id": 1, "q": 3}, {"_id": 2, "q": 4}]`, Pipeline: `[{"$lookup": {"from": "warehouses", "let": {"q": "$q"}, "as": "d", "pipeline": [{"$match": {"_id": 1}},
			{"$lookup": {"from": "warehouses", "let": {"r": "$_id"}, "as": "e", "pipeline": [{"$match": {"_id": 2}}, {"$project": {"s": {"$add": ["$$q", "$$r"]}}}]}}, {"$project": {"e": "$e.s"}}]}}, {"$project": {"d": "$d.e"}}]`,
			Want: `[{"_id": 1, "d": [[4]]}, {"_id": 2, "d": [[5]]}]`},
		{Name: "nested as", Docs: `[{"_id": 1, "a": {"x": 1}, "k": "bread"}]`, Pipeline: `[{"$lookup": {"from": "inventory", "localField": "k", "foreignField": "sku", "as": "a.b"}}]`,
			Want: `[{"_id": 1, "a": {"x": 1, "b": [{"_id": 2, "sku": "bread", "instock": 80}]}, "k": "bread"}]`},
		{Name: "view", Docs: orders, Pipeline: `[{"$lookup": {"from": "few", "localField": "item", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`,
			Want: `[{"_id": 1, "d": []}, {"_id": 2, "d": [4]}, {"_id": 3, "d": []}]`},
		{Name: "unwind", Docs: orders, Pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}},
			{"$unwind": {"path": "$w", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "i"}}, {"$project": {"w": "$w._id", "i": 1}}]`,
			Want: `[{"_id": 1, "i": {"$numberLong": "0"}, "w": 1}, {"_id": 1, "i": {"$numberLong": "1"}, "w": 3}, {"_id": 2, "i": {"$numberLong": "0"}, "w": 2}, {"_id": 3, "i": null}]`},
		{Name: "documents", Docs: `[{"_id": 1, "k": 2}]`, Pipeline: `[{"$lookup": {"localField": "k", "foreignField": "x", "as": "d", "pipeline": [{"$documents": [{"x": 1}, {"x": 2}]}]}}]`,
			Want: `[{"_id": 1, "k": 2, "d": [{"x": 2}]}]`},
		{Name: "match on the result", Docs: orders, Pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}}, {"$unwind": "$w"},
			{"$match": {"w.w": "B", "quantity": 2}}, {"$project": {"w": "$w._id"}}]`, Want: `[{"_id": 1, "w": 3}]`},
		{Name: "regex is compared", Docs: `[{"_id": 1, "k": {"$regularExpression": {"pattern": "^b", "options": ""}}}]`,
			Pipeline: `[{"$lookup": {"from": "inventory", "localField": "k", "foreignField": "sku", "as": "d"}}, {"$project": {"n": {"$size": "$d"}}}]`, Want: `[{"_id": 1, "n": 0}]`},
		{Name: "not object", Pipeline: `[{"$lookup": 1}]`, Err: "9: the $lookup stage specification must be an object, but found int"},
		{Name: "no from", Pipeline: `[{"$lookup": {"localField": "a", "foreignField": "b", "as": "c"}}]`, Err: "9: must specify 'pipeline' when 'from' is empty"},
		{Name: "only local", Pipeline: `[{"$lookup": {"from": "x", "localField": "a", "as": "c"}}]`,
			Err: "9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"},
		{Name: "only local with pipeline", Pipeline: `[{"$lookup": {"from": "x", "localField": "a", "as": "c", "pipeline": []}}]`,
			Err: "9: $lookup requires both or neither of 'localField' and 'foreignField' to be specified"},
		{Name: "let without pipeline", Pipeline: `[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c", "let": {"v": 1}}}]`,
			Err: "9: $lookup with a 'let' argument must also specify 'pipeline'"},
		{Name: "out inside", Pipeline: `[{"$lookup": {"from": "x", "as": "a", "pipeline": [{"$out": "z"}]}}]`, Err: "51047: $out is not allowed within a $lookup's sub-pipeline"},
		{Name: "pipeline not array", Pipeline: `[{"$lookup": {"from": "x", "as": "a", "pipeline": {}}}]`, Err: "14: A pipeline must be an array of objects"},
		{Name: "lookup by a position", Docs: `[{"_id": 1, "a": [{"b": 7}, {"b": 2}]}]`, Pipeline: `[{"$lookup": {"from": "c", "localField": "a.0.b", "foreignField": "a.b", "as": "d"}}, {"$project": {"n": {"$size": "$d"}}}]`, Want: `[{"_id": 1, "n": 1}]`},
		{Name: "lookup replaces a scalar on the way", Docs: `[{"_id": 1, "a": 5}]`, Pipeline: `[{"$lookup": {"from": "none", "localField": "x", "foreignField": "y", "as": "a.b"}}]`, Want: `[{"_id": 1, "a": {"b": []}}]`},
	}, aggtest.WithJoins(t))
}

func TestLookupPushesEqualityToTheSource(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "item": "bread"}]`)
	aggtest.WithJoins(t)(h)
	if _, err := aggtest.Run(t, h, `[{"$lookup": {"from": "inventory", "localField": "item", "foreignField": "sku", "as": "d", "pipeline": [{"$match": {"instock": 80}}]}}]`); err != nil {
		t.Fatal(err)
	}
	got := h.Opened[1].Filter.JSON()
	if want := `{"$and":[{"sku":{"$eq":"bread"}},{"instock":80}]}`; got != want {
		t.Errorf("filter %s, want %s", got, want)
	}
}

func TestUncorrelatedLookupRunsOnce(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1}, {"_id": 2}, {"_id": 3}]`)
	aggtest.WithJoins(t)(h)
	got, err := aggtest.Run(t, h, `[{"$lookup": {"from": "inventory", "let": {"x": "$_id"}, "as": "d", "pipeline": [{"$match": {"instock": {"$gt": 60}}}, {"$match": {"$expr": {"$eq": ["$_id", "$$x"]}}}]}}]`)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	// The condition on $$x keeps the first $match from being cached alone.
	if n := len(h.Opened); n != 4 && n != 2 {
		t.Errorf("%d collections opened", n)
	}
	h.Opened = nil
	if _, err = aggtest.Run(t, h, `[{"$lookup": {"from": "inventory", "as": "d", "pipeline": [{"$sort": {"instock": 1}}, {"$limit": 1}]}}]`); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Opened); n != 2 {
		t.Errorf("%d collections opened, want 2", n)
	}
}

func TestLookupStatistics(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "item": "almonds"}]`)
	aggtest.WithJoins(t)(h)
	p, err := agg.Compile(aggtest.Array(t, `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	x := aggtest.Exec(h)
	it, err := p.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = aggtest.ReadAll(it); err != nil {
		t.Fatal(err)
	}
	if d := p.Explain(pipeline.ExecutionStats, x)[0]; d.Lookup("totalDocsExamined").Int64() != 2 {
		t.Error(d)
	}
}
