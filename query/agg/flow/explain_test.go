package flow_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
)

func TestExplainedProjections(t *testing.T) {
	for spec, want := range map[string]string{
		`{"$project": {"a.b": 1, "c": {"d": "$x"}}}`:                                   `{"$project":{"_id":true,"a":{"b":true},"c":{"d":"$x"}}}`,
		`{"$project": {"b": 1, "x": {"y": "$a"}, "_id": 1, "z": {"$add": ["$a", 1]}}}`: `{"$project":{"_id":true,"b":true,"x":{"y":"$a"},"z":{"$add":["$a",{"$const":1}]}}}`,
		`{"$project": {"_id": 0, "a": 1}}`:                                             `{"$project":{"_id":false,"a":true}}`,
		`{"$project": {"_id": "$b", "a": 1}}`:                                          `{"$project":{"_id":"$b","a":true}}`,
		`{"$project": {"_id": 0, "a": 0}}`:                                             `{"$project":{"a":false,"_id":false}}`,
		`{"$unset": ["a", "b.c"]}`:                                                     `{"$project":{"a":false,"b":{"c":false},"_id":true}}`,
		`{"$set": {"a.b": "$c"}}`:                                                      `{"$set":{"a":{"b":"$c"}}}`,
	} {
		p, err := agg.Compile(aggtest.Array(t, "["+spec+"]"), stage.Options{DB: "test", Coll: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Explain(pipeline.QueryPlanner, nil)[0].JSON(); got != want {
			t.Errorf("%s: got %s, want %s", spec, got, want)
		}
	}
}
