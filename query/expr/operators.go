package expr

import (
	"slices"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// operator is one row of the table.
type operator struct {
	name     string
	category string
	min, max int     // arguments by position; max -1: any number
	params   []param // arguments by name instead
	errs     paramErrors
	eval     func(c *call, env *Env) (value.Value, error)
	prepare  func(c *call) (any, error)                                 // run once, when the arguments are compiled
	parse    func(p *parser, op *operator, v value.Value) (node, error) // in place of the rules of this table
	volatile bool                                                       // must not be folded
}

// param is an argument given by name; missing is the error code if it must be
// given, else 0.
type param struct {
	name    string
	missing mongoerr.Code
}

// paramErrors are the codes of mistakes in arguments by name.
type paramErrors struct {
	object  mongoerr.Code // the argument is not an object
	unknown mongoerr.Code // an argument is not known
}

func (e paramErrors) notObject(op *operator, v value.Value) error {
	return mongoerr.Newf(e.object, "%s only supports an object as its argument", op.name)
}

func (e paramErrors) unknownParam(op *operator, name string) error {
	return mongoerr.Newf(e.unknown, "Unrecognized argument to %s: %s", op.name, name)
}

func (e paramErrors) missingParam(op *operator, q param) error {
	return mongoerr.Newf(q.missing, "Missing '%s' parameter to %s", q.name, op.name)
}

// byName is filled by init, as the table's functions lead back to it.
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
}

// Names lists all operators, sorted.
func Names() []string {
	names := make([]string, 0, len(operators))
	for i := range operators {
		names = append(names, operators[i].name)
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

const (
	catArithmetic  = "arithmetic"
	catBoolean     = "boolean"
	catComparison  = "comparison"
	catConditional = "conditional"
	catLiteral     = "literal"
)

// operators is the table. Please keep it sorted.
var operators = []operator{
	{name: "$add", category: catArithmetic, max: -1, eval: evalAdd},
	{name: "$and", category: catBoolean, max: -1, eval: evalAnd},
	{name: "$cmp", category: catComparison, min: 2, max: 2, eval: evalCmp},
	{name: "$cond", category: catConditional, min: 3, max: 3, parse: parseCond, eval: evalCond},
	{name: "$const", category: catLiteral, min: 1, max: 1, parse: parseLiteral},
	{name: "$divide", category: catArithmetic, min: 2, max: 2, eval: evalDivide},
	{name: "$eq", category: catComparison, min: 2, max: 2, eval: evalEq},
	{name: "$gt", category: catComparison, min: 2, max: 2, eval: evalGt},
	{name: "$gte", category: catComparison, min: 2, max: 2, eval: evalGte},
	{name: "$ifNull", category: catConditional, min: 0, max: -1, prepare: checkIfNull, eval: evalIfNull},
	{name: "$literal", category: catLiteral, min: 1, max: 1, parse: parseLiteral},
	{name: "$lt", category: catComparison, min: 2, max: 2, eval: evalLt},
	{name: "$lte", category: catComparison, min: 2, max: 2, eval: evalLte},
	{name: "$mod", category: catArithmetic, min: 2, max: 2, eval: evalMod},
	{name: "$multiply", category: catArithmetic, max: -1, eval: evalMultiply},
	{name: "$ne", category: catComparison, min: 2, max: 2, eval: evalNe},
	{name: "$not", category: catBoolean, min: 1, max: 1, eval: evalNot},
	{name: "$or", category: catBoolean, max: -1, eval: evalOr},
	{name: "$subtract", category: catArithmetic, min: 2, max: 2, eval: evalSubtract},
	{name: "$switch", category: catConditional, parse: parseSwitch},
}
