package agg

import (
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

// UpdatePipeline returns the function with which package update compiles the
// pipeline form of an update.
func UpdatePipeline(o stage.Options) update.PipelineFunc {
	o.Update = true
	return func(stages value.Doc) (update.Transform, error) {
		p, err := Compile(stages, o)
		if err != nil {
			return nil, err
		}
		return func(env *expr.Env, d value.Doc) (value.Doc, error) {
			return p.Apply(&stage.Exec{Env: env}, d)
		}, nil
	}
}
