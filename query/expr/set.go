package expr

import (
	"slices"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// sorted lists the distinct elements of arrays in ascending order. Of equal
// elements the first is kept.
func sorted(env *Env, arrays ...value.Value) []value.Value {
	var out []value.Value
	for _, a := range arrays {
		out = append(out, elements(a)...)
	}
	slices.SortStableFunc(out, env.compare)
	return slices.CompactFunc(out, func(a, b value.Value) bool { return env.compare(a, b) == 0 })
}

func contains(env *Env, set []value.Value, v value.Value) bool {
	_, found := slices.BinarySearchFunc(set, v, env.compare)
	return found
}

// allArrays evaluates all arguments, which must be arrays; null tells that one
// is null or missing.
func allArrays(c *call, env *Env, code mongoerr.Code) (arrays []value.Value, null bool, err error) {
	for _, n := range c.args {
		v, err := n.eval(env)
		switch {
		case err != nil:
			return nil, false, err
		case v.IsNullish():
			return nil, true, nil
		case v.Kind() != value.KindArray:
			return nil, false, mongoerr.Newf(code, "All operands of %s must be arrays. One argument is of type: %s", c.op.name, v.Kind())
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
	return value.NewArray(sorted(env, arrays...)...), nil
}

func evalSetIntersection(c *call, env *Env) (value.Value, error) {
	arrays, null, err := allArrays(c, env, 17047)
	if null || err != nil {
		return value.Null(), err
	}
	if len(arrays) == 0 {
		return value.NewArray(), nil
	}
	common := sorted(env, arrays[0])
	for _, a := range arrays[1:] {
		other := sorted(env, a)
		common = slices.DeleteFunc(common, func(v value.Value) bool { return !contains(env, other, v) })
	}
	return value.NewArray(common...), nil
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
	return value.NewArray(difference(env, elements(a), sorted(env, b))...), nil
}

// difference lists the distinct values of list that are not in set, which is
// sorted, in the order of the list.
func difference(env *Env, list, set []value.Value) []value.Value {
	order := make([]int32, len(list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return env.compare(list[a], list[b]) })
	keep := make([]bool, len(list))
	for i, at := range order {
		first := i == 0 || env.compare(list[order[i-1]], list[at]) != 0
		keep[at] = first && !contains(env, set, list[at])
	}
	out := make([]value.Value, 0, len(list))
	for i, v := range list {
		if keep[i] {
			out = append(out, v)
		}
	}
	return out
}

func evalSetEquals(c *call, env *Env) (value.Value, error) {
	var first []value.Value
	equal := true
	for i, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.Kind() != value.KindArray {
			return value.Value{}, mongoerr.Newf(17044, "All operands of $setEquals must be arrays. %d-th argument is of type: %s", i+1, v.Kind())
		}
		set := sorted(env, v)
		if i == 0 {
			first = set
			continue
		}
		if !slices.EqualFunc(first, set, func(a, b value.Value) bool { return env.compare(a, b) == 0 }) {
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

// constantsLast makes the optimization of operators whose arguments may stand
// in any order: constants come last, so that a field that is null decides
// before one of them is found to be of a wrong type.
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
	all := sorted(env, b)
	for it := a.Doc().Iter(); it.Next(); {
		if !contains(env, all, it.Value()) {
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

// quantifier looks for an element whose truth is want.
func quantifier(c *call, env *Env, code mongoerr.Code, want bool) (value.Value, error) {
	v, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if v.Kind() != value.KindArray {
		return value.Value{}, mongoerr.Newf(code, "%s's argument must be an array, but is %s", c.op.name, v.Kind())
	}
	for it := v.Doc().Iter(); it.Next(); {
		if it.Value().Truthy() == want {
			return value.Bool(want), nil
		}
	}
	return value.Bool(!want), nil
}
