package source_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

func TestDocumentsAndSpecials(t *testing.T) {
	h := aggtest.NewHost()
	h.Specials["$collStats"] = aggtest.Docs(t, `[{"ns": "test.c", "count": 5}]`)
	p, err := agg.Compile(aggtest.Array(t, `[{"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}, {"$match": {"a": 2}}]`), stage.Options{DB: "test"})
	if err != nil {
		t.Fatal(err)
	}
	it, err := p.Open(aggtest.Exec(h))
	if err != nil {
		t.Fatal(err)
	}
	got, err := aggtest.ReadAll(it)
	if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"a": 2}]`)) {
		t.Error(aggtest.Canonical(got), err)
	}
	got, err = aggtest.Run(t, h, `[{"$collStats": {"count": {}}}, {"$project": {"count": 1}}]`)
	if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"count": 5}]`)) {
		t.Error(aggtest.Canonical(got), err)
	}
}

func TestGeoNear(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "d": 5.0, "loc": [1, 1], "c": "x"}, {"_id": 2, "d": 2.5, "loc": [2, 2], "c": "x"}, {"_id": 3, "d": 1.0, "c": "y"}]`)
	got, err := aggtest.Run(t, h, `[{"$geoNear": {"near": {"type": "Point", "coordinates": [0, 0]}, "distanceField": "dist.calc", "includeLocs": "dist.loc", "query": {"c": "x"}, "distanceMultiplier": 2, "maxDistance": 10, "key": "loc"}},
		{"$project": {"dist": 1}}]`)
	want := `[{"_id": 2, "dist": {"calc": 5.0, "loc": [2, 2]}}, {"_id": 1, "dist": {"calc": 10.0, "loc": [1, 1]}}]`
	if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, want)) {
		t.Error(aggtest.Canonical(got), err)
	}
	if n := h.Opened[0].Near; n.MaxDistance != 10 || n.Key != "loc" {
		t.Error(n)
	}
}

func TestGeoNearOfVariable(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "pt": [3, 4]}]`)
	h.Colls["test.places"] = aggtest.Docs(t, `[{"_id": 1, "d": 5.0, "loc": [1, 1]}]`)
	got, err := aggtest.Run(t, h, `[{"$lookup": {"from": "places", "let": {"p": "$pt"}, "as": "n", "pipeline": [{"$geoNear": {"near": "$$p", "distanceField": "dist", "key": "loc"}}]}}, {"$project": {"n": "$n.dist"}}]`)
	if err != nil || aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"_id": 1, "n": [5.0]}]`)) || h.Opened[1].Near.Point.JSON() != "[3,4]" {
		t.Error(aggtest.Canonical(got), err, h.Opened)
	}
	_, err = agg.Compile(aggtest.Array(t, `[{"$geoNear": {"near": "$a", "distanceField": "d"}}]`), stage.Options{DB: "test", Coll: "c"})
	aggtest.CheckError(t, err, "5860402: $geoNear requires 'near' to be a constant expression or one of variables")
}

func TestLargeEventIsSplit(t *testing.T) {
	h := aggtest.NewHost()
	half := value.String(strings.Repeat("x", 9<<20))
	h.Specials["$changeStream"] = []value.Doc{
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("82"))), "a", half, "b", half),
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("83"))), "a", value.Int32(1)),
		value.NewDoc("_id", value.Document(value.NewDoc("_data", value.String("84"))), "a", value.String(strings.Repeat("x", 16<<20))),
	}
	got, err := aggtest.Run(t, h, `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}]`)
	if err != nil || len(got) != 4 || !got[1].Has("splitEvent") || got[2].Has("splitEvent") || got[3].Has("splitEvent") {
		t.Error(len(got), err)
	}
}
