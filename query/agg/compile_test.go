package agg

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// compileTest is a pipeline on a namespace and the error it gives, "" for
// none.
type compileTest struct {
	db, coll string
	pipeline string
	err      string
}

func TestRulesOfPlaces(t *testing.T) {
	for _, tt := range []compileTest{
		{"test", "c", `[{"$foo": 1}]`, "40324: Unrecognized pipeline stage name: '$foo'"},
		{"test", "c", `[{"match": {}}]`, "40324: Unrecognized pipeline stage name: 'match'"},
		{"test", "c", `[1]`, "14: Each element of the 'pipeline' array must be an object"},
		{"test", "c", `[{}]`, "40323: A pipeline stage specification object must contain exactly one field."},
		{"test", "c", `[{"$match": {}, "$limit": 1}]`, "40323: A pipeline stage specification object must contain exactly one field."},
		{"test", "c", `[{"$match": {}}, {"$geoNear": {"near": [1, 2], "distanceField": "d"}}]`, "40603: $geoNear was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?"},
		{"test", "c", `[{"$limit": 1}, {"$collStats": {}}]`, "40602: $collStats is only valid as the first stage in a pipeline"},
		{"test", "c", `[{"$limit": 1}, {"$match": {"$text": {"$search": "x"}}}]`, "17313: $match with $text is only allowed as the first pipeline stage"},
		{"test", "", `[{"$match": {}}]`, "73: {aggregate: 1} is not valid for '$match'; a collection is required."},
		{"test", "c", `[{"$documents": []}]`, "73: '$documents' can only be run with {aggregate: 1}"},
		{"test", "", `[{"$documents": 1}]`, "5858203: an array is expected"},
		{"test", "", `[{"$currentOp": {}}]`, "73: $currentOp must be run against the 'admin' database with {aggregate: 1}"},
		{"admin", "", `[{"$currentOp": {"foo": true}}]`, "9: Unrecognized option 'foo' in $currentOp stage."},
		{"admin", "", `[{"$currentOp": {"allUsers": 1}}]`, "9: The 'allUsers' parameter of the $currentOp stage must be a boolean value, but found: int"},
		{"admin", "", `[{"$currentOp": {"allUsers": true, "localOps": true}}]`, ""},
		{"test", "c", `[{"$indexStats": {"a": 1}}]`, "28803: The $indexStats stage specification must be an empty object"},
		{"test", "c", `[{"$indexStats": {}}]`, ""},
		{"test", "c", `[{"$collStats": 1}]`, "5447000: $collStats must take a nested object but found: $collStats: 1"},
		{"test", "c", `[{"$collStats": {"foo": {}}}]`, "40415: BSON field '$collStats.foo' is an unknown field."},
		{"test", "c", `[{"$collStats": {"latencyStats": {"histograms": true}, "storageStats": {"scale": 1024}, "count": {}}}]`, ""},
		{"test", "c", `[{"$planCacheStats": {}}]`, ""},
		{"test", "c", `[{"$planCacheStats": {"x": 1}}]`, "9: $planCacheStats parameters object may contain only 'allHosts' field. Found: x"},
		{"config", "system.sessions", `[{"$listSessions": {"allUsers": true}}]`, ""},
		{"test", "c", `[{"$listSessions": {}}]`, "73: $listSessions may only be run against config.system.sessions"},
		{"test", "", `[{"$listLocalSessions": {"users": [{"user": "a", "db": "b"}]}}]`, ""},
		{"test", "", `[{"$listLocalSessions": {"allUsers": true, "users": [{"user": "a", "db": "b"}]}}]`, "12: $listLocalSessions may not specify {allUsers:true} and {users:[...]} at the same time"},
		{"test", "c", `[{"$search": {}}]`, "31082: Using $search and $vectorSearch aggregation stages requires…"},
		{"test", "c", `[{"$listSearchIndexes": {}}]`, "31082: Using Atlas Search Database Commands…"},
		{"admin", "", `[{"$shardedDataDistribution": {}}]`, "40644: $shardedDataDistribution can only be run on mongoS"},
		{"admin", "", `[{"$queryStats": {}}]`, "224: $queryStats is not allowed in the current configuration. You may need to enable the corresponding feature flag"},
		{"test", "c", `[{"$changeStream": {}}, {"$match": {}}]`, ""},
		{"test", "c", `[{"$changeStream": {}}, {"$group": {"_id": 1}}]`, "20: $group is not permitted in a $changeStream pipeline"},
		{"test", "c", `[{"$changeStreamSplitLargeEvent": {}}]`, "20: $changeStreamSplitLargeEvent can only be used in a $changeStream pipeline"},
		{"test", "c", `[{"$changeStream": {"fullDocumentBeforeChange": "y", "fullDocument": "x"}}]`, "2: Enumeration value 'y' for field '$changeStream.fullDocumentBeforeChange' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"fullDocument": "x", "fullDocumentBeforeChange": "y"}}]`, "2: Enumeration value 'x' for field '$changeStream.fullDocument' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"fullDocument": "x"}}]`, "2: Enumeration value 'x' for field '$changeStream.fullDocument' is not a valid value."},
		{"test", "c", `[{"$changeStream": {"foo": 1}}]`, "40415: BSON field '$changeStream.foo' is an unknown field."},
		{"test", "c", `[{"$project": {"a": {"$divide": [1, 0]}}}]`, "2: Failed to optimize pipeline :: caused by :: can't $divide by zero"},
		{"test", "c", `[{"$sort": {"s": {"$meta": "textScore"}}}]`, "40218: query requires text score metadata, but it is not available"},
		{"test", "c", `[{"$project": {"s": {"$meta": "geoNearDistance"}}}]`, "40218: query requires $geoNear distance metadata, but it is not available"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "d"}}, {"$project": {"s": {"$meta": "geoNearDistance"}}}]`, ""},
		{"test", "c", `[{"$sort": {"s": {"$meta": "randVal"}}}]`, ""},
		{"test", "c", `[{"$geoNear": {"distanceField": "d"}}]`, "5860400: $geoNear requires a 'near' argument"},
		{"test", "c", `[{"$geoNear": {"near": [1, 2], "distanceField": "d", "limit": 1}}]`, "50858: $geoNear no longer supports the 'limit' parameter. Use a $limit stage instead."},
	} {
		t.Run(tt.pipeline, func(t *testing.T) {
			_, err := Compile(array(t, tt.pipeline), stage.Options{DB: tt.db, Coll: tt.coll})
			if tt.err != "" {
				checkError(t, err, tt.err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	_, err := CompileValue(value.Int32(1), stage.Options{})
	checkError(t, err, "14: 'pipeline' option must be specified as an array")
	_, err = Compile(array(t, "["+strings.Repeat(`{"$skip": 1},`, 1000)+`{"$skip": 1}]`), stage.Options{DB: "test", Coll: "c"})
	checkError(t, err, "7749501: Pipeline length must be no longer than 1000 stages")
	nested := strings.Repeat(`[{"$unionWith": {"coll": "x", "pipeline": `, 21) + "[]" + strings.Repeat("}}]", 21)
	_, err = Compile(array(t, nested), stage.Options{DB: "test", Coll: "c"})
	checkError(t, err, "232: Maximum number of nested sub-pipelines exceeded. Limit: 20")
	_, err = Compile(array(t, `[{"$out": "x"}]`), stage.Options{DB: "test", Coll: "c", InTransaction: true})
	checkError(t, err, "263: Stage not supported inside of a multi-document transaction: $out")
}

func TestNames(t *testing.T) {
	if n := len(StageNames()); n != len(definitions)-6 {
		t.Errorf("%d stages", n)
	}
	if n := len(group.Accumulators()); n != 23 {
		t.Errorf("%d accumulators", n)
	}
	if n := len(window.Operators()); n != 32 {
		t.Errorf("%d window operators: %v", n, window.Operators())
	}
	if !slices.IsSortedFunc(definitions, func(a, b stage.Definition) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted")
	}
}

func TestDocumentsAndSpecials(t *testing.T) {
	h := newMemory()
	h.special["$collStats"] = docs(t, `[{"ns": "test.c", "count": 5}]`)
	p, err := Compile(array(t, `[{"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}, {"$match": {"a": 2}}]`), stage.Options{DB: "test"})
	if err != nil {
		t.Fatal(err)
	}
	it, err := p.Open(newExec(h))
	if err != nil {
		t.Fatal(err)
	}
	got, err := stage.Drain(it)
	if err != nil || canonical(got) != canonical(docs(t, `[{"a": 2}]`)) {
		t.Error(canonical(got), err)
	}
	got, err = run(t, h, `[{"$collStats": {"count": {}}}, {"$project": {"count": 1}}]`)
	if err != nil || canonical(got) != canonical(docs(t, `[{"count": 5}]`)) {
		t.Error(canonical(got), err)
	}
}

func TestGeoNear(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "d": 5.0, "loc": [1, 1], "c": "x"}, {"_id": 2, "d": 2.5, "loc": [2, 2], "c": "x"}, {"_id": 3, "d": 1.0, "c": "y"}]`)
	got, err := run(t, h, `[{"$geoNear": {"near": {"type": "Point", "coordinates": [0, 0]}, "distanceField": "dist.calc", "includeLocs": "dist.loc", "query": {"c": "x"}, "distanceMultiplier": 2, "maxDistance": 10, "key": "loc"}},
		{"$project": {"dist": 1}}]`)
	want := `[{"_id": 2, "dist": {"calc": 5.0, "loc": [2, 2]}}, {"_id": 1, "dist": {"calc": 10.0, "loc": [1, 1]}}]`
	if err != nil || canonical(got) != canonical(docs(t, want)) {
		t.Error(canonical(got), err)
	}
	if n := h.opened[0].Near; n.MaxDistance != 10 || n.Key != "loc" {
		t.Error(n)
	}
}

func TestGeoNearOfVariable(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "pt": [3, 4]}]`)
	h.colls["test.places"] = docs(t, `[{"_id": 1, "d": 5.0, "loc": [1, 1]}]`)
	got, err := run(t, h, `[{"$lookup": {"from": "places", "let": {"p": "$pt"}, "as": "n", "pipeline": [{"$geoNear": {"near": "$$p", "distanceField": "dist", "key": "loc"}}]}}, {"$project": {"n": "$n.dist"}}]`)
	if err != nil || canonical(got) != canonical(docs(t, `[{"_id": 1, "n": [5.0]}]`)) || h.opened[1].Near.Point.JSON() != "[3,4]" {
		t.Error(canonical(got), err, h.opened)
	}
	_, err = Compile(array(t, `[{"$geoNear": {"near": "$a", "distanceField": "d"}}]`), stage.Options{DB: "test", Coll: "c"})
	checkError(t, err, "5860402: $geoNear requires 'near' to be a constant expression or one of variables")
}

// indexed is a text index that finds documents by their field "s".
type indexed struct{}

func (indexed) MatchText(q *text.Query, d value.Doc) (float64, bool) {
	return float64(len(d.Lookup("s").Str())), d.Has("s")
}

func (indexed) DefaultLanguage() string { return "english" }

func TestTextScore(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "s": "xx"}, {"_id": 2}, {"_id": 3, "s": "xxx"}]`)
	o := stage.Options{DB: "test", Coll: "c", Text: func(string, string) match.TextMatcher { return indexed{} }}
	got, err := drainWith(t, `[{"$match": {"$text": {"$search": "x"}}}, {"$sort": {"s": {"$meta": "textScore"}}}, {"$project": {"m": {"$meta": "textScore"}}}]`, o, newExec(&streaming{h}))
	if want := canonical(docs(t, `[{"_id": 3, "m": 3.0}, {"_id": 1, "m": 2.0}]`)); err != nil || canonical(got) != want {
		t.Error(canonical(got), err)
	}
}

// streaming is a host that matches while it is read, so that metadata is that
// of the document returned last.
type streaming struct{ *memory }

func (h *streaming) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	src := stage.Docs(h.colls[r.DB+"."+r.Coll]...)
	it, err := (&flow.Match{Matcher: r.Matcher}).Open(x, src)
	return stage.Source{Iterator: it}, err
}

func TestViewCycle(t *testing.T) {
	h := newMemory()
	h.views["test.c"] = stage.Namespace{DB: "test", Coll: "v", Pipeline: array(t, `[{"$match": {}}]`)}
	h.views["test.v"] = stage.Namespace{DB: "test", Coll: "c", Pipeline: array(t, `[{"$limit": 5}]`)}
	_, err := run(t, h, `[]`)
	checkError(t, err, "165: View depth too deep or view cycle detected; maximum depth is 20")
}

func TestExplainedProjections(t *testing.T) {
	for spec, want := range map[string]string{
		`{"$project": {"a.b": 1, "c": {"d": "$x"}}}`: `{"$project":{"_id":true,"a":{"b":true},"c":{"d":"$x"}}}`,
		`{"$project": {"_id": 0, "a": 1}}`:           `{"$project":{"_id":false,"a":true}}`,
		`{"$project": {"_id": "$b", "a": 1}}`:        `{"$project":{"_id":"$b","a":true}}`,
		`{"$project": {"_id": 0, "a": 0}}`:           `{"$project":{"a":false,"_id":false}}`,
		`{"$unset": ["a", "b.c"]}`:                   `{"$project":{"a":false,"b":{"c":false},"_id":true}}`,
		`{"$set": {"a.b": "$c"}}`:                    `{"$set":{"a":{"b":"$c"}}}`,
	} {
		p, err := Compile(array(t, "["+spec+"]"), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Explain(pipeline.QueryPlanner, nil)[0].JSON(); got != want {
			t.Errorf("%s: got %s, want %s", spec, got, want)
		}
	}
}

func TestLookupStatistics(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "item": "almonds"}]`)
	withJoins(t)(h)
	p, err := Compile(array(t, `[{"$lookup": {"from": "warehouses", "localField": "item", "foreignField": "item", "as": "w"}}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	x := newExec(h)
	it, err := p.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stage.Drain(it); err != nil {
		t.Fatal(err)
	}
	if d := p.Explain(pipeline.ExecutionStats, x)[0]; d.Lookup("totalDocsExamined").Int64() != 2 {
		t.Error(d)
	}
}

func TestInterrupt(t *testing.T) {
	h := newMemory()
	for i := range 1000 {
		h.colls["test.c"] = append(h.colls["test.c"], value.NewDoc("_id", value.Int32(int32(i))))
	}
	stop := errors.New("stop")
	for _, pipeline := range []string{`[{"$match": {"x": 1}}]`, `[{"$group": {"_id": "$_id"}}]`, `[{"$sort": {"_id": -1}}]`, `[{"$count": "n"}]`,
		`[{"$setWindowFields": {"output": {"a": {"$sum": 1}}}}]`, `[{"$unionWith": "c"}, {"$match": {"x": 1}}]`} {
		p, err := Compile(array(t, pipeline), stage.Options{DB: "test", Coll: "c", NoOptimize: true})
		if err != nil {
			t.Fatal(err)
		}
		x := newExec(h)
		x.Interrupt = func() error { return stop }
		it, err := p.Run(x, stage.Docs(h.colls["test.c"]...))
		if err == nil {
			_, err = stage.Drain(it)
		}
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", pipeline, err)
		}
	}
}

func TestExplain(t *testing.T) {
	h := newMemory()
	h.colls["test.c"] = docs(t, `[{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]`)
	p, err := Compile(array(t, `[{"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}, {"$limit": 5}]`), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		t.Fatal(err)
	}
	x := newExec(h)
	now := int64(0)
	x.NowMillis = func() int64 { now++; return now }
	it, err := p.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stage.Drain(it); err != nil {
		t.Fatal(err)
	}
	stages := p.Explain(pipeline.ExecutionStats, x)
	if len(stages) != 2 || stages[0].Lookup("nReturned").Int64() != 1 || stages[0].Lookup("executionTimeMillisEstimate").Int64() == 0 {
		t.Error(canonical(stages))
	}
	if got := stages[1].Lookup("$sort").JSON(); got != `{"sortKey":{"n":-1},"limit":5}` {
		t.Error(got)
	}
	if got := p.Explain(pipeline.QueryPlanner, nil)[0].JSON(); got != `{"$group":{"_id":"$a","n":{"$sum":{"$const":1}}}}` {
		t.Error(got)
	}
}
