package agg

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// withJoins adds the collections of the manual's pages on $lookup and
// $graphLookup.
func withJoins(t *testing.T) func(*memory) {
	return func(m *memory) {
		m.colls["test.inventory"] = docs(t, `[{"_id": 1, "sku": "almonds", "instock": 120}, {"_id": 2, "sku": "bread", "instock": 80},
			{"_id": 3, "sku": "cashews", "instock": 60}, {"_id": 4, "sku": "pecans", "instock": 70}, {"_id": 5, "sku": null}, {"_id": 6}]`)
		m.colls["test.warehouses"] = docs(t, `[{"_id": 1, "item": "almonds", "w": "A", "instock": 120}, {"_id": 2, "item": "pecans", "w": "A", "instock": 80},
			{"_id": 3, "item": "almonds", "w": "B", "instock": 60}]`)
		m.colls["test.employees"] = docs(t, `[{"_id": 1, "name": "Dev"}, {"_id": 2, "name": "Eliot", "boss": "Dev"}, {"_id": 3, "name": "Ron", "boss": "Eliot"},
			{"_id": 4, "name": "Andrew", "boss": "Eliot"}, {"_id": 5, "name": "Asya", "boss": "Ron"}, {"_id": 6, "name": "Dan", "boss": "Andrew"}]`)
		m.colls["test.loop"] = docs(t, `[{"_id": 1, "to": 2}, {"_id": 2, "to": [1, 3]}, {"_id": 3, "to": 1}]`)
		m.views["test.few"] = stage.Namespace{DB: "test", Coll: "inventory", Pipeline: array(t, `[{"$match": {"instock": {"$lt": 100}}}]`)}
	}
}

