package source

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Documents is $documents: the documents of a constant array.
type Documents struct {
	stage.Opaque
	e *expr.Expr
}

// ParseDocuments compiles $documents.
func ParseDocuments(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	e, err := p.Expr(v)
	if err != nil {
		return nil, err
	}
	if c, ok := e.Const(); ok && c.Kind() != value.KindArray {
		return nil, notArray()
	}
	return []stage.Stage{&Documents{e: e}}, nil
}

func notArray() error { return mongoerr.New(5858203, "an array is expected") }

// Name is the name of the stage.
func (s *Documents) Name() string { return "$documents" }

// Spec is the stage as explain shows it.
func (s *Documents) Spec() value.Value { return s.e.Value() }

// Open runs the stage.
func (s *Documents) Open(x *stage.Exec, _ stage.Iterator) (stage.Iterator, error) {
	v, err := s.e.Eval(x.Env, value.EmptyDoc)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.KindArray {
		return nil, notArray()
	}
	elements := v.Doc().Iter()
	return stage.Pull(nil, func() (value.Doc, error) {
		if !elements.Next() {
			return nil, nil
		}
		e := elements.Value()
		if e.Kind() != value.KindDocument {
			return nil, mongoerr.Newf(40228, "elements within the array passed to $documents must evaluate to an object, but resulting value was: %s. "+
				"Type of resulting value: '%s'. Input document: %s", e.Compact(), e.Kind(), v.Compact())
		}
		return e.Doc(), x.Tick()
	}), nil
}
