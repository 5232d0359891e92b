package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/exact"
	"github.com/duskdb/duskdb/value"
)

// number evaluates the only argument of an arithmetic operator; null reports
// whether the result is null.
func number(c *call, env *Env) (v value.Value, null bool, err error) {
	v, err = c.args[0].eval(env)
	switch {
	case err != nil:
	case v.IsNullish():
		return value.Null(), true, nil
	case !v.IsNumber():
		err = mongoerr.Newf(28765, "%s only supports numeric types, not %s", c.op.name, v.Kind())
	}
	return v, false, err
}

// unaryMath returns the evaluation of an operator whose result is a double, or
// a decimal for a decimal argument.
func unaryMath(double func(float64) float64, decimal func(d, x *apd.Decimal) error) func(*call, *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		v, null, err := number(c, env)
		switch {
		case null || err != nil:
			return v, err
		case v.Kind() == value.KindDecimal:
			return decimalFunc(v.Decimal(), decimal), nil
		}
		return value.Double(double(v.AsDouble())), nil
	}
}

// decimalFunc applies a function with extra digits and rounds the result.
func decimalFunc(x value.Decimal, f func(d, x *apd.Decimal) error) value.Value {
	var d apd.Decimal
	switch {
	case x.IsNaN():
		return value.DecimalValue(x)
	case f(&d, x.Apd()) != nil:
		return value.DecimalValue(value.DecimalNaN)
	}
	return value.DecimalValue(value.DecimalFromApd(&d))
}

// evalAbs evaluates $abs; the smallest long is an error, the smallest int
// becomes a long.
func evalAbs(c *call, env *Env) (value.Value, error) {
	v, null, err := number(c, env)
	if null || err != nil {
		return v, err
	}
	switch v.Kind() {
	case value.KindDouble:
		return value.Double(math.Abs(v.Double())), nil
	case value.KindDecimal:
		d := v.Decimal()
		d.Hi &^= 1 << 63
		return value.DecimalValue(d), nil
	}
	n := v.Int64()
	switch {
	case n == math.MinInt64:
		return value.Value{}, mongoerr.New(28680, "can't take $abs of long long min")
	case n >= 0:
		return v, nil
	case v.Kind() == value.KindInt64:
		return value.Int64(-n), nil
	}
	return value.Int(-n), nil
}

func evalCeil(c *call, env *Env) (value.Value, error) {
	return toWhole(c, env, math.Ceil, apd.RoundCeiling)
}

func evalFloor(c *call, env *Env) (value.Value, error) {
	return toWhole(c, env, math.Floor, apd.RoundFloor)
}

func toWhole(c *call, env *Env, double func(float64) float64, mode apd.Rounder) (value.Value, error) {
	v, null, err := number(c, env)
	if null || err != nil {
		return v, err
	}
	switch v.Kind() {
	case value.KindDouble:
		return value.Double(double(v.Double())), nil
	case value.KindDecimal:
		return value.DecimalValue(v.Decimal().Quantize(0, mode)), nil
	}
	return v, nil
}

func evalRound(c *call, env *Env) (value.Value, error) {
	return roundOrTrunc(c, env, apd.RoundHalfEven)
}

func evalTrunc(c *call, env *Env) (value.Value, error) { return roundOrTrunc(c, env, apd.RoundDown) }

// roundOrTrunc evaluates $round and $trunc with the optional number of places.
func roundOrTrunc(c *call, env *Env, mode apd.Rounder) (value.Value, error) {
	v, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case v.IsNullish():
		return value.Null(), nil
	case !v.IsNumber():
		return value.Value{}, mongoerr.Newf(51081, "%s only supports numeric types, not %s", c.op.name, v.Kind())
	}
	places := 0
	if len(c.args) > 1 {
		p, err := c.args[1].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if p.IsNullish() {
			return value.Null(), nil
		}
		if places, err = roundPlaces(c, p); err != nil {
			return value.Value{}, err
		}
	}
	return roundNumber(c, v, places, mode)
}

// roundPlaces reads the number of places, a whole number from -20 to 100.
func roundPlaces(c *call, p value.Value) (int, error) {
	if !p.IsNumber() {
		return 0, cannotConvert(p, "long")
	}
	if _, err := toLongCut(p); err != nil {
		return 0, err
	}
	n, ok := asInt32(p)
	if !ok {
		// sic: mongod
		return 0, mongoerr.Newf(51082, "precision argument to  %s must be a integral value", c.op.name)
	}
	if n < -20 || n > 100 {
		return 0, mongoerr.Newf(51083, "cannot apply %s with precision value %d value must be in [-20, 100]", c.op.name, n)
	}
	return int(n), nil
}

