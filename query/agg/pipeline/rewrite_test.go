package pipeline_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
)

func TestRewrites(t *testing.T) {
	for _, tt := range []struct{ name, pipeline, want string }{
		{"joins matches", `[{"$match": {"a": 1}}, {"$match": {"b": 2}}]`, `[{"$match":{"$and":[{"a":1},{"b":2}]}}]`},
		{"drops an empty match", `[{"$match": {}}, {"$limit": 1}]`, `[{"$limit":1}]`},
		{"least limit", `[{"$limit": 5}, {"$limit": 3}, {"$limit": 4}]`, `[{"$limit":3}]`},
		{"adds skips", `[{"$skip": 5}, {"$skip": 3}]`, `[{"$skip":8}]`},
		{"limit into sort", `[{"$sort": {"a": 1}}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":3}}]`},
		{"limit into sort past project", `[{"$sort": {"a": 1}}, {"$addFields": {"b": 1}}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":3}},{"$addFields":{"b":{"$const":1}}}]`},
		{"sort learns of skip and limit", `[{"$sort": {"a": 1}}, {"$skip": 2}, {"$limit": 3}]`, `[{"$sort":{"sortKey":{"a":1},"limit":5}},{"$skip":2},{"$limit":3}]`},
		{"match before sort", `[{"$sort": {"a": 1}}, {"$match": {"b": 1}}]`, `[{"$match":{"b":1}},{"$sort":{"sortKey":{"a":1}}}]`},
		{"not before a bounded sort", `[{"$sort": {"a": 1}}, {"$limit": 2}, {"$match": {"b": 1}}]`, `[{"$sort":{"sortKey":{"a":1},"limit":2}},{"$match":{"b":1}}]`},
		{"match before addFields", `[{"$addFields": {"x": {"$add": ["$a", 1]}}}, {"$match": {"a": 1, "x": 2}}]`, `[{"$match":{"a":1}},{"$addFields":{"x":{"$add":["$a",{"$const":1}]}}},{"$match":{"x":2}}]`},
		{"match through a rename", `[{"$addFields": {"x": "$a"}}, {"$match": {"x.y": 2}}]`, `[{"$match":{"a.y":2}},{"$addFields":{"x":"$a"}}]`},
		{"no rename of a dotted path", `[{"$addFields": {"x": "$a.b"}}, {"$match": {"x": 2}}]`, `[{"$addFields":{"x":"$a.b"}},{"$match":{"x":2}}]`},
		{"match before inclusion", `[{"$project": {"a": 1}}, {"$match": {"a.b": 1, "c": 1}}]`, `[{"$match":{"a.b":1}},{"$project":{"_id":true,"a":true}},{"$match":{"c":1}}]`},
		{"match before exclusion", `[{"$project": {"a": 0}}, {"$match": {"a": 1, "c": 1}}]`, `[{"$match":{"c":1}},{"$project":{"a":false,"_id":true}},{"$match":{"a":1}}]`},
		{"match before unwind", `[{"$unwind": "$a"}, {"$match": {"a.x": 1, "b": 1}}]`, `[{"$match":{"b":1}},{"$unwind":{"path":"$a"}},{"$match":{"a.x":1}}]`},
		{"match before lookup", `[{"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c"}}, {"$match": {"a": 1, "c": 2}}]`,
			`[{"$match":{"a":1}},{"$lookup":{"from":"x","localField":"a","foreignField":"b","as":"c"}},{"$match":{"c":2}}]`},
		{"expression moves by its paths", `[{"$sort": {"a": 1}}, {"$match": {"$expr": {"$eq": ["$a", "$b"]}}}]`, `[{"$match":{"$expr":{"$eq":["$a","$b"]}}},{"$sort":{"sortKey":{"a":1}}}]`},
		{"match into union", `[{"$unionWith": "x"}, {"$match": {"a": 1}}]`, `[{"$match":{"a":1}},{"$unionWith":{"coll":"x","pipeline":[{"$match":{"a":1}}]}}]`},
		{"nothing past group", `[{"$group": {"_id": "$a"}}, {"$match": {"_id": 1}}]`, `[{"$group":{"_id":"$a"}},{"$match":{"_id":1}}]`},
		{"nothing past limit", `[{"$limit": 2}, {"$match": {"a": 1}}]`, `[{"$limit":2},{"$match":{"a":1}}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := agg.Compile(aggtest.Array(t, tt.pipeline), stage.Options{DB: "test", Coll: "c"})
			if err != nil {
				t.Fatal(err)
			}
			if got := aggtest.Shape(p); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSortedTwice(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$sort": {"a": 1, "b": 1}}, {"$sort": {"a": 1}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := aggtest.Shape(p); got != `[{"$sort":{"sortKey":{"a":1,"b":1}}}]` {
		t.Error(got)
	}
}

func TestOptimizedPipelinesGiveTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := aggtest.NewHost()
		for i := range rapid.IntRange(0, 8).Draw(rt, "docs") {
			h.Colls["test.c"] = append(h.Colls["test.c"], aggtest.GenDoc(rt, i))
		}
		for i := range rapid.IntRange(0, 4).Draw(rt, "others") {
			h.Colls["test.d"] = append(h.Colls["test.d"], aggtest.GenDoc(rt, i))
		}
		pipeline := "["
		for i := range rapid.IntRange(1, 6).Draw(rt, "stages") {
			if i > 0 {
				pipeline += ", "
			}
			pipeline += aggtest.GenStage(rt)
		}
		pipeline += "]"
		plain, errPlain := aggtest.Drain(t, pipeline, stage.Options{DB: "test", Coll: "c", NoOptimize: true}, aggtest.Exec(h))
		h.Eager = rapid.Bool().Draw(rt, "eager")
		fast, errFast := aggtest.Drain(t, pipeline, stage.Options{DB: "test", Coll: "c"}, aggtest.Exec(h))
		if errPlain != nil || errFast != nil {
			// A condition that moves forward may prevent the error of an expression.
			return
		}
		if p, f := aggtest.Canonical(plain), aggtest.Canonical(fast); p != f {
			rt.Fatalf("%s\nplain\n%soptimised\n%s", pipeline, p, f)
		}
	})
}