func TestLookup(t *testing.T) {
	const orders = `[{"_id": 1, "item": "almonds", "quantity": 2}, {"_id": 2, "item": "pecans", "quantity": 100}, {"_id": 3}]`
	runStageTests(t, []stageTest{
		{name: "equality", docs: orders, pipeline: `[{"$lookup": {"from": "inventory", "localField": "item", "foreignField": "sku", "as": "docs"}}]`,
			want: `[{"_id": 1, "item": "almonds", "quantity": 2, "docs": [{"_id": 1, "sku": "almonds", "instock": 120}]},
				{"_id": 2, "item": "pecans", "quantity": 100, "docs": [{"_id": 4, "sku": "pecans", "instock": 70}]},
				{"_id": 3, "docs": [{"_id": 5, "sku": null}, {"_id": 6}]}]`},
		{name: "local array", docs: `[{"_id": 1, "a": ["bread", "pecans"]}, {"_id": 2, "a": []}]`,
			pipeline: `[{"$lookup": {"from": "inventory", "localField": "a", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`,
			want:     `[{"_id": 1, "d": [2, 4]}, {"_id": 2, "d": [5, 6]}]`},
		{name: "local path through array", docs: `[{"_id": 1, "a": [{"b": "bread"}, {"b": ["pecans"]}, {"c": 1}]}]`,
			pipeline: `[{"$lookup": {"from": "inventory", "localField": "a.b", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`, want: `[{"_id": 1, "d": [2, 4]}]`},
		{name: "let and pipeline", docs: orders, pipeline: `[{"$match": {"_id": {"$lt": 3}}}, {"$lookup": {"from": "warehouses", "let": {"i": "$item", "q": "$quantity"}, "as": "stock",
			"pipeline": [{"$match": {"$expr": {"$and": [{"$eq": ["$item", "$$i"]}, {"$gte": ["$instock", "$$q"]}]}}}, {"$project": {"item": 0, "_id": 0}}]}}]`,
			want: `[{"_id": 1, "item": "almonds", "quantity": 2, "stock": [{"w": "A", "instock": 120}, {"w": "B", "instock": 60}]},
				{"_id": 2, "item": "pecans", "quantity": 100, "stock": []}]`},
		{name: "both", docs: orders, pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "let": {"q": "$quantity"}, "as": "s",
			"pipeline": [{"$match": {"w": "B"}}, {"$project": {"instock": 1, "_id": 0, "q": "$$q"}}]}}]`,
			want: `[{"_id": 1, "item": "almonds", "quantity": 2, "s": [{"instock": 60, "q": 2}]}, {"_id": 2, "item": "pecans", "quantity": 100, "s": []}, {"_id": 3, "s": []}]`},
		{name: "uncorrelated", docs: `[{"_id": 1}, {"_id": 2}]`, pipeline: `[{"$lookup": {"from": "warehouses", "as": "n", "pipeline": [{"$match": {"w": "A"}}, {"$count": "n"}]}}]`,
			want: `[{"_id": 1, "n": [{"n": 2}]}, {"_id": 2, "n": [{"n": 2}]}]`},
		{name: "variables in every kind of stage", docs: `[{"_id": 1, "q": 3}, {"_id": 2, "q": 4}]`, pipeline: `[{"$lookup": {"from": "warehouses", "let": {"q": "$q"}, "as": "d", "pipeline": [
			{"$sort": {"_id": 1}}, {"$limit": 1}, {"$addFields": {"v": {"$add": ["$$q", 1]}}}, {"$group": {"_id": "$$q", "v": {"$sum": "$v"}, "w": {"$push": {"x": "$$q"}}}}, {"$unionWith": {"pipeline": [{"$documents": ["$$CURRENT"]}, {"$match": {"x": 1}}]}},
			{"$replaceWith": {"a": "$$q", "b": "$$ROOT.v", "c": "$w.x"}}]}}, {"$project": {"d": 1}}]`,
			want: `[{"_id": 1, "d": [{"a": 3, "b": 4, "c": [3]}]}, {"_id": 2, "d": [{"a": 4, "b": 5, "c": [4]}]}]`},
		{name: "variable of an outer lookup", docs: `[{"_id": 1, "q": 3}, {"_id": 2, "q": 4}]`, pipeline: `[{"$lookup": {"from": "warehouses", "let": {"q": "$q"}, "as": "d", "pipeline": [{"$match": {"_id": 1}},
			{"$lookup": {"from": "warehouses", "let": {"r": "$_id"}, "as": "e", "pipeline": [{"$match": {"_id": 2}}, {"$project": {"s": {"$add": ["$$q", "$$r"]}}}]}}, {"$project": {"e": "$e.s"}}]}}, {"$project": {"d": "$d.e"}}]`,
			want: `[{"_id": 1, "d": [[4]]}, {"_id": 2, "d": [[5]]}]`},
		{name: "nested as", docs: `[{"_id": 1, "a": {"x": 1}, "k": "bread"}]`, pipeline: `[{"$lookup": {"from": "inventory", "localField": "k", "foreignField": "sku", "as": "a.b"}}]`,
			want: `[{"_id": 1, "a": {"x": 1, "b": [{"_id": 2, "sku": "bread", "instock": 80}]}, "k": "bread"}]`},
		{name: "view", docs: orders, pipeline: `[{"$lookup": {"from": "few", "localField": "item", "foreignField": "sku", "as": "d"}}, {"$project": {"d": "$d._id"}}]`,
			want: `[{"_id": 1, "d": []}, {"_id": 2, "d": [4]}, {"_id": 3, "d": []}]`},
		{name: "unwind", docs: orders, pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}},
			{"$unwind": {"path": "$w", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "i"}}, {"$project": {"w": "$w._id", "i": 1}}]`,
			want: `[{"_id": 1, "i": {"$numberLong": "0"}, "w": 1}, {"_id": 1, "i": {"$numberLong": "1"}, "w": 3}, {"_id": 2, "i": {"$numberLong": "0"}, "w": 2}, {"_id": 3, "i": null}]`},
		{name: "documents", docs: `[{"_id": 1, "k": 2}]`, pipeline: `[{"$lookup": {"localField": "k", "foreignField": "x", "as": "d", "pipeline": [{"$documents": [{"x": 1}, {"x": 2}]}]}}]`,
			want: `[{"_id": 1, "k": 2, "d": [{"x": 2}]}]`},
		{name: "match on the result", docs: orders, pipeline: `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}}, {"$unwind": "$w"},
			{"$match": {"w.w": "B", "quantity": 2}}, {"$project": {"w": "$w._id"}}]`, want: `[{"_id": 1, "w": 3}]`},
		{name: "regex is compared", docs: `[{"_id": 1, "k": {"$regularExpression": {"pattern": "^b", "options": ""}}}]`,
			pipeline: `[{"$lookup": {"from": "inventory", "localField": "k", "foreignField": "sku", "as": "d"}}, {"$project": {"n": {"$size": "$d"}}}]`, want: `[{"_id": 1, "n": 0}]`},
		{name: "not object", pipeline: `[{"$lookup": 1}]`, err: "9: the $lookup stage specification must be an object, but found int"},
		{name: "no as", pipeline: `[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b"}}]`, err: "9: must specify 'as' field for a $lookup"},
		{name: "no from", pipeline: `[{"$lookup": {"localField": "a", "foreignField": "b", "as": "c"}}]`, err: "9: must specify 'pipeline' when 'from' is empty"},
		{name: "only local", pipeline: `[{"$lookup": {"from": "x", "localField": "a", "as": "c"}}]`,
			err: "9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"},
		{name: "only local with pipeline", pipeline: `[{"$lookup": {"from": "x", "localField": "a", "as": "c", "pipeline": []}}]`,
			err: "9: $lookup requires both or neither of 'localField' and 'foreignField' to be specified"},
		{name: "let without pipeline", pipeline: `[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c", "let": {"v": 1}}}]`,
			err: "9: $lookup with a 'let' argument must also specify 'pipeline'"},
		{name: "unknown", pipeline: `[{"$lookup": {"from": "x", "foo": "y"}}]`, err: "9: unknown argument to $lookup: foo"},
		{name: "out inside", pipeline: `[{"$lookup": {"from": "x", "as": "a", "pipeline": [{"$out": "z"}]}}]`, err: "51047: $out is not allowed within a $lookup's sub-pipeline"},
		{name: "pipeline not array", pipeline: `[{"$lookup": {"from": "x", "as": "a", "pipeline": {}}}]`, err: "14: 'pipeline' option must be specified as an array"},
	}, withJoins(t))
}

