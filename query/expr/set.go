package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// sorted lists the distinct elements of arrays in ascending order. Of equal
// elements the first is kept.
func sorted(env *Env, op string, arrays ...value.Value) (*list, error) {
	l, err := listOf(env, op, arrays...)
	if err == nil {
		err = l.sort(env.compare)
	}
	if err != nil {
		return nil, err
	}
	l.distinct()
	return l, nil
}

// allArrays evaluates all arguments, which must be arrays; null reports
// whether one is null or missing.
func allArrays(c *call, env *Env, code mongoerr.Code) (arrays []value.Value, null bool, err error) {
	return arraysOf(c.args, env, func(v value.Value) error {
		return mongoerr.Newf(code, "All operands of %s must be arrays. One argument is of type: %s", c.op.name, v.Kind())
	})
}

// arraysOf evaluates nodes that must be arrays, and stops at the first that is null or
// missing. notArray is the error of another value.
func arraysOf(nodes []node, env *Env, notArray func(v value.Value) error) (arrays []value.Value, null bool, err error) {
	for _, n := range nodes {
		v, err := n.eval(env)
		switch {
		case err != nil:
			return nil, false, err
		case v.IsNullish():
			return nil, true, nil
		case v.Kind() != value.KindArray:
			return nil, false, notArray(v)
		}
		arrays = append(arrays, v)
	}
	return arrays, false, nil
}

func evalSetUnion(c *call, env *Env) (value.Value, error) {
	arrays, null, err := allArrays(c, env, 17043)
	if null || err != nil {
		return value.Null(), err
	}
	all, err := sorted(env, c.op.name, arrays...)
	if err != nil {
		return value.Value{}, err
	}
	return all.array(all.len())
}

// evalSetIntersection evaluates $setIntersection on sorted lists without
// duplicates.
func evalSetIntersection(c *call, env *Env) (value.Value, error) {
	arrays, null, err := allArrays(c, env, 17047)
	if null || err != nil {
		return value.Null(), err
	}
	if len(arrays) == 0 {
		return value.NewArray(), nil
	}
	common, err := sorted(env, c.op.name, arrays[0])
	for _, a := range arrays[1:] {
		if err != nil {
			break
		}
		var other *list
		if other, err = sorted(env, c.op.name, a); err == nil {
			err = common.keep(other.has)
		}
	}
	if err != nil {
		return value.Value{}, err
	}
	return common.array(common.len())
}

func evalSetDifference(c *call, env *Env) (value.Value, error) {
	a, b, err := two(c, env)
	switch {
	case err != nil:
		return value.Value{}, err
	case a.IsNullish() || b.IsNullish():
		return value.Null(), nil
	case a.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(17048, "both operands of $setDifference must be arrays. First argument is of type: %s", a.Kind())
	case b.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(17049, "both operands of $setDifference must be arrays. Second argument is of type: %s", b.Kind())
	}
	return difference(env, c.op.name, a, b)
}

// difference lists the distinct elements of a that are not in b, in the order
// of a.
func difference(env *Env, op string, a, b value.Value) (value.Value, error) {
	set, err := sorted(env, op, b)
	if err != nil {
		return value.Value{}, err
	}
	all, err := listOf(env, op, a)
	if err != nil {
		return value.Value{}, err
	}
	if err := env.hold(op, (2*bytesOfRef+1)*all.len()); err != nil {
		return value.Value{}, err
	}
	order := make([]uint32, all.len())
	for i := range order {
		order[i] = uint32(i)
	}
	err = mergeSort(env, order, func(x, y uint32) int { return env.compare(all.at(int(x)), all.at(int(y))) })
	if err != nil {
		return value.Value{}, err
	}
	again := make([]bool, len(order)) // equal to an earlier element
	for i := 1; i < len(order); i++ {
		again[order[i]] = env.compare(all.at(int(order[i-1])), all.at(int(order[i]))) == 0
	}
	i := -1
	err = all.keep(func(v value.Value) bool {
		i++
		return !again[i] && !set.has(v)
	})
	if err != nil {
		return value.Value{}, err
	}
	return all.array(all.len())
}

// evalSetEquals evaluates $setEquals: all arrays have the same distinct
// elements.
func evalSetEquals(c *call, env *Env) (value.Value, error) {
	var first *list
	equal := true
	for i, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.Kind() != value.KindArray {
			return value.Value{}, mongoerr.Newf(17044, "All operands of $setEquals must be arrays. %d-th argument is of type: %s", i+1, v.Kind())
		}
		set, err := sorted(env, c.op.name, v)
		if err != nil {
			return value.Value{}, err
		}
		if i == 0 {
			first = set
			continue
		}
		if !first.equal(set) {
			equal = false
			break
		}
	}
	return value.Bool(equal), nil
}

func checkSetEquals(c *call) (any, error) {
	if n := len(c.args); n < 2 {
		return nil, mongoerr.Newf(17045, "$setEquals needs at least two arguments had: %d", n)
	}
	for i, n := range c.args {
		if n, ok := n.(constant); ok && n.v.Kind() != value.KindArray {
			return nil, &FoldError{mongoerr.Newf(5887502, "All operands of $setEquals must be arrays. %d-th argument is of type: %s", i+1, n.v.Kind())}
		}
	}
	return nil, nil
}

// constantsLast returns the optimization of commutative operators: constants
// are moved to the end, so that a null field determines the result before a
// constant of a wrong type causes an error.
func constantsLast(c *call) node {
	var fields, constants []node
	for _, n := range c.args {
		if _, ok := n.(constant); ok {
			constants = append(constants, n)
		} else {
			fields = append(fields, n)
		}
	}
	if len(fields) > 0 {
		c.args = append(fields, constants...)
	}
	return nil
}

// evalSetIsSubset evaluates $setIsSubset by look-ups in the second array,
// sorted at compile time if it is constant.
func evalSetIsSubset(c *call, env *Env) (value.Value, error) {
	a, b, err := two(c, env)
	switch {
	case err != nil:
		return value.Value{}, err
	case a.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(17046, "both operands of $setIsSubset must be arrays. First argument is of type: %s", a.Kind())
	case b.Kind() != value.KindArray:
		return value.Value{}, mongoerr.Newf(17042, "both operands of $setIsSubset must be arrays. Second argument is of type: %s", b.Kind())
	}
	all, err := sorted(env, c.op.name, b)
	if err != nil {
		return value.Value{}, err
	}
	it := a.Doc().Iter()
	for it.Next() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if !all.has(it.Value()) {
			return value.Bool(false), nil
		}
	}
	return value.Bool(true), nil
}

func evalAllElementsTrue(c *call, env *Env) (value.Value, error) {
	return quantifier(c, env, 17040, false)
}

func evalAnyElementTrue(c *call, env *Env) (value.Value, error) {
	return quantifier(c, env, 17041, true)
}

// quantifier reports whether some element has the truth value want.
func quantifier(c *call, env *Env, code mongoerr.Code, want bool) (value.Value, error) {
	v, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if v.Kind() != value.KindArray {
		return value.Value{}, mongoerr.Newf(code, "%s's argument must be an array, but is %s", c.op.name, v.Kind())
	}
	it := v.Doc().Iter()
	for it.Next() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if it.Value().Truthy() == want {
			return value.Bool(want), nil
		}
	}
	return value.Bool(!want), nil
}
