package group

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// inputs evaluates the expressions of a $group. Those that are a field of the document are
// read together, in one pass over the document.
type inputs struct {
	finder value.Finder
	names  []string      // the names of the fields
	found  []value.Value // their values in the present document
	by     input
	args   []input // the arguments of the accumulators
}

// input is an expression of a $group.
type input struct {
	field int // the place in found; -1: none
	fixed bool
	v     value.Value // the value, if it is fixed
	expr  *expr.Expr
}

func newInputs(s *Stage) inputs {
	in := inputs{args: make([]input, len(s.Fields))}
	in.by = in.add(s.By)
	for i, a := range s.Fields {
		if a.Arg != nil && a.SortBy == nil {
			in.args[i] = in.add(a.Arg)
		}
	}
	in.finder, in.found = value.NewFinder(in.names...), make([]value.Value, len(in.names))
	return in
}

// add adds an expression.
func (in *inputs) add(e *expr.Expr) input {
	if v, ok := e.Const(); ok {
		return input{field: -1, fixed: true, v: v}
	}
	path, ok := e.FieldPath()
	if !ok || strings.Contains(path, ".") || len(in.names) == value.MaxNames {
		return input{field: -1, expr: e}
	}
	i := slices.Index(in.names, path)
	if i < 0 {
		i = len(in.names)
		in.names = append(in.names, path)
	}
	return input{field: i}
}

// read finds the fields in a document.
func (in *inputs) read(d value.Doc) {
	if len(in.names) > 0 {
		in.finder.Read(d, in.found)
	}
}

// eval returns the value of an expression for the document that was read.
func (e *input) eval(in *inputs, env *expr.Env, d value.Doc) (value.Value, error) {
	switch {
	case e.field >= 0:
		return in.found[e.field], nil
	case e.fixed:
		return e.v, nil
	}
	return e.expr.Eval(env, d)
}
