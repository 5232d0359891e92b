package pipeline_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// compile compiles a pipeline on test.c.
func compile(t *testing.T, pipeline string) *agg.Pipeline {
	t.Helper()
	p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRefusals: errors of mongod's Pipeline::parse and of its optimiser.
func TestRefusals(t *testing.T) {
	aggtest.RunCases(t, []aggtest.Case{
		{Name: "fold", Pipeline: `[{"$set": {"a": {"$divide": [1, 0]}}}]`, Err: "2: Failed to optimize pipeline :: caused by :: can't $divide by zero"},
		{Name: "no metadata", Pipeline: `[{"$set": {"a": {"$meta": "textScore"}}}]`, Err: "40218: query requires text score metadata, but it is not available"},
		{Name: "no stage", Pipeline: `[{"$foo": 1}]`, Err: "40324: Unrecognized pipeline stage name: '$foo'"},
	}, nil)
}

// TestGroupsOfDistinct: a $group that needs one document of each group requests only
// these from the source.
func TestGroupsOfDistinct(t *testing.T) {
	for _, tt := range []struct {
		pipeline, distinct string
		last               bool
	}{
		{`[{"$group": {"_id": "$a"}}]`, "a", false},
		{`[{"$sort": {"a": 1, "b": 1}}, {"$group": {"_id": "$a", "x": {"$first": "$b"}}}]`, "a", false},
		{`[{"$sort": {"a": 1, "b": 1}}, {"$group": {"_id": "$a", "x": {"$last": "$b"}, "y": {"$last": "$c"}}}]`, "a", true},
		{`[{"$sort": {"a": 1, "b": 1}}, {"$group": {"_id": "$a", "x": {"$last": "$b"}, "y": {"$first": "$c"}}}]`, "", false},
		{`[{"$sort": {"b": 1}}, {"$group": {"_id": "$a", "x": {"$first": "$b"}}}]`, "", false},
		{`[{"$sort": {"a": 1}}, {"$limit": 3}, {"$group": {"_id": "$a"}}]`, "", false},
		{`[{"$group": {"_id": "$a", "n": {"$sum": 1}}}]`, "", false},
		{`[{"$group": {"_id": {"$add": ["$a", 1]}}}]`, "", false},
		{`[{"$sort": {"a": 1}}]`, "", false},
	} {
		l := compile(t, tt.pipeline).Leading()
		if l.Distinct != tt.distinct || l.Last != tt.last {
			t.Errorf("%s: %q, last %t", tt.pipeline, l.Distinct, l.Last)
		}
	}
}

// TestLeadingOfOtherKinds: a $geoNear, a $sample and metadata of the source.
func TestLeadingOfOtherKinds(t *testing.T) {
	l := compile(t, `[{"$geoNear": {"near": [1, 2], "distanceField": "d", "query": {"a": 1}}}, {"$limit": 3}]`).Leading()
	if l.Near == nil || l.Filter.JSON() != `{"a":1}` || l.Limit != 3 || l.Distinct != "" {
		t.Error(l)
	}
	if l := compile(t, `[{"$match": {"a": 1}}, {"$sample": {"size": 4}}]`).Leading(); l.Filter.JSON() != `{"a":1}` {
		t.Error(l)
	}
	if l := compile(t, `[{"$project": {"r": {"$meta": "recordId"}, "k": {"$meta": "indexKey"}, "r2": {"$meta": "recordId"}}}]`).Leading(); !slices.Equal(l.Meta, []expr.MetaKind{expr.MetaRecordID, expr.MetaIndexKey}) && !slices.Equal(l.Meta, []expr.MetaKind{expr.MetaIndexKey, expr.MetaRecordID}) {
		t.Error(l.Meta)
	}
}

// TestIsFind: a pipeline that a find could do.
func TestIsFind(t *testing.T) {
	for pipeline, want := range map[string]bool{
		`[]`: true, `[{"$match": {"a": 1}}]`: true, `[{"$match": {"a": 1}}, {"$sort": {"a": 1}}, {"$limit": 3}]`: true, `[{"$limit": 3}]`: true,
		`[{"$project": {"a": 1}}]`: false, `[{"$limit": 3}, {"$project": {"a": 1}}]`: false, `[{"$geoNear": {"near": [1, 2], "distanceField": "d"}}]`: false,
	} {
		p := compile(t, pipeline)
		if got := p.IsFind(p.Leading()); got != want {
			t.Errorf("%s: %t", pipeline, got)
		}
	}
}

// backwards is a host that gives the last document of each group first.
type backwards struct{ *aggtest.Host }

func (h backwards) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	src, err := h.Host.Open(x, r)
	src.Sorted, src.Backwards = true, r.Last
	return src, err
}

