package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// evalAdd adds numbers, and at most one date, which makes the result a date.
func evalAdd(c *call, env *Env) (value.Value, error) {
	t := total{sum: value.Int64(0), widest: value.KindInt32}
	for _, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.IsNullish() {
			return value.Null(), nil
		}
		if err := t.add(v); err != nil {
			return value.Value{}, err
		}
	}
	return t.result(), nil
}

// total is the running total of $add. Integers are summed as longs and
// narrowed at the end; on overflow the sum continues as a double. From the
// first date on all values are rounded to whole milliseconds.
type total struct {
	sum    value.Value
	widest value.Kind // the widest type of the integers
	date   bool
}

// add adds one argument of $add: a number or the first date; a second date is
// an error.
func (t *total) add(v value.Value) error {
	switch {
	case t.date && v.IsNumber():
		return t.addMillis(v)
	case v.IsNumber():
		if v.Kind() == value.KindInt64 {
			t.widest = value.KindInt64
		}
		t.sum = add(t.sum, v)
		return nil
	case v.Kind() != value.KindDateTime:
		return mongoerr.Newf(mongoerr.TypeMismatch, "$add only supports numeric or date types, not %s", v.Kind())
	case t.date:
		return mongoerr.New(16612, "only one date allowed in an $add expression")
	}
	n := t.sum
	t.sum, t.date = value.Int64(v.DateTime()), true
	return t.addMillis(n)
}

func (t *total) addMillis(v value.Value) error {
	ms, ok := roundToLong(v)
	if ok {
		if t.sum, ok = value.Add(t.sum, value.Int64(ms)); ok {
			return nil
		}
	}
	return mongoerr.New(mongoerr.Overflow, "date overflow")
}

func (t *total) result() value.Value {
	switch {
	case t.date:
		return value.DateTime(t.sum.Int64())
	case t.sum.Kind() == value.KindInt64 && t.widest == value.KindInt32:
		return value.Int(t.sum.Int64())
	}
	return t.sum
}

// add adds two numbers: int overflows to long, long to double.
func add(a, b value.Value) value.Value {
	s, ok := value.Add(a, b)
	if !ok {
		return value.Double(float64(a.Int64()) + float64(b.Int64()))
	}
	return s
}

// roundToLong rounds a number to a whole one, doubles half away from zero,
// decimals half to even; ok is false if it does not fit a long.
func roundToLong(n value.Value) (int64, bool) {
	switch n.Kind() {
	case value.KindDouble:
		f := math.Round(n.Double())
		if math.IsNaN(f) || f < -(1<<63) || f >= 1<<63 {
			return 0, false
		}
		return int64(f), true
	case value.KindDecimal:
		return n.Decimal().Round(0, apd.RoundHalfEven).Int64()
	}
	return n.Int64(), true
}

// evalSubtract evaluates $subtract: numbers, two dates (milliseconds), or a
// date and a number.
func evalSubtract(c *call, env *Env) (value.Value, error) {
	a, b, err := two(c, env)
	if err != nil {
		return value.Value{}, err
	}
	switch {
	case a.IsNumber() && b.IsNumber():
		return subtract(a, b), nil
	case a.IsNullish() || b.IsNullish():
		return value.Null(), nil
	case a.Kind() == value.KindDateTime && b.Kind() == value.KindDateTime:
		d := a.DateTime() - b.DateTime()
		if (d < a.DateTime()) != (b.DateTime() > 0) {
			return value.Value{}, mongoerr.New(mongoerr.Overflow, "date overflow")
		}
		return value.Int64(d), nil
	case a.Kind() == value.KindDateTime && b.IsNumber():
		ms, ok := roundToLong(b)
		d := a.DateTime() - ms
		if !ok || (d < a.DateTime()) != (ms > 0) {
			return value.Value{}, mongoerr.New(mongoerr.Overflow, "date overflow")
		}
		return value.DateTime(d), nil
	}
	from := a.Kind().String()
	if a.Kind() == value.KindDateTime {
		from = "Date"
	}
	return value.Value{}, mongoerr.Newf(mongoerr.TypeMismatch, "can't $subtract %s from %s", b.Kind(), from)
}

// subtract subtracts numbers: int overflows to long, long to double.
func subtract(a, b value.Value) value.Value {
	switch {
	case isDecimal(a, b):
		return decimalOp(value.DecimalContext.Sub, a, b)
	case isDouble(a, b):
		return value.Double(a.AsDouble() - b.AsDouble())
	case isInt(a, b):
		return value.Int(a.Int64() - b.Int64())
	}
	d := a.Int64() - b.Int64()
	if (d < a.Int64()) != (b.Int64() > 0) {
		return value.Double(float64(a.Int64()) - float64(b.Int64()))
	}
	return value.Int64(d)
}

// evalMultiply multiplies integers exactly. It also multiplies all numbers as
// doubles, which gives the result if the integers overflow.
func evalMultiply(c *call, env *Env) (value.Value, error) {
	product, double, widest := value.Int64(1), 1.0, value.KindInt32
	for _, n := range c.args {
		v, err := n.eval(env)
		switch {
		case err != nil:
			return value.Value{}, err
		case v.IsNullish():
			return value.Null(), nil
		case !v.IsNumber():
			return value.Value{}, mongoerr.Newf(mongoerr.TypeMismatch, "$multiply only supports numeric types, not %s", v.Kind())
		}
		if v.Kind() == value.KindInt64 {
			widest = value.KindInt64
		}
		if product.Kind() != value.KindDecimal && v.Kind() != value.KindDecimal {
			double *= v.AsDouble()
		}
		var ok bool
		if product, ok = value.Mul(product, v); !ok || product.Kind() == value.KindDouble {
			product = value.Double(double)
		}
	}
	if product.Kind() == value.KindInt64 && widest == value.KindInt32 {
		return value.Int(product.Int64()), nil
	}
	return product, nil
}