func TestGraphLookupAndUnion(t *testing.T) {
	runStageTests(t, []stageTest{
		{name: "hierarchy", docs: `[{"_id": 1, "name": "Asya", "boss": "Ron"}]`,
			pipeline: `[{"$graphLookup": {"from": "employees", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "h", "depthField": "d"}}]`,
			want: `[{"_id": 1, "name": "Asya", "boss": "Ron", "h": [{"_id": 3, "name": "Ron", "boss": "Eliot", "d": {"$numberLong": "0"}},
				{"_id": 2, "name": "Eliot", "boss": "Dev", "d": {"$numberLong": "1"}}, {"_id": 1, "name": "Dev", "d": {"$numberLong": "2"}}]}]`},
		{name: "maxDepth", docs: `[{"_id": 1, "boss": "Ron"}]`,
			pipeline: `[{"$graphLookup": {"from": "employees", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "h", "maxDepth": 0}}, {"$project": {"h": "$h._id"}}]`, want: `[{"_id": 1, "h": [3]}]`},
		{name: "cycle and arrays", docs: `[{"_id": 1}]`,
			pipeline: `[{"$graphLookup": {"from": "loop", "startWith": 1, "connectFromField": "to", "connectToField": "_id", "as": "h"}}, {"$project": {"h": "$h._id"}}]`, want: `[{"_id": 1, "h": [1, 2, 3]}]`},
		{name: "restrict", docs: `[{"_id": 1}]`,
			pipeline: `[{"$graphLookup": {"from": "loop", "startWith": [1, 2], "connectFromField": "to", "connectToField": "_id", "as": "h", "restrictSearchWithMatch": {"_id": {"$ne": 2}}}}, {"$project": {"h": "$h._id"}}]`,
			want:     `[{"_id": 1, "h": [1]}]`},
		{name: "missing", pipeline: `[{"$graphLookup": {"from": "x"}}]`, err: "40105: $graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified."},
		{name: "maxDepth negative", pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": -1}}]`, err: "40101: maxDepth requires a nonnegative argument, found: -1"},
		{name: "maxDepth string", pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": "x"}}]`, err: "40100: maxDepth must be numeric, found type: string"},
		{name: "maxDepth fraction", pipeline: `[{"$graphLookup": {"from": "c", "maxDepth": 1.5}}]`, err: "40102: maxDepth could not be represented as a long long: 1"},
		{name: "restrict not object", pipeline: `[{"$graphLookup": {"from": "c", "restrictSearchWithMatch": 1}}]`, err: "40185: restrictSearchWithMatch must be an object, found int"},
		{name: "as number", pipeline: `[{"$graphLookup": {"from": "c", "as": 1}}]`, err: "40103: expected string as argument for as, found: int"},
		{name: "unknown", pipeline: `[{"$graphLookup": {"from": "c", "foo": 1}}]`, err: "40104: Unknown argument to $graphLookup: foo"},
		{name: "union", docs: `[{"_id": 1}]`, pipeline: `[{"$unionWith": {"coll": "warehouses", "pipeline": [{"$project": {"w": 1}}]}}]`,
			want: `[{"_id": 1}, {"_id": 1, "w": "A"}, {"_id": 2, "w": "A"}, {"_id": 3, "w": "B"}]`},
		{name: "union string", docs: `[{"_id": 0}]`, pipeline: `[{"$unionWith": "loop"}, {"$group": {"_id": null, "n": {"$sum": 1}}}]`, want: `[{"_id": null, "n": 4}]`},
		{name: "union documents", docs: `[{"_id": 0}]`, pipeline: `[{"$unionWith": {"pipeline": [{"$documents": [{"x": 1}]}]}}]`, want: `[{"_id": 0}, {"x": 1}]`},
		{name: "union number", pipeline: `[{"$unionWith": 1}]`, err: "9: the $unionWith stage specification must be an object or string, but found int"},
		{name: "union out", pipeline: `[{"$unionWith": {"coll": "x", "pipeline": [{"$out": "y"}]}}]`, err: "31441: $out is not allowed within a $unionWith's sub-pipeline"},
		{name: "union unknown", pipeline: `[{"$unionWith": {"coll": "x", "foo": 1}}]`, err: "40415: BSON field '$unionWith.foo' is an unknown field."},
	}, withJoins(t))
}

func TestLookupPushesEqualityToTheSource(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "item": "bread"}]`)
	withJoins(t)(h)
	if _, err := run(t, h, `[{"$lookup": {"from": "inventory", "localField": "item", "foreignField": "sku", "as": "d", "pipeline": [{"$match": {"instock": 80}}]}}]`); err != nil {
		t.Fatal(err)
	}
	got := h.opened[1].Filter.JSON()
	if want := `{"$and":[{"sku":{"$eq":"bread"}},{"instock":80}]}`; got != want {
		t.Errorf("filter %s, want %s", got, want)
	}
}

func TestUncorrelatedLookupRunsOnce(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1}, {"_id": 2}, {"_id": 3}]`)
	withJoins(t)(h)
	got, err := run(t, h, `[{"$lookup": {"from": "inventory", "let": {"x": "$_id"}, "as": "d", "pipeline": [{"$match": {"instock": {"$gt": 60}}}, {"$match": {"$expr": {"$eq": ["$_id", "$$x"]}}}]}}]`)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	// The condition on $$x keeps the first $match from being cached alone.
	if n := len(h.opened); n != 4 && n != 2 {
		t.Errorf("%d collections opened", n)
	}
	h.opened = nil
	if _, err = run(t, h, `[{"$lookup": {"from": "inventory", "as": "d", "pipeline": [{"$sort": {"instock": 1}}, {"$limit": 1}]}}]`); err != nil {
		t.Fatal(err)
	}
	if n := len(h.opened); n != 2 {
		t.Errorf("%d collections opened, want 2", n)
	}
}

func TestViewUnderPipeline(t *testing.T) {
	h := newMemory()
	withJoins(t)(h)
	p, err := Compile(array(t, `[{"$match": {"sku": "bread"}}]`), stage.Options{DB: "test", Coll: "few"})
	if err != nil {
		t.Fatal(err)
	}
	it, err := p.Open(newExec(h))
	if err != nil {
		t.Fatal(err)
	}
	got, err := stage.Drain(it)
	if err != nil || len(got) != 1 || !value.Equal(got[0].Lookup("_id"), value.Int32(2)) {
		t.Fatal(canonical(got), err)
	}
	if f := h.opened[0].Filter.JSON(); f != `{"$and":[{"instock":{"$lt":100}},{"sku":"bread"}]}` {
		t.Error("filter", f)
	}
}
