package pipeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

func TestPipelineFacts(t *testing.T) {
	for _, tt := range []struct {
		coll, pipeline string
		stream, source bool
		namespaces     string
	}{
		{"c", `[{"$changeStream": {}}, {"$project": {"x": 1}}, {"$changeStreamSplitLargeEvent": {}}]`, true, true, ""},
		{"", `[{"$documents": []}]`, false, true, ""},
		{"c", `[{"$lookup": {"from": "a", "as": "x", "pipeline": [{"$unionWith": "b"}]}}, {"$facet": {"f": [{"$graphLookup": {"from": "g", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "c"}}]}}, {"$out": "o"}]`,
			false, false, "test.b test.a test.g test.o"},
	} {
		p, err := agg.Compile(aggtest.Array(t, tt.pipeline), stage.Options{DB: "test", Coll: tt.coll})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Namespaces(), " "); p.IsChangeStream() != tt.stream || p.IsSource() != tt.source || got != tt.namespaces {
			t.Error(p.IsChangeStream(), p.IsSource(), got)
		}
		p.Explain(pipeline.ExecutionStats, aggtest.Exec(nil))
		if p.Len() == 0 {
			t.Error("no stages")
		}
	}
}

func TestWritesAndTarget(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$merge": {"into": {"db": "x", "coll": "y"}}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	db, coll, ok := p.Target()
	if !p.Writes() || !ok || db != "x" || coll != "y" || !slices.Equal(p.Namespaces(), []string{"x.y"}) {
		t.Error(db, coll, ok, p.Namespaces())
	}
}

func TestInterrupt(t *testing.T) {
	h := aggtest.NewHost()
	for i := range 1000 {
		h.Colls["test.c"] = append(h.Colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	stop := errors.New("stop")
	for _, pipeline := range []string{`[{"$match": {"x": 1}}]`, `[{"$group": {"_id": "$_id"}}]`, `[{"$sort": {"_id": -1}}]`, `[{"$count": "n"}]`,
		`[{"$setWindowFields": {"output": {"a": {"$sum": 1}}}}]`, `[{"$unionWith": "c"}, {"$match": {"x": 1}}]`} {
		p, err := agg.Compile(aggtest.Array(t, pipeline), stage.Options{DB: "test", Coll: "c", NoOptimize: true})
		if err != nil {
			t.Fatal(err)
		}
		x := aggtest.Exec(h)
		x.Interrupt = func() error { return stop }
		it, err := p.Run(x, stage.Docs(h.Colls["test.c"]...))
		if err == nil {
			_, err = aggtest.ReadAll(it)
		}
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", pipeline, err)
		}
	}
}

func TestExplain(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]`)
	p, err := agg.Compile(aggtest.Array(t, `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}, {"$limit": 5}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	x := aggtest.Exec(h)
	now := int64(0)
	x.NowMillis = func() int64 { now++; return now }
	it, err := p.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = aggtest.ReadAll(it); err != nil {
		t.Fatal(err)
	}
	stages := p.Explain(pipeline.ExecutionStats, x)
	if len(stages) != 2 || stages[0].Lookup("nReturned").Int64() != 1 || stages[0].Lookup("executionTimeMillisEstimate").Int64() == 0 {
		t.Error(aggtest.Canonical(stages))
	}
	if got := stages[1].Lookup("$sort").JSON(); got != `{"sortKey":{"n":-1},"limit":5}` {
		t.Error(got)
	}
	if got := p.Explain(pipeline.QueryPlanner, nil)[0].JSON(); got != `{"$group":{"_id":"$a","n":{"$sum":{"$const":1}}}}` {
		t.Error(got)
	}
}
