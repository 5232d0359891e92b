package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/exact"
	"github.com/duskdb/duskdb/value"
)

// bounded returns a trigonometric operator that is defined on an interval
// only; open excludes the ends.
func bounded(low, high float64, open bool, bounds string, double func(float64) float64,
	decimal func(d, x *apd.Decimal) error) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		v, null, err := number(c, env)
		if null || err != nil {
			return v, err
		}
		inside := value.Compare(v, value.Double(low)) >= 0 && value.Compare(v, value.Double(high)) <= 0
		if open {
			inside = value.Compare(v, value.Double(low)) > 0 && value.Compare(v, value.Double(high)) < 0
		}
		switch {
		case v.IsNaN():
			return v, nil
		case !inside:
			return value.Value{}, outOfBounds(c, v, bounds)
		case v.Kind() == value.KindDecimal:
			return decimalFunc(v.Decimal(), decimal), nil
		}
		return value.Double(double(v.AsDouble())), nil
	}
}

func outOfBounds(c *call, v value.Value, bounds string) error {
	shown := value.ShortDouble(v.AsDouble())
	if v.Kind() == value.KindDecimal {
		shown = v.Decimal().String()
	}
	return mongoerr.Newf(50989, "cannot apply %s to %s, value must be in %s", c.op.name, shown, bounds)
}

func onAll(double func(float64) float64, decimal func(d, x *apd.Decimal) error) func(*call, *Env) (value.Value, error) {
	inf := math.Inf(1)
	return bounded(-inf, inf, true, "(-inf,inf)", double, decimal)
}

func onUnit(double func(float64) float64, decimal func(d, x *apd.Decimal) error) func(*call, *Env) (value.Value, error) {
	return bounded(-1, 1, false, "[-1,1]", double, decimal)
}

// anywhere uses decimals for arguments that are too far from zero to be
// reduced in doubles.
func anywhere(double func(float64) float64, decimal func(d, x *apd.Decimal) error) func(float64) float64 {
	far := viaDecimal(decimal, double)
	return func(x float64) float64 {
		if exact.Far(x) {
			return far(x)
		}
		return double(x)
	}
}

var (
	evalAcos  = onUnit(exact.Acos, decimalAcos)
	evalAcosh = bounded(1, math.Inf(1), false, "[1,inf]", exact.Acosh, decimalAcosh)
	evalAsin  = onUnit(exact.Asin, decimalAsin)
	evalAsinh = unaryMath(exact.Asinh, decimalAsinh)
	evalAtan  = unaryMath(exact.Atan, decimalAtan)
	evalAtanh = onUnit(exact.Atanh, decimalAtanh)
	evalCos   = onAll(anywhere(exact.Cos, decimalCos), decimalCos)
	evalCosh  = unaryMath(exact.Cosh, decimalCosh)
	evalSin   = onAll(anywhere(exact.Sin, decimalSin), decimalSin)
	evalSinh  = unaryMath(exact.Sinh, decimalSinh)
	evalTan   = onAll(anywhere(exact.Tan, decimalTan), decimalTan)
	evalTanh  = unaryMath(exact.Tanh, decimalTanh)
)

var (
	piOver180, _  = value.ParseDecimal("0.01745329251994329576923690768488613")
	over180Pi, _  = value.ParseDecimal("57.29577951308232087679815481410517")
	doubleDegrees = math.Pi / 180.0
	doubleRadians = 180.0 / math.Pi
)

func evalDegreesToRadians(c *call, env *Env) (value.Value, error) {
	return scaleAngle(c, env, piOver180, doubleDegrees)
}

func evalRadiansToDegrees(c *call, env *Env) (value.Value, error) {
	return scaleAngle(c, env, over180Pi, doubleRadians)
}

func scaleAngle(c *call, env *Env, decimal value.Decimal, double float64) (value.Value, error) {
	v, null, err := number(c, env)
	switch {
	case null || err != nil:
		return v, err
	case v.Kind() == value.KindDecimal:
		return multiply(v, value.DecimalValue(decimal)), nil
	}
	return value.Double(v.AsDouble() * double), nil
}

// multiply multiplies two numbers, one of which is a decimal.
func multiply(a, b value.Value) value.Value {
	p, _ := value.Mul(a, b)
	return p
}

// evalAtan2 evaluates $atan2, in decimals if an argument is one.
func evalAtan2(c *call, env *Env) (value.Value, error) {
	y, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case y.IsNullish():
		return value.Null(), nil
	case !y.IsNumber():
		return value.Value{}, mongoerr.Newf(51044, "$atan2 only supports numeric types, not %s", y.Kind())
	}
	x, err := c.args[1].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case x.IsNullish():
		return value.Null(), nil
	case !x.IsNumber():
		return value.Value{}, mongoerr.Newf(51045, "$atan2 only supports numeric types, not %s", x.Kind())
	case !isDecimal(x, y):
		return value.Double(exact.Atan2(y.AsDouble(), x.AsDouble())), nil
	case x.IsNaN():
		return value.DecimalValue(value.DecimalNaN), nil
	}
	other := x.AsDecimal().Apd()
	return decimalFunc(y.AsDecimal(), func(d, y *apd.Decimal) error { return decimalAtan2(d, y, other) }), nil
}
