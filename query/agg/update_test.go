package agg_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

func TestUpdatePipeline(t *testing.T) {
	p, err := agg.Compile(aggtest.Array(t, `[{"$set": {"a": {"$add": ["$a", 1]}}}, {"$unset": "b"}, {"$replaceWith": {"x": "$$ROOT"}}]`), stage.Options{DB: "test", Coll: "c", Update: true})
	if err != nil {
		t.Fatal(err)
	}
	x := &stage.Exec{Env: expr.NewEnv(aggtest.Now)}
	d, err := p.Apply(x, value.MustJSON(`{"_id": 1, "a": 1, "b": 2}`))
	if err != nil || d.JSON() != `{"x":{"_id":1,"a":2}}` {
		t.Error(d.JSON(), err)
	}
	pipeline := func(stages value.Doc) (update.Transform, error) {
		p, err := agg.Compile(stages, stage.Options{DB: "test", Coll: "c", Update: true})
		return func(env *expr.Env, d value.Doc) (value.Doc, error) { return p.Apply(&stage.Exec{Env: env}, d) }, err
	}
	u, err := update.Compile(value.Array(aggtest.Array(t, `[{"$set": {"a": {"$add": ["$a", 1]}}}]`)), update.Options{Pipeline: pipeline})
	if err != nil || !u.IsPipeline() {
		t.Fatal(err)
	}
	d, modified, err := u.Apply(x.Env, value.MustJSON(`{"_id": 1, "a": 1}`), update.ApplyOptions{Position: -1})
	if err != nil || !modified || d.JSON() != `{"_id":1,"a":2}` {
		t.Error(d.JSON(), modified, err)
	}
	_, err = agg.Compile(aggtest.Array(t, `[{"$group": {"_id": 1}}]`), stage.Options{DB: "test", Coll: "c", Update: true})
	aggtest.CheckError(t, err, "72: $group is not allowed to be used within an update")
}
