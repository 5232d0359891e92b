package flow

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// redactStage is $redact: for each level of a document an expression decides
// whether to keep it, to remove it, or to check the levels below it.
type redactStage struct {
	e       *expr.Expr
	current int // slot of $$CURRENT
}

// The values of the variables that the expression of $redact may return.
const (
	redactDescend = "descend"
	redactKeep    = "keep"
	redactPrune   = "prune"
)

// ParseRedact compiles $redact.
func ParseRedact(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	scope := p.Scope.Child()
	scope.DeclareConst("DESCEND", value.String(redactDescend))
	scope.DeclareConst("KEEP", value.String(redactKeep))
	scope.DeclareConst("PRUNE", value.String(redactPrune))
	s := &redactStage{current: scope.Declare("CURRENT")}
	var err error
	s.e, err = expr.Compile(v, scope)
	return []stage.Stage{s}, err
}

func (s *redactStage) Name() string { return "$redact" }

func (s *redactStage) Spec() value.Value { return s.e.Value() }

func (s *redactStage) Deps(d *stage.Deps) stage.Reach { d.All(); return stage.SeesNone }

func (s *redactStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (s *redactStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Pull(src, func() (value.Doc, error) {
		for {
			d, err := src.Next()
			if d == nil || err != nil {
				return nil, err
			}
			out, err := s.level(x, d, d)
			if out != nil || err != nil {
				return out, err
			}
		}
	}), nil
}

// level evaluates the expression for one level, and returns nil if the level is
// removed.
func (s *redactStage) level(x *stage.Exec, root, d value.Doc) (value.Doc, error) {
	x.Env.Set(s.current, value.Document(d))
	v, err := s.e.Eval(x.Env, root)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Kind() != value.KindString:
	case v.Str() == redactKeep:
		return d, nil
	case v.Str() == redactPrune:
		return nil, nil
	case v.Str() == redactDescend:
		return s.descend(x, root, d)
	}
	return nil, mongoerr.Newf(17053, "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned %s", v.Compact())
}

// descend keeps the fields of a level and evaluates the documents in them.
func (s *redactStage) descend(x *stage.Exec, root, d value.Doc) (value.Doc, error) {
	b := value.NewBuilder()
	for k, v := range d.All() {
		v, err := s.field(x, root, v)
		if err != nil {
			return nil, err
		}
		b.Append(k, v)
	}
	return b.Doc(), nil
}

// field evaluates the documents in a value, and returns Missing if it is removed.
func (s *redactStage) field(x *stage.Exec, root value.Doc, v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindDocument:
		d, err := s.level(x, root, v.Doc())
		if d == nil {
			return value.Value{}, err
		}
		return value.Document(d), err
	case value.KindArray:
		var kept []value.Value
		for e := range v.Doc().Values() {
			e, err := s.field(x, root, e)
			if err != nil {
				return e, err
			}
			if !e.IsMissing() {
				kept = append(kept, e)
			}
		}
		return value.NewArray(kept...), nil
	}
	return v, nil
}