// roundNumber computes with decimals, because doubles have no decimal places.
func roundNumber(c *call, v value.Value, places int, mode apd.Rounder) (value.Value, error) {
	switch v.Kind() {
	case value.KindDecimal:
		return value.DecimalValue(v.Decimal().RoundTo(places, mode)), nil
	case value.KindDouble:
		f := v.Double()
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return v, nil
		}
		if places == 0 && math.Abs(f) < 1e15 {
			if mode == apd.RoundDown {
				return value.Double(math.Trunc(f)), nil
			}
			return value.Double(math.RoundToEven(f)), nil
		}
		return value.Double(value.DecimalFromDouble34(f).RoundTo(places, mode).Float64()), nil
	}
	if places >= 0 {
		return v, nil
	}
	n, ok := value.DecimalFromInt64(v.Int64()).RoundTo(places, mode).Int64()
	if !ok {
		return value.Value{}, mongoerr.Newf(51080,
			"invalid conversion from Decimal128 result in %s resulting from arguments: [%d, %d]", c.op.name, v.Int64(), places)
	}
	if v.Kind() == value.KindInt64 {
		return value.Int64(n), nil
	}
	return value.Int(n), nil
}

func evalExp(c *call, env *Env) (value.Value, error) {
	v, null, err := number(c, env)
	switch {
	case null || err != nil:
		return v, err
	case v.Kind() == value.KindDecimal:
		return decimalFunc(v.Decimal(), decimalExp), nil
	}
	return value.Double(exact.Exp(v.AsDouble())), nil
}

func evalLn(c *call, env *Env) (value.Value, error) {
	return logarithm(c, env, 28766, exact.Log, decimalLn)
}

func evalLog10(c *call, env *Env) (value.Value, error) {
	return logarithm(c, env, 28761, exact.Log10, decimalLog10)
}

func logarithm(c *call, env *Env, code mongoerr.Code, double func(float64) float64, decimal func(d, x *apd.Decimal) error) (value.Value, error) {
	v, null, err := number(c, env)
	if null || err != nil {
		return v, err
	}
	f := v.AsDouble()
	if v.Kind() == value.KindDecimal && isPositive(v.Decimal()) {
		return decimalFunc(v.Decimal(), decimal), nil
	}
	if f <= 0 {
		return value.Value{}, mongoerr.Newf(code, "%s's argument must be a positive number, but is %s", c.op.name, value.ShortDouble(f))
	}
	return value.Double(double(f)), nil
}

func isPositive(d value.Decimal) bool { return !d.IsNaN() && !d.IsZero() && !d.Negative() }

// twoNumbers evaluates the arguments of $log and $pow; null reports whether one is null. The
// code of an error of the second follows that of the first.
func twoNumbers(c *call, env *Env, code mongoerr.Code, first, second string) (a, b value.Value, null bool, err error) {
	a, b, err = two(c, env)
	switch {
	case err != nil:
		return a, b, false, err
	case a.IsNullish() || b.IsNullish():
		return a, b, true, nil
	case !a.IsNumber():
		return a, b, false, mongoerr.Newf(code, "%s's %s must be numeric, not %s", c.op.name, first, a.Kind())
	case !b.IsNumber():
		return a, b, false, mongoerr.Newf(code+1, "%s's %s must be numeric, not %s", c.op.name, second, b.Kind())
	}
	return a, b, false, nil
}

// evalLog evaluates $log for a base, in decimals if an argument is one.
func evalLog(c *call, env *Env) (value.Value, error) {
	a, b, null, err := twoNumbers(c, env, 28756, "argument", "base")
	if null || err != nil {
		return value.Null(), err
	}
	if isDecimal(a, b) {
		x, base := a.AsDecimal(), b.AsDecimal()
		if isPositive(x) && isPositive(base) && value.Compare(b, value.Int32(1)) != 0 {
			// The logarithms are rounded before they are divided.
			a, b := decimalFunc(x, decimalLn).Decimal(), decimalFunc(base, decimalLn).Decimal()
			return value.DecimalValue(a.Div(b)), nil
		}
	}
	x, base := a.AsDouble(), b.AsDouble()
	if x <= 0 {
		return value.Value{}, mongoerr.Newf(28758, "$log's argument must be a positive number, but is %s", value.ShortDouble(x))
	}
	if base <= 0 || base == 1 {
		return value.Value{}, mongoerr.Newf(28759, "$log's base must be a positive number not equal to 1, but is %s", value.ShortDouble(base))
	}
	return value.Double(exact.Log(x) / exact.Log(base)), nil
}

