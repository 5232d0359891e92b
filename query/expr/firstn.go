package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func evalFirstN(c *call, env *Env) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	return sliceOf(env, a, 0, n)
}

func evalLastN(c *call, env *Env) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	size := a.Doc().Len()
	return sliceOf(env, a, max(0, size-n), size)
}

func evalMinN(c *call, env *Env) (value.Value, error) { return extremes(c, env, 1) }

func evalMaxN(c *call, env *Env) (value.Value, error) { return extremes(c, env, -1) }

// extremes evaluates $minN and $maxN: the first n elements in one direction,
// without null and missing values.
func extremes(c *call, env *Env, dir int) (value.Value, error) {
	n, a, err := nOf(c, env)
	if err != nil {
		return value.Value{}, err
	}
	l, err := listOf(env, c.op.name, a)
	if err == nil {
		err = l.keep(func(v value.Value) bool { return !v.IsNullish() })
	}
	if err == nil {
		err = l.sort(func(x, y value.Value) int { return dir * env.compare(x, y) })
	}
	if err != nil {
		return value.Value{}, err
	}
	return l.array(n)
}

// nOf evaluates the arguments of $firstN and similar operators.
func nOf(c *call, env *Env) (n int, a value.Value, err error) {
	v, err := c.args[0].eval(env)
	if err != nil {
		return 0, a, err
	}
	size, err := CheckN(v)
	if err != nil {
		return 0, a, err
	}
	if a, err = c.args[1].eval(env); err != nil {
		return 0, a, err
	}
	if a.Kind() != value.KindArray {
		return 0, a, mongoerr.New(5788200, "Input must be an array")
	}
	return int(min(size, 1<<31)), a, nil
}

// CheckN checks the n of $firstN, $topN and the like.
func CheckN(v value.Value) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Newf(5787902, "Value for 'n' must be of integral type, but found %s", v.Compact())
	}
	n, ok := v.AsInt64()
	if !ok {
		return 0, mongoerr.Newf(5787903, "Value for 'n' must be of integral type, but found %s", v.Compact())
	}
	if n <= 0 {
		return 0, mongoerr.Newf(5787908, "'n' must be greater than 0, found %d", n)
	}
	return n, nil
}
