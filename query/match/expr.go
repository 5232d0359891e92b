package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Expr is $expr: an aggregation expression whose result is truthy.
type Expr struct {
	Expr *expr.Expr
	spec value.Value // the expression as the client wrote it
}

// Children returns nil.
func (n *Expr) Children() []Node { return nil }

func (n *Expr) rank() int { return rankExpr }

func (n *Expr) shape() uint64 { return uint64(skeleton(shapeOffset.text("$expr"), n.spec)) }

func (n *Expr) explain(x *explainer, inverted bool) {
	quote(x.b.String("operatorName", "$expr"), "specifiedAs", value.Document(value.NewDoc("$expr", n.spec)))
	v, err := n.Expr.Eval(x.env, x.d)
	if err != nil {
		e := mongoerr.From(err)
		x.b.String("reason", "failed to evaluate aggregation expression").StartDocument("details").
			Int32("code", int32(e.Code)).String("codeName", e.Code.Name()).String("errmsg", e.Message).End()
		return
	}
	reason := "expression did not match"
	if inverted {
		reason = "expression did match"
	}
	quote(x.b.String("reason", reason), "expressionResult", v)
}

func (n *Expr) debug(w *treeWriter, depth int) { w.line(depth, "$expr %v", n.Expr.Value()) }

func (n *Expr) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	v, err := n.Expr.Eval(env, d)
	return v.Truthy() && err == nil, err
}

func (n *Expr) matchValue(*expr.Env, value.Value, *int) (bool, error) { return false, nil }

func (n *Expr) appendTo(b *value.Builder) { b.Append("$expr", n.Expr.Value()) }

func parseExpr(p *parser, e element, nested bool) (Node, error) {
	if nested {
		return nil, mongoerr.New(mongoerr.BadValue, "$expr can only be applied to the top-level document")
	}
	if p.o.NoExpr {
		return nil, mongoerr.New(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in this context")
	}
	x, err := expr.Compile(e.v, p.o.Scope)
	if err != nil {
		return nil, err
	}
	return &Expr{x, e.v}, nil
}

// SampleRate is $sampleRate: each document matches with the same chance.
type SampleRate struct{ Rate float64 }

// Children returns nil.
func (n *SampleRate) Children() []Node { return nil }

func (n *SampleRate) rank() int { return rankExpr }

func (n *SampleRate) shape() uint64 { return uint64(shapeOffset.text("$sampleRate")) }

func (n *SampleRate) explain(x *explainer, _ bool) { x.other(n) }

func (n *SampleRate) debug(w *treeWriter, depth int) { w.other(n, depth) }

func (n *SampleRate) match(env *expr.Env, _ value.Doc, _ *int) (bool, error) {
	return env.Rand() < n.Rate, nil
}

func (n *SampleRate) matchValue(env *expr.Env, _ value.Value, _ *int) (bool, error) {
	return env.Rand() < n.Rate, nil
}

func (n *SampleRate) appendTo(b *value.Builder) { b.Double("$sampleRate", n.Rate) }

// parseSampleRate parses $sampleRate, a number from 0 to 1.
func parseSampleRate(_ *parser, e element, nested bool) (Node, error) {
	if nested {
		return nil, mongoerr.New(mongoerr.BadValue, "$sampleRate can only be applied to the top-level document")
	}
	if !e.v.IsNumber() {
		return nil, mongoerr.New(mongoerr.BadValue, "argument to $sampleRate must be a numeric type")
	}
	rate := e.v.AsDouble()
	switch {
	case !(rate >= 0 && rate <= 1):
		return nil, mongoerr.New(mongoerr.BadValue, "numeric argument to $sampleRate must be in [0, 1]")
	case rate == 0 || rate == 1:
		return &Constant{rate == 1}, nil
	}
	return &SampleRate{rate}, nil
}