func TestBackwards(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"a": 2, "b": 9}, {"a": 1, "b": 5}, {"a": 1, "b": 4}]`)
	got, err := aggtest.Run(t, backwards{h}, `[{"$sort": {"a": 1, "b": 1}}, {"$group": {"_id": "$a", "b": {"$last": "$b"}}}, {"$sort": {"_id": 1}}]`)
	if want := aggtest.Canonical(aggtest.Docs(t, `[{"_id": 1, "b": 5}, {"_id": 2, "b": 9}]`)); err != nil || aggtest.Canonical(got) != want {
		t.Error(aggtest.Canonical(got), err)
	}
}

// TestEventsOfStreams: the conditions of a $match on the kind and namespace of events
// reach the source.
func TestEventsOfStreams(t *testing.T) {
	for filter, want := range map[string]bool{
		`{"operationType": "insert"}`: true, `{"ns.coll": "c", "fullDocument.a": 1}`: true, `{"fullDocument.a": 1}`: false, `{}`: false,
	} {
		h := aggtest.NewHost()
		if _, err := aggtest.Run(t, h, `[{"$changeStream": {}}, {"$match": `+filter+`}]`); err != nil {
			t.Fatal(err)
		}
		if got := h.Asked[0].Events != nil; got != want {
			t.Errorf("%s: %t", filter, got)
		}
	}
	p := compile(t, `[{"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}]`)
	if !p.SplitsEvents() || !p.IsChangeStream() || compile(t, `[{"$changeStream": {}}]`).SplitsEvents() {
		t.Error("splits")
	}
}

// TestViews: stages about indexes use the collection under a view; a stage that must be
// the first is refused after a view's pipeline.
func TestViews(t *testing.T) {
	view := func(h *aggtest.Host, stages string) {
		h.Views["test.c"] = stage.Namespace{DB: "test", Coll: "under", Pipeline: aggtest.Array(t, stages)}
	}
	h := aggtest.NewHost()
	view(h, `[]`)
	if _, err := aggtest.Run(t, h, `[{"$indexStats": {}}]`); err != nil || h.Asked[0].Coll != "under" {
		t.Error(err, h.Asked)
	}
	view(h, `[{"$match": {"x": 1}}]`)
	_, err := aggtest.Run(t, h, `[{"$geoNear": {"near": [1, 2], "distanceField": "d"}}]`)
	aggtest.CheckError(t, err, "40603: $geoNear was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?")
	view(h, `[{"$foo": 1}]`)
	_, err = aggtest.Run(t, h, `[{"$match": {}}]`)
	aggtest.CheckError(t, err, "40324: Unrecognized pipeline stage name: '$foo'")
	broken := errors.New("broken")
	for _, what := range []string{"resolve", "open"} {
		h := aggtest.NewHost()
		h.Fail = func(w string) error {
			if w == what {
				return broken
			}
			return nil
		}
		for _, pipeline := range []string{`[{"$match": {}}]`, `[{"$indexStats": {}}]`} {
			if _, err := aggtest.Run(t, h, pipeline); !errors.Is(err, broken) && (what == "resolve" || pipeline == `[{"$match": {}}]`) {
				t.Error(what, pipeline, err)
			}
		}
	}
	cycle := aggtest.NewHost()
	cycle.Views["test.c"] = stage.Namespace{DB: "test", Coll: "c", Pipeline: value.EmptyDoc}
	_, err = aggtest.Run(t, cycle, `[{"$indexStats": {}}]`)
	aggtest.CheckError(t, err, "165: View depth too deep or view cycle detected; maximum depth is 20")
}

// TestApply: the pipeline of an update changes one document.
func TestApply(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$set": {"a": {"$divide": [6, "$b"]}}}]`), stage.Options{DB: "test", Coll: "c", Update: true})
	if err != nil {
		t.Fatal(err)
	}
	x := aggtest.Exec(nil)
	if d, err := p.Apply(x, value.MustJSON(`{"b": 3}`)); err != nil || d.JSON() != `{"b":3,"a":2.0}` {
		t.Error(d, err)
	}
	_, err = p.Apply(x, value.MustJSON(`{"b": 0}`))
	aggtest.CheckError(t, err, "2: can't $divide by zero")
	_, err = compile(t, `[{"$limit": 1}]`).Apply(x, value.EmptyDoc)
	aggtest.CheckError(t, err, "72: $limit is not allowed to be used within an update")
}

// TestMoreRewrites: corners of the optimiser.
func TestMoreRewrites(t *testing.T) {
	for _, tt := range [][2]string{
		{`[{"$skip": 0}, {"$limit": 2}]`, `[{"$limit":2}]`},
		{`[{"$sort": {"a": 1}}, {"$limit": 5}, {"$limit": 2}]`, `[{"$sort":{"sortKey":{"a":1},"limit":2}}]`},
		{`[{"$set": {"x": "$a"}}, {"$match": {"$or": [{"x": 1}, {"b": 2}]}}]`, `[{"$match":{"$or":[{"a":1},{"b":2}]}},{"$set":{"x":"$a"}}]`},
		{`[{"$set": {"x": "$a"}}, {"$match": {"$expr": {"$eq": ["$x", 1]}}}]`, `[{"$set":{"x":"$a"}},{"$match":{"$expr":{"$eq":["$x",1]}}}]`},
		{`[{"$set": {"z": 1}}, {"$match": {"$and": [{"a": 1}, {"z": 2}]}}]`, `[{"$match":{"a":1}},{"$set":{"z":{"$const":1}}},{"$match":{"z":2}}]`},
	} {
		if got := aggtest.Shape(compile(t, tt[0])); got != tt[1] {
			t.Errorf("got  %s\nwant %s", got, tt[1])
		}
	}
	if _, ok := compile(t, `[{"$out": "x"}]`).MergeTarget(); ok {
		t.Error("$out merges")
	}
	if _, ok := compile(t, `[]`).MergeTarget(); ok {
		t.Error("nothing merges")
	}
	if _, _, ok := compile(t, `[]`).Target(); ok {
		t.Error("nothing writes")
	}
}
