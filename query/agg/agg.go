package agg

import (
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Compile compiles a pipeline; spec is the array as a document.
func Compile(spec value.Doc, o stage.Options) (*pipeline.Pipeline, error) {
	o.Language = mql
	if o.Update { // mongod does not optimize these
		o.NoOptimize, o.Scope = true, o.Scope.Late()
	}
	p := &stage.Parser{Options: o}
	return pipeline.Compile(p, spec)
}
