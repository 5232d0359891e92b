package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// rootStage is $replaceRoot and $replaceWith.
type rootStage struct{ e *expr.Expr }

func parseReplaceRoot(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40229, "expected an object as specification for $replaceRoot stage, got %s", v.Kind())
	}
	var arg value.Value
	for k, f := range v.Doc().All() {
		if k != "newRoot" {
			return nil, mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '$replaceRoot.%s' is an unknown field.", k)
		}
		arg = f
	}
	if arg.IsMissing() {
		return nil, missingField("$replaceRoot", "newRoot")
	}
	return parseReplaceWith(p, arg)
}

func parseReplaceWith(p *parser, v value.Value) ([]stage, error) {
	e, err := p.expr(v)
	if err != nil {
		return nil, err
	}
	return []stage{&rootStage{e}}, nil
}

func (s *rootStage) name() string { return "$replaceRoot" }

func (s *rootStage) spec() value.Value {
	return value.Document(value.NewDoc("newRoot", s.e.Value()))
}

func (s *rootStage) open(x *Exec, src Iterator) (Iterator, error) { return transformed(x, s, src), nil }

func (s *rootStage) transform(x *Exec, d value.Doc) (value.Doc, error) {
	v, err := s.e.Eval(x.Env, d)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40228, "'newRoot' expression must evaluate to an object, but resulting value was: %s. "+
			"Type of resulting value: '%s'. Input document: %s", printed(v), v.Kind(), d)
	}
	return v.Doc(), nil
}

// printed is a value as mongod's Value prints it, where a missing one is
// MISSING.
func printed(v value.Value) string {
	if v.IsMissing() {
		return "MISSING"
	}
	return v.String()
}

func (s *rootStage) deps(d *deps) reach {
	s.e.Deps(d.add, d.all)
	return seesNone
}

func (s *rootStage) effect() effect { return effect{opaque: true} }

func (*rootStage) oneForEach() bool { return true }
