package value

import (
	"math"
	"math/bits"

	"github.com/cockroachdb/apd/v3"
)

// Number conversions. MongoDB's numbers form one family: an operator that
// asks for a number takes any of the four types.

// AsDouble converts any number to the nearest double; 0 if v is not a number.
func (v Value) AsDouble() float64 {
	switch v.kind {
	case KindInt32, KindInt64:
		return float64(int64(v.num))
	case KindDouble:
		return math.Float64frombits(v.num)
	case KindDecimal:
		return v.Decimal().Float64()
	}
	return 0
}

// AsInt64 converts a number whose value is integral and fits a long; ok is
// false for everything else.
func (v Value) AsInt64() (n int64, ok bool) {
	switch v.kind {
	case KindInt32, KindInt64:
		return int64(v.num), true
	case KindDouble:
		f := v.Double()
		if f != math.Trunc(f) || f < -(1<<63) || f >= 1<<63 || math.IsNaN(f) {
			return 0, false
		}
		return int64(f), true
	case KindDecimal:
		return v.Decimal().Int64()
	}
	return 0, false
}

// ExactInt64 is AsInt64 with what mongod says of any other value, but for the value itself: the
// start of a message, or "".
func (v Value) ExactInt64() (n int64, complaint string) {
	n, ok := v.AsInt64()
	switch f := v.AsDouble(); {
	case ok:
		return n, ""
	case !v.IsNumber():
		return 0, "Expected a number in"
	case v.kind == KindDouble && math.IsNaN(f):
		return 0, "Expected an integer, but found NaN in"
	case v.kind == KindDouble && f < 1<<63 && f >= -(1<<63):
		return 0, "Expected an integer"
	}
	return 0, "Cannot represent as a 64-bit integer"
}

// SafeInt64 converts any number as MongoDB's safeNumberLong: a double is
// truncated toward zero, a decimal rounded to the nearest, halves to the even
// one; clamped to the range of a long, NaN as 0.
func (v Value) SafeInt64() int64 { return v.wholeInt64(nearest) }

// TowardZeroInt64 is SafeInt64 but that decimals are truncated as well.
func (v Value) TowardZeroInt64() int64 { return v.wholeInt64(roundDown) }

// wholeInt64 converts a number to a long, clamped; doubles are truncated,
// decimals rounded by the context.
func (v Value) wholeInt64(round *apd.Context) int64 {
	f := 0.0
	switch v.kind {
	case KindInt32, KindInt64:
		return int64(v.num)
	case KindDouble:
		f = math.Trunc(v.Double())
	case KindDecimal:
		d := v.Decimal()
		if d.IsFinite() {
			x := new(apd.Decimal)
			if _, err := round.RoundToIntegralValue(x, d.Apd()); err == nil {
				if n, err := x.Int64(); err == nil {
					return n
				}
			}
		}
		f = d.Float64()
	}
	switch {
	case math.IsNaN(f):
		return 0
	case f >= 1<<63:
		return math.MaxInt64
	case f <= -(1 << 63):
		return math.MinInt64
	}
	return int64(f)
}

var (
	roundDown = wholeContext(apd.RoundDown)
	nearest   = wholeContext(apd.RoundHalfEven)
)

func wholeContext(r apd.Rounder) *apd.Context {
	c := *DecimalContext
	c.Precision, c.Rounding = 0, r
	return &c
}

// Int64 converts a decimal whose value is integral and fits a long.
func (d Decimal) Int64() (int64, bool) {
	if !d.IsFinite() {
		return 0, false
	}
	hi, lo, exp := d.coefficient()
	if hi == 0 && exp == 0 && lo <= math.MaxInt64 {
		if d.Negative() {
			return -int64(lo), true
		}
		return int64(lo), true
	}
	if d.IsZero() {
		return 0, true
	}
	if exp > 20 || exp < -40 {
		return 0, false
	}
	n, err := d.Apd().Int64()
	return n, err == nil
}

