package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
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

// evalDivide evaluates $divide; the result is a double, or a decimal if an
// argument is one.
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
			return value.DecimalValue(a.AsDecimal().Div(b.AsDecimal())), nil
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

// mod returns the remainder of a division truncated toward zero, in the wider
// type of the two numbers.
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

// modContext has enough digits for any quotient of two decimals.
var modContext = workContext(12500)

// decimalMod is the remainder of the division truncated to a whole number.
func decimalMod(a, b value.Value) (value.Value, error) {
	x, y := a.AsDecimal(), b.AsDecimal()
	if y.IsInf() != 0 && x.IsFinite() {
		return value.DecimalValue(x), nil
	}
	return decimalOp(modContext.Rem, a, b), nil
}