func evalSqrt(c *call, env *Env) (value.Value, error) {
	v, null, err := number(c, env)
	if null || err != nil {
		return v, err
	}
	if v.AsDouble() < 0 || v.Kind() == value.KindDecimal && isPositive(negate(v.Decimal())) {
		return value.Value{}, mongoerr.New(28714, "$sqrt's argument must be greater than or equal to 0")
	}
	if v.Kind() == value.KindDecimal {
		return value.DecimalValue(v.Decimal().Sqrt()), nil
	}
	return value.Double(math.Sqrt(v.AsDouble())), nil
}

func negate(d value.Decimal) value.Decimal {
	d.Hi ^= 1 << 63
	return d
}

// evalPow evaluates $pow; the result is an integer if both arguments are
// integers and it fits.
func evalPow(c *call, env *Env) (value.Value, error) {
	a, b, null, err := twoNumbers(c, env, 28762, "base", "exponent")
	if null || err != nil {
		return value.Null(), err
	}
	x, y := a.AsDouble(), b.AsDouble()
	if isDecimal(a, b) {
		if a.AsDecimal().IsZero() && b.AsDecimal().Negative() {
			return value.Value{}, mongoerr.New(28764, "$pow cannot take a base of 0 and a negative exponent")
		}
		return value.DecimalValue(decimalPow(a.AsDecimal(), b.AsDecimal()).WithAllDigits()), nil
	}
	switch {
	case x == 0 && y < 0:
		return value.Value{}, mongoerr.New(28764, "$pow cannot take a base of 0 and a negative exponent")
	case isDouble(a, b):
		return value.Double(exact.Pow(x, y)), nil
	}
	return powInt(a, b), nil
}

// powInt returns an integer if the result fits a long.
func powInt(a, b value.Value) value.Value {
	base, exp := a.Int64(), b.Int64()
	result := func(n int64) value.Value {
		if isInt(a, b) {
			return value.Int(n)
		}
		return value.Int64(n)
	}
	switch {
	case exp == 0 || base == 1:
		return result(1)
	case base == 0:
		return result(0)
	case base == -1 && exp%2 == 0:
		return result(1)
	case base == -1:
		return result(-1)
	case exp < 0 || exp > 63:
		return value.Double(exact.Pow(float64(base), float64(exp)))
	}
	product := value.Int64(1)
	for range exp {
		next, ok := value.Mul(product, value.Int64(base))
		if !ok {
			return value.Double(exact.Pow(float64(base), float64(exp)))
		}
		product = next
	}
	return result(product.Int64())
}

// asInt32 converts a number that is integral and fits an int.
func asInt32(v value.Value) (int32, bool) {
	n, ok := v.AsInt64()
	return int32(n), ok && n == int64(int32(n))
}

// toLongCut converts a number to a long by MongoDB's coercion: doubles are
// truncated and must fit; decimals are rounded half to even, and give the
// smallest long if they do not fit.
func toLongCut(v value.Value) (int64, error) {
	switch v.Kind() {
	case value.KindDouble:
		if f := v.Double(); !(f >= -(1<<63) && f < 1<<63) {
			return 0, mongoerr.Newf(31109, "Can't coerce out of range value %s to long", value.ShortDouble(f))
		}
	case value.KindDecimal:
		n, ok := v.Decimal().Round(0, apd.RoundHalfEven).Int64()
		if !ok {
			n = math.MinInt64
		}
		return n, nil
	}
	return v.TowardZeroInt64(), nil
}

// cannotConvert returns the error for a type without an implicit conversion.
func cannotConvert(v value.Value, to string) error {
	code := map[string]mongoerr.Code{"int": 16003, "long": 16004, "double": 16005, "Date": 16006, "String": 16007}[to]
	return mongoerr.Newf(code, "can't convert from BSON type %s to %s", v.Kind(), to)
}