// AsDecimal converts any number to a decimal; doubles are rounded to 15
// digits, as MongoDB does in arithmetic.
func (v Value) AsDecimal() Decimal {
	switch v.kind {
	case KindInt32, KindInt64:
		return DecimalFromInt64(int64(v.num))
	case KindDouble:
		return DecimalFromDouble(v.Double())
	case KindDecimal:
		return v.Decimal()
	}
	return DecimalNaN
}

// IsNaN reports whether v is a double or decimal NaN.
func (v Value) IsNaN() bool {
	switch v.kind {
	case KindDouble:
		return math.IsNaN(v.Double())
	case KindDecimal:
		return v.Decimal().IsNaN()
	}
	return false
}

// Int makes the smallest integer type that holds n: int, else long.
func Int(n int64) Value {
	if n == int64(int32(n)) {
		return Int32(int32(n))
	}
	return Int64(n)
}

// Add adds two numbers in the wider of their types (int < long < double <
// decimal); an int that overflows becomes a long. ok is false if a long would
// overflow: the caller decides whether that is an error ($inc) or gives a
// double ($add).
func Add(a, b Value) (sum Value, ok bool) {
	switch wider(a.kind, b.kind) {
	case KindDecimal:
		x := new(apd.Decimal)
		return decimalResult(x, func() (apd.Condition, error) {
			return DecimalContext.Add(x, a.AsDecimal().Apd(), b.AsDecimal().Apd())
		}), true
	case KindDouble:
		return Double(a.AsDouble() + b.AsDouble()), true
	case KindInt64:
		n := a.Int64() + b.Int64()
		return Int64(n), (n > a.Int64()) == (b.Int64() > 0)
	}
	return Int(a.Int64() + b.Int64()), true
}

// Mul multiplies two numbers by the rules of [Add].
func Mul(a, b Value) (product Value, ok bool) {
	switch wider(a.kind, b.kind) {
	case KindDecimal:
		x := new(apd.Decimal)
		return decimalResult(x, func() (apd.Condition, error) {
			return DecimalContext.Mul(x, a.AsDecimal().Apd(), b.AsDecimal().Apd())
		}), true
	case KindDouble:
		return Double(a.AsDouble() * b.AsDouble()), true
	case KindInt64:
		n, ok := mulInt64(a.Int64(), b.Int64())
		return Int64(n), ok
	}
	return Int(a.Int64() * b.Int64()), true
}

// mulInt64 multiplies, and reports whether the product fits.
func mulInt64(a, b int64) (int64, bool) {
	ua, ub := uint64(a), uint64(b)
	if a < 0 {
		ua = -ua
	}
	if b < 0 {
		ub = -ub
	}
	hi, lo := bits.Mul64(ua, ub)
	negative := (a < 0) != (b < 0)
	switch {
	case hi != 0, !negative && lo > math.MaxInt64, negative && lo > 1<<63:
		return 0, false
	case negative:
		return int64(-lo), true
	}
	return int64(lo), true
}

// decimalResult runs a decimal operation whose target is x.
func decimalResult(x *apd.Decimal, op func() (apd.Condition, error)) Value {
	if _, err := op(); err != nil {
		return DecimalValue(DecimalNaN)
	}
	return DecimalValue(DecimalFromApd(x))
}

// wider is the type in which two numbers are added.
func wider(a, b Kind) Kind {
	if numberWidth(b) > numberWidth(a) {
		return b
	}
	return a
}

func numberWidth(k Kind) int {
	switch k {
	case KindInt32:
		return 1
	case KindInt64:
		return 2
	case KindDouble:
		return 3
	case KindDecimal:
		return 4
	}
	return 0
}

// AddClamped is a+b, or the nearest number if that is none of 64 bits.
func AddClamped(a, b int64) int64 {
	switch s := a + b; {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	default:
		return s
	}
}
