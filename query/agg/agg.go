package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Compile compiles a pipeline, which is given as the array's document.
func Compile(spec value.Doc, o Options) (*Pipeline, error) {
	o.language = mql
	if o.Update { // mongod does not optimize these
		o.NoOptimize, o.Scope = true, o.Scope.Late()
	}
	p := &parser{Options: o}
	return p.compile(spec)
}

// CompileValue is Compile for a value that need not be an array.
func CompileValue(v value.Value, o Options) (*Pipeline, error) {
	if v.Kind() != value.KindArray {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	return Compile(v.Doc(), o)
}
