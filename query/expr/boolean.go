package expr

import (
	"cmp"

	"github.com/duskdb/duskdb/value"
)

func evalAnd(c *call, env *Env) (value.Value, error) {
	for _, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if !v.Truthy() {
			return value.Bool(false), nil
		}
	}
	return value.Bool(true), nil
}

func evalOr(c *call, env *Env) (value.Value, error) {
	for _, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.Truthy() {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

// endsIn returns the optimization of $and (for false) and $or (for true): if
// the last argument alone decides the result, it replaces the expression.
func endsIn(decisive bool) func(c *call) node {
	return func(c *call) node {
		if len(c.args) == 0 {
			return nil
		}
		if last, ok := c.args[len(c.args)-1].(constant); ok && last.v.Truthy() == decisive {
			return constant{value.Bool(decisive)}
		}
		return nil
	}
}

var evalNot = ofOne(func(v value.Value) value.Value { return value.Bool(!v.Truthy()) })

// order evaluates both arguments and compares them.
func order(c *call, env *Env) (int, error) {
	a, err := c.args[0].eval(env)
	if err != nil {
		return 0, err
	}
	b, err := c.args[1].eval(env)
	if err != nil {
		return 0, err
	}
	return compareValues(env, a, b), nil
}

// compareValues compares in the order of expressions: the BSON order, but a
// missing value sorts before undefined.
func compareValues(env *Env, a, b value.Value) int {
	if a.IsMissing() || b.IsMissing() {
		switch {
		case a.Kind() == b.Kind():
			return 0
		case a.IsMissing() && b.Kind() == value.KindUndefined:
			return -1
		case b.IsMissing() && a.Kind() == value.KindUndefined:
			return 1
		}
	}
	return env.compare(a, b)
}

// compared is the evaluation of an operator that compares its two arguments.
func compared(result func(order int) value.Value) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		d, err := order(c, env)
		if err != nil {
			return value.Value{}, err
		}
		return result(d), nil
	}
}

var (
	evalCmp = compared(func(d int) value.Value { return value.Int32(int32(cmp.Compare(d, 0))) })
	evalEq  = compared(func(d int) value.Value { return value.Bool(d == 0) })
	evalNe  = compared(func(d int) value.Value { return value.Bool(d != 0) })
	evalLt  = compared(func(d int) value.Value { return value.Bool(d < 0) })
	evalLte = compared(func(d int) value.Value { return value.Bool(d <= 0) })
	evalGt  = compared(func(d int) value.Value { return value.Bool(d > 0) })
	evalGte = compared(func(d int) value.Value { return value.Bool(d >= 0) })
)
