package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// Where is $where: a function of JavaScript whose result is truthy.
type Where struct {
	code string
	f    *script.Function
}

// Children returns nil.
func (n *Where) Children() []Node { return nil }

func (n *Where) rank() int { return rankWhere }

func (n *Where) shape() uint64 { return uint64(shapeOffset.text("$where" + n.code)) }

func (n *Where) explain(x *explainer, _ bool) { x.other(n) }

func (n *Where) debug(w *treeWriter, depth int) { w.other(n, depth) }

func (n *Where) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	op := env.Script(true)
	if op == nil {
		return false, errNoScripts
	}
	return op.Test(n.f, d)
}

func (n *Where) matchValue(*expr.Env, value.Value, *int) (bool, error) { return false, nil }

func (n *Where) appendTo(b *value.Builder) { b.Append("$where", value.Code(n.code)) }

// errNoScripts is the error of a mongod without a script engine.
var errNoScripts = mongoerr.New(6108304, "no globalScriptEngine in $where parsing")

// parseWhere compiles the function of $where, which is allowed only at the top
// of a filter.
func parseWhere(p *parser, e element, nested bool) (Node, error) {
	switch {
	case p.o.Script == nil:
		return nil, mongoerr.New(mongoerr.BadValue, "$where is not allowed in this context")
	case nested:
		return nil, mongoerr.New(mongoerr.BadValue, "$where can only be applied to the top-level document")
	}
	switch e.v.Kind() {
	case value.KindString, value.KindCode:
	case value.KindCodeScope:
		return nil, mongoerr.New(4649201, "$where no longer supports deprecated BSON type CodeWScope")
	default:
		return nil, mongoerr.New(mongoerr.BadValue, "$where got bad type")
	}
	code := e.v.Clone().Str()
	switch {
	case code == "":
		return nil, mongoerr.New(mongoerr.BadValue, "code for $where cannot be empty")
	case !p.o.Script.Enabled():
		return nil, errNoScripts
	}
	f, err := p.o.Script.Compile(code, p.interrupt())
	if err != nil {
		return nil, err
	}
	return &Where{code, f}, nil
}

func parseFieldWhere(*parser, value.Path, value.Doc, element) (Node, error) {
	return nil, mongoerr.New(mongoerr.BadValue, "$where cannot be applied to a field")
}

// Scripted returns the name of an operator of the filter that runs JavaScript,
// "" if it has no such operator.
func (m *Matcher) Scripted() string { return scripted(m.root) }

// scripted returns the first operator below a node that runs JavaScript.
func scripted(n Node) string {
	switch n := n.(type) {
	case *Where:
		return "$where"
	case *Expr:
		return n.Expr.Script()
	}
	for _, child := range n.Children() {
		if name := scripted(child); name != "" {
			return name
		}
	}
	return ""
}
