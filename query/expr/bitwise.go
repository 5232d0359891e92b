package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func evalBitAnd(c *call, env *Env) (value.Value, error) {
	return bitwise(c, env, -1, func(a, b int64) int64 { return a & b })
}

func evalBitOr(c *call, env *Env) (value.Value, error) {
	return bitwise(c, env, 0, func(a, b int64) int64 { return a | b })
}

func evalBitXor(c *call, env *Env) (value.Value, error) {
	return bitwise(c, env, 0, func(a, b int64) int64 { return a ^ b })
}

// bitwise folds the arguments; the result is a long if one of them is.
func bitwise(c *call, env *Env, start int64, op func(a, b int64) int64) (value.Value, error) {
	result, long := start, false
	for _, n := range c.args {
		v, err := n.eval(env)
		switch {
		case err != nil:
			return value.Value{}, err
		case v.IsNullish():
			return value.Null(), nil
		case v.Kind() == value.KindInt64:
			long = true
		case v.Kind() != value.KindInt32:
			return value.Value{}, mongoerr.Newf(mongoerr.TypeMismatch, "%s only supports int and long operands.", c.op.name)
		}
		result = op(result, v.Int64())
	}
	if long {
		return value.Int64(result), nil
	}
	return value.Int32(int32(result)), nil
}

func evalBitNot(c *call, env *Env) (value.Value, error) {
	v, null, err := number(c, env)
	if null || err != nil {
		return v, err
	}
	switch v.Kind() {
	case value.KindInt32:
		return value.Int32(^v.Int32()), nil
	case value.KindInt64:
		return value.Int64(^v.Int64()), nil
	}
	return value.Value{}, mongoerr.Newf(mongoerr.TypeMismatch, "%s only supports int and long, not: %s.", c.op.name, v.Kind())
}
