package expr

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// operator is one row of the table.
type operator struct {
	name     string
	category string
	since    dialect.Change            // change of MongoDB that has brought it
	is       string                    // name of the operator that this is only another name of
	min, max int                       // number of positional arguments; max -1: any number
	params   []param                   // arguments by name instead
	added    map[string]dialect.Change // params that a later version has added, and the change that brought them
	style    *style                    // the errors of params
	eval     func(c *call, env *Env) (value.Value, error)
	prepare  func(c *call) (any, error)                                 // run once, when the arguments are compiled
	simplify func(c *call) node                                         // nil, or returns the node that replaces the call, or nil
	parse    func(p *parser, op *operator, v value.Value) (node, error) // replaces the parsing by this table
	volatile bool                                                       // reports whether it must not be folded
}

// byName is filled by init, because the table's functions refer to it.
var byName map[string]*operator

func init() {
	byName = make(map[string]*operator, len(operators))
	for i := range operators {
		op := &operators[i]
		if byName[op.name] != nil {
			panic("expr: operator " + op.name + " stands twice in the table")
		}
		byName[op.name] = op
	}
	for name, op := range byName {
		if op.is != "" {
			byName[name] = byName[op.is]
		}
	}
}

// Names lists all operators, sorted, without those that only the server uses.
func Names() []string {
	names := make([]string, 0, len(operators))
	for i := range operators {
		if name := operators[i].name; !strings.HasPrefix(name, "$_internal") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Has reports whether an operator of that name exists.
func Has(name string) bool { return byName[name] != nil }

// Category names the family of an operator, as the manual groups them.
func Category(name string) string {
	if op := byName[name]; op != nil {
		return op.category
	}
	return ""
}

// The families, as the manual groups the operators.
const (
	catAccumulator = "accumulator"
	catArithmetic  = "arithmetic"
	catArray       = "array"
	catBitwise     = "bitwise"
	catBoolean     = "boolean"
	catComparison  = "comparison"
	catConditional = "conditional"
	catCustom      = "custom"
	catDataSize    = "data size"
	catDate        = "date"
	catLiteral     = "literal"
	catMisc        = "miscellaneous"
	catObject      = "object"
	catSet         = "set"
	catString      = "string"
	catTimestamp   = "timestamp"
	catTrig        = "trigonometry"
	catType        = "type"
	catVariable    = "variable"
)

// ofOne is the evaluation of an operator with one argument of any kind.
func ofOne(result func(v value.Value) value.Value) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		v, err := c.args[0].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		return result(v), nil
	}
}

// ofKind evaluates an operand that must be of kind k. null reports whether it
// is null or missing; format is the error message for any other kind.
func ofKind(n node, env *Env, k value.Kind, code mongoerr.Code, format string) (v value.Value, null bool, err error) {
	v, err = n.eval(env)
	switch {
	case err != nil:
		return value.Value{}, false, err
	case v.IsNullish():
		return value.Value{}, true, nil
	case v.Kind() != k:
		return value.Value{}, false, mongoerr.Newf(code, format, v.Kind())
	}
	return v, false, nil
}
