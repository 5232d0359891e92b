package agg

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
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

// CompileValue is Compile for any value; it checks that the value is an array.
func CompileValue(v value.Value, o stage.Options) (*pipeline.Pipeline, error) {
	if v.Kind() != value.KindArray {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	return Compile(v.Doc(), o)
}
