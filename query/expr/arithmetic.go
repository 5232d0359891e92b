package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// two evaluates both arguments of a binary operator.
func two(c *call, env *Env) (a, b value.Value, err error) {
	if a, err = c.args[0].eval(env); err != nil {
		return a, b, err
	}
	b, err = c.args[1].eval(env)
	return a, b, err
}

func isDecimal(a, b value.Value) bool {
	return a.Kind() == value.KindDecimal || b.Kind() == value.KindDecimal
}

func isDouble(a, b value.Value) bool {
	return a.Kind() == value.KindDouble || b.Kind() == value.KindDouble
}

func isInt(a, b value.Value) bool {
	return a.Kind() == value.KindInt32 && b.Kind() == value.KindInt32
}

// decimalOp runs a binary operation in 34 digits.
func decimalOp(op func(d, x, y *apd.Decimal) (apd.Condition, error), a, b value.Value) value.Value {
	var d apd.Decimal
	if _, err := op(&d, a.AsDecimal().Apd(), b.AsDecimal().Apd()); err != nil {
		return value.DecimalValue(value.DecimalNaN)
	}
	return value.DecimalValue(value.DecimalFromApd(&d))
}

func evalDivide(c *call, env *Env) (value.Value, error) {
	a, b, err := two(c, env)
	if err != nil {
		return value.Value{}, err
	}
	if a.IsNumber() && b.IsNumber() {
		if b.Kind() == value.KindDecimal && b.Decimal().IsZero() || b.Kind() != value.KindDecimal && b.AsDouble() == 0 {
			return value.Value{}, mongoerr.New(mongoerr.BadValue, "can't $divide by zero")
		}
		if isDecimal(a, b) {
			return divideDecimals(a, b), nil
		}
		return value.Double(a.AsDouble() / b.AsDouble()), nil
	}
	if a.IsNullish() || b.IsNullish() {
		return value.Null(), nil
	}
	return value.Value{}, mongoerr.Newf(mongoerr.TypeMismatch, "$divide only supports numeric types, not %s and %s", a.Kind(), b.Kind())
}

func evalMod(c *call, env *Env) (value.Value, error) {
	a, b, err := two(c, env)
	if err != nil {
		return value.Value{}, err
	}
	if !a.IsNumber() || !b.IsNumber() {
		if a.IsNullish() || b.IsNullish() {
			return value.Null(), nil
		}
		return value.Value{}, mongoerr.Newf(16611, "$mod only supports numeric types, not %s and %s", a.Kind(), b.Kind())
	}
	return mod(a, b)
}

func mod(a, b value.Value) (value.Value, error) {
	switch {
	case isDecimal(a, b) && b.AsDecimal().IsZero():
		return value.Value{}, mongoerr.New(5733415, "can't $mod by zero")
	case isDecimal(a, b):
		return decimalMod(a, b)
	case b.AsDouble() == 0:
		return value.Value{}, mongoerr.New(16610, "can't $mod by zero")
	case isDouble(a, b):
		return modDouble(a, b), nil
	case b.Int64() == -1: // MinInt64 % -1 overflows in the machine
		if isInt(a, b) {
			return value.Int32(0), nil
		}
		return value.Int64(0), nil
	case isInt(a, b):
		return value.Int32(a.Int32() % b.Int32()), nil
	}
	return value.Int64(a.Int64() % b.Int64()), nil
}

func modDouble(a, b value.Value) value.Value {
	return value.Double(math.Mod(a.AsDouble(), b.AsDouble()))
}

// modContext has the digits of any quotient of two decimals.
var modContext = workContext(12500)

// decimalMod is the remainder of the division truncated to a whole number.
func decimalMod(a, b value.Value) (value.Value, error) {
	x, y := a.AsDecimal(), b.AsDecimal()
	if y.IsInf() != 0 && x.IsFinite() {
		return value.DecimalValue(x), nil
	}
	return decimalOp(modContext.Rem, a, b), nil
}

// divideDecimals divides; an exact quotient has no more digits than it needs,
// but keeps those after the point that the dividend had beyond the divisor.
func divideDecimals(a, b value.Value) value.Value {
	x, y := a.AsDecimal().Apd(), b.AsDecimal().Apd()
	if y.Form == apd.Infinite && x.Form == apd.Finite {
		zero := value.Decimal{} // of the smallest exponent
		if x.Negative != y.Negative {
			zero = negate(zero)
		}
		return value.DecimalValue(zero)
	}
	var q apd.Decimal
	if _, err := value.DecimalContext.Quo(&q, x, y); err != nil {
		return value.DecimalValue(value.DecimalNaN)
	}
	if q.Form != apd.Finite {
		return value.DecimalValue(value.DecimalFromApd(&q))
	}
	ideal := x.Exponent - y.Exponent
	if q.IsZero() {
		q.Exponent = ideal
	}
	var rest, digit apd.BigInt
	ten := apd.NewBigInt(10)
	for q.Exponent < ideal && !q.IsZero() {
		if digit.QuoRem(&q.Coeff, ten, &rest); rest.Sign() != 0 {
			break
		}
		q.Coeff.Set(&digit)
		q.Exponent++
	}
	return value.DecimalValue(value.DecimalFromApd(&q))
}
