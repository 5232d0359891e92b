package match

import (
	"strings"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Implied lists conditions on single fields that every document matching m
// satisfies. They follow from the comparisons in its $expr: {$expr: {$eq:
// ["$a", "$$x"]}} with x = 5 implies {a: 5}. They serve to choose an index,
// and are weaker than the $expr: {a: null} also matches documents without a.
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

// demanded appends the comparisons that must hold for e to be true.
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

// exprOps are the expressions that imply a condition on a field.
var exprOps = map[string]Op{"$eq": OpEq, "$lt": OpLt, "$lte": OpLte, "$gt": OpGt, "$gte": OpGte}

// mirrored are the operators with their operands exchanged.
var mirrored = [...]Op{OpEq: OpEq, OpLt: OpGt, OpLte: OpGte, OpGt: OpLt, OpGte: OpLte}

// comparison returns the condition on a field if operand has the same value
// for all documents; otherwise nil.
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
		return nil // the matcher will return the error too
	}
	switch v.Kind() {
	case value.Missing:
		if op != OpEq {
			return nil
		}
		v = value.Null()
	case value.KindArray, value.KindUndefined, value.KindRegex:
		return nil // a filter compares it differently
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

// ExprCompare is a comparison with the rules of expressions: across all types,
// with missing below null, and of arrays as a whole. It never occurs in a
// filter, but an $expr can imply it.
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

func (n *ExprCompare) shape() uint64 { return leafShape("$expr"+n.Op.String(), n) }

func (n *ExprCompare) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

// reasons has none: no filter contains the node.
func (n *ExprCompare) reasons() reasons { return reasons{} }

func (n *ExprCompare) debug(w *treeWriter, depth int) {
	w.other(n, depth)
}

func (n *ExprCompare) cheap() bool { return false }

func (n *ExprCompare) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *ExprCompare) appendOperator(b *value.Builder) {
	b.Append(exprCompareNames[n.Op], n.Value)
}

var exprCompareNames = [...]string{
	OpEq: "$_internalExprEq", OpLt: "$_internalExprLt", OpLte: "$_internalExprLte", OpGt: "$_internalExprGt", OpGte: "$_internalExprGte",
}
