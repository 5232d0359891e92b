package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// documentsStage is $documents: the documents of a constant array.
type documentsStage struct {
	opaque
	e *expr.Expr
}

func parseDocuments(p *parser, v value.Value) ([]stage, error) {
	e, err := p.expr(v)
	if err != nil {
		return nil, err
	}
	if c, ok := e.Const(); ok && c.Kind() != value.KindArray {
		return nil, notArray()
	}
	return []stage{&documentsStage{e: e}}, nil
}

func notArray() error { return mongoerr.New(5858203, "an array is expected") }

func (s *documentsStage) name() string      { return "$documents" }
func (s *documentsStage) spec() value.Value { return s.e.Value() }

func (s *documentsStage) open(x *Exec, _ Iterator) (Iterator, error) {
	v, err := s.e.Eval(x.Env, value.EmptyDoc)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.KindArray {
		return nil, notArray()
	}
	elements := v.Doc().Iter()
	return pull(nil, func() (value.Doc, error) {
		if !elements.Next() {
			return nil, nil
		}
		e := elements.Value()
		if e.Kind() != value.KindDocument {
			return nil, mongoerr.Newf(40228, "'newRoot' expression must evaluate to an object, but resulting value was: %s. "+
				"Type of resulting value: '%s'. Input document: %s", e, e.Kind(), v)
		}
		return e.Doc(), x.tick()
	}), nil
}
