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

// demanded adds the equalities without which e cannot be true.
func demanded(nodes []Node, e *expr.Expr, env *expr.Env) []Node {
	name, args, ok := e.Call()
	switch {
	case !ok:
	case name == "$and":
		for _, arg := range args {
			nodes = demanded(nodes, arg, env)
		}
	case name == "$eq" && len(args) == 2:
		if n := equality(args[0], args[1], env); n != nil {
			return append(nodes, n)
		}
		if n := equality(args[1], args[0], env); n != nil {
			return append(nodes, n)
		}
	}
	return nodes
}

// equality is the condition that the field equals what operand is for all
// documents; nil if there is no such.
func equality(field, operand *expr.Expr, env *expr.Env) Node {
	path, ok := field.FieldPath()
	if !ok {
		return nil
	}
	fixed := !operand.Volatile() && len(operand.Meta()) == 0
	operand.Deps(func(string) { fixed = false }, func() { fixed = false })
	if !fixed {
		return nil
	}
	v, err := operand.Eval(env, value.EmptyDoc)
	if err != nil {
		return nil // whoever matches will meet the error too
	}
	switch v.Kind() {
	case value.Missing:
		v = value.Null()
	case value.KindArray, value.KindUndefined, value.KindRegex:
		return nil // compared otherwise in a filter
	}
	// "$a.0" is the field of that name, in a filter it may be a position.
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return nil
		}
	}
	m, err := Compile(value.NewDoc(path, value.Document(value.NewDoc("$eq", v))), Options{Collation: env.Collation})
	if err != nil {
		return nil
	}
	return m.Root()
}
