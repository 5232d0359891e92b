package flow

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// rootStage is $replaceRoot and $replaceWith.
type rootStage struct {
	e    *expr.Expr
	what string // e in error messages
}

// ParseReplaceRoot compiles $replaceRoot.
func ParseReplaceRoot(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
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
		return nil, stage.MissingField("$replaceRoot", "newRoot")
	}
	return replaceRoot(p, arg, "'newRoot' expression")
}

// ParseReplaceWith compiles $replaceWith.
func ParseReplaceWith(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	return replaceRoot(p, v, "'replacement document'")
}

func replaceRoot(p *stage.Parser, v value.Value, what string) ([]stage.Stage, error) {
	e, err := p.Expr(v)
	if err != nil {
		return nil, err
	}
	return []stage.Stage{&rootStage{e, what}}, nil
}

func (s *rootStage) Name() string { return "$replaceRoot" }

func (s *rootStage) Spec() value.Value {
	return value.Document(value.NewDoc("newRoot", s.e.Value()))
}

func (s *rootStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

func (s *rootStage) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	v, err := s.e.Eval(x.Env, d)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.KindDocument {
		// mongod has two spaces in front of "must".
		// sic: mongod
		return nil, mongoerr.Newf(40228, "%s  must evaluate to an object, but resulting value was: %s. "+
			"Type of resulting value: '%s'. Input document: %s", s.what, v.Compact(), v.Kind(), value.Document(d).Compact())
	}
	return v.Doc(), nil
}

func (s *rootStage) Deps(d *stage.Deps) stage.Reach {
	s.e.Deps(d.Add, d.All)
	return stage.SeesNone
}

func (s *rootStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (*rootStage) OneForEach() bool { return true }
