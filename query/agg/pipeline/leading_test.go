package pipeline_test

import (
	"slices"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

func TestLeading(t *testing.T) {
	for _, tt := range []struct {
		pipeline, filter, sort string
		limit                  int64
		fields                 []string
	}{
		{`[{"$sort": {"a": -1}}, {"$match": {"b": 1}}, {"$limit": 3}, {"$project": {"c": 1, "_id": 0}}]`, `{"b":1}`, `{"a":-1}`, 3, []string{"a", "b", "c"}},
		{`[{"$group": {"_id": "$a.b", "n": {"$sum": "$c"}}}]`, ``, ``, 0, []string{"a.b", "c"}},
		{`[{"$group": {"_id": null, "n": {"$sum": 1}}}]`, ``, ``, 0, []string{}},
		{`[{"$limit": 7}]`, ``, ``, 7, nil},
		{`[{"$addFields": {"x": "$$ROOT"}}, {"$project": {"x": 1}}]`, ``, ``, 0, nil},
		{`[{"$unwind": "$a"}, {"$count": "n"}]`, ``, ``, 0, []string{"a"}},
	} {
		p, err := agg.Compile(aggtest.Array(t, tt.pipeline), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		l := p.Leading()
		filter, sort := "", ""
		if l.Filter != nil {
			filter = l.Filter.JSON()
		}
		if l.Sort != nil {
			sort = l.Sort.JSON()
		}
		if filter != tt.filter || sort != tt.sort || l.Limit != tt.limit || !slices.Equal(l.Fields, tt.fields) || (l.Fields == nil) != (tt.fields == nil) {
			t.Errorf("%s: %s %s %d %v", tt.pipeline, filter, sort, l.Limit, l.Fields)
		}
	}
}

func TestSortedSource(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$sort": {"a": 1}}, {"$limit": 1}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	rest := p.Rest(p.Leading(), true)
	if got := aggtest.Shape(rest); got != `[{"$limit":1}]` {
		t.Error(got)
	}
}

func TestViewUnderPipeline(t *testing.T) {
	h := aggtest.NewHost()
	aggtest.WithJoins(t)(h)
	p, err := agg.Compile(aggtest.Array(t, `[{"$match": {"sku": "bread"}}]`), stage.Options{DB: "test", Coll: "few"})
	if err != nil {
		t.Fatal(err)
	}
	it, err := p.Open(aggtest.Exec(h))
	if err != nil {
		t.Fatal(err)
	}
	got, err := aggtest.ReadAll(it)
	if err != nil || len(got) != 1 || !value.Equal(got[0].Lookup("_id"), value.Int32(2)) {
		t.Fatal(aggtest.Canonical(got), err)
	}
	if f := h.Opened[0].Filter.JSON(); f != `{"$and":[{"instock":{"$lt":100}},{"sku":"bread"}]}` {
		t.Error("filter", f)
	}
}

func TestViewCycle(t *testing.T) {
	h := aggtest.NewHost()
	h.Views["test.c"] = stage.Namespace{DB: "test", Coll: "v", Pipeline: aggtest.Array(t, `[{"$match": {}}]`)}
	h.Views["test.v"] = stage.Namespace{DB: "test", Coll: "c", Pipeline: aggtest.Array(t, `[{"$limit": 5}]`)}
	_, err := aggtest.Run(t, h, `[]`)
	aggtest.CheckError(t, err, "165: View depth too deep or view cycle detected; maximum depth is 20")
}
