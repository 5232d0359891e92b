package match

import (
	"strings"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Implied lists conditions on single fields that every document satisfies
// which m accepts, taken from the equalities that its $expr demand: with
// {$expr: {$eq: ["$a", "$$x"]}} and a variable x that is 5, {a: 5}. They
// serve to choose an index and say less than the $expr does: {a: null} is
// also true where a is missing.
func Implied(m *Matcher, env *expr.Env) (nodes []Node) {
	if m != nil {
		nodes = implied(nil, m.Root(), env)
	}
	return nodes
}

func implied(nodes []Node, n Node, env *expr.Env) []Node {
	switch n := n.(type) {
	case *And:
		for _, child := range n.Nodes {
			nodes = implied(nodes, child, env)
		}
	case *Expr:
		nodes = demanded(nodes, n.Expr, env)
	}
	return nodes
}

// demanded adds the comparisons without which e cannot be true.
func demanded(nodes []Node, e *expr.Expr, env *expr.Env) []Node {
	name, args, ok := e.Call()
	switch {
	case !ok:
	case name == "$and":
		for _, arg := range args {
			nodes = demanded(nodes, arg, env)
		}
	case len(args) == 2:
		op, ok := exprOps[name]
		if !ok {
			break
		}
		if n := comparison(op, args[0], args[1], env); n != nil {
			return append(nodes, n)
		}
		if n := comparison(mirrored[op], args[1], args[0], env); n != nil {
			return append(nodes, n)
		}
	}
	return nodes
}

// exprOps are the expressions that say something about a field.
var exprOps = map[string]Op{"$eq": OpEq, "$lt": OpLt, "$lte": OpLte, "$gt": OpGt, "$gte": OpGte}

// mirrored are the operators with their operands exchanged.
var mirrored = [...]Op{OpEq: OpEq, OpLt: OpGt, OpLte: OpGte, OpGt: OpLt, OpGte: OpLte}

// comparison is the condition that the field compares so with what operand is
// for all documents; nil if there is no such.
func comparison(op Op, field, operand *expr.Expr, env *expr.Env) Node {
	path, ok := field.FieldPath()
	if !ok || !constant(operand) {
		return nil
	}
	// "$a.0" is the field of that name, in a filter it may be a position.
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return nil
		}
	}
	v, err := operand.Eval(env, value.EmptyDoc)
	if err != nil {
		return nil // whoever matches will meet the error too
	}
	switch v.Kind() {
	case value.Missing:
		if op != OpEq {
			return nil
		}
		v = value.Null()
	case value.KindArray, value.KindUndefined, value.KindRegex:
		return nil // compared otherwise in a filter
	}
	if op != OpEq {
		return &ExprCompare{leafPath: leafPath{Path: value.ParsePath(path)}, Op: op, Value: v, Collation: env.Collation}
	}
	m, err := Compile(value.NewDoc(path, value.Document(value.NewDoc("$eq", v))), Options{Collation: env.Collation})
	if err != nil {
		return nil
	}
	return m.Root()
}

// constant reports whether an expression is the same for all documents.
func constant(e *expr.Expr) bool {
	fixed := !e.Volatile() && len(e.Meta()) == 0
	e.Deps(func(string) { fixed = false }, func() { fixed = false })
	return fixed
}

// ExprCompare is a comparison as expressions make it: over all types, with a
// missing field below null, and of an array as a whole. It never stands in a
// filter, but is implied by an $expr.
type ExprCompare struct {
	leafPath
	Op        Op
	Value     value.Value
	Collation value.Collator // nil: binary
}

func (n *ExprCompare) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.matchValue(env, n.Path.Get(d), pos)
}

func (n *ExprCompare) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	c := value.CompareWith(v, n.Value, n.Collation)
	switch n.Op {
	case OpLt:
		return c < 0, nil
	case OpLte:
		return c <= 0, nil
	case OpGt:
		return c > 0, nil
	case OpGte:
		return c >= 0, nil
	}
	return c == 0, nil
}

func (n *ExprCompare) rank() int { return opRanks[n.Op] }

func (n *ExprCompare) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *ExprCompare) appendOperator(b *value.Builder) {
	b.Append(exprCompareNames[n.Op], n.Value)
}

var exprCompareNames = [...]string{
	OpEq: "$_internalExprEq", OpLt: "$_internalExprLt", OpLte: "$_internalExprLte", OpGt: "$_internalExprGt", OpGte: "$_internalExprGte",
}
