package value

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Decimal arithmetic with the rules of IEEE 754 for the exponent of an exact
// result, and for NaN: the first operand that is NaN is the result, with its
// sign.

// Sub is d - y.
func (d Decimal) Sub(y Decimal) Decimal {
	x := new(apd.Decimal)
	if _, err := DecimalContext.Sub(x, d.Apd(), y.Apd()); err != nil {
		return DecimalNaN
	}
	return DecimalFromApd(x)
}

// Div is d / y. An exact quotient has no more digits than it needs, but keeps
// those after the point that the dividend had beyond the divisor.
func (d Decimal) Div(y Decimal) Decimal {
	a, b := d.Apd(), y.Apd()
	if b.Form == apd.Infinite && a.Form == apd.Finite {
		return encodeDecimal(a.Negative != b.Negative, 0, 0, -decimalBias)
	}
	q := new(apd.Decimal)
	how, err := DecimalContext.Quo(q, a, b)
	if err != nil {
		return DecimalNaN
	}
	if q.Form == apd.Finite && !how.Inexact() {
		shorten(q, a.Exponent-b.Exponent)
	}
	return DecimalFromApd(q)
}

// shorten removes trailing zeros from x while its exponent is below ideal.
func shorten(x *apd.Decimal, ideal int32) {
	if x.Coeff.Sign() == 0 {
		x.Exponent = ideal
		return
	}
	var rest, digit apd.BigInt
	ten := apd.NewBigInt(10)
	for x.Exponent < ideal {
		if digit.QuoRem(&x.Coeff, ten, &rest); rest.Sign() != 0 {
			return
		}
		x.Coeff.Set(&digit)
		x.Exponent++
	}
}

// Sqrt is the square root; that of a negative number is NaN. An exact root
// has half the exponent, or as near to it as 34 digits allow.
func (d Decimal) Sqrt() Decimal {
	if d.IsNaN() {
		return d
	}
	a, x := d.Apd(), new(apd.Decimal)
	if d.IsZero() {
		x.Negative, x.Exponent = a.Negative, a.Exponent>>1
		return DecimalFromApd(x)
	}
	if _, err := DecimalContext.Sqrt(x, a); err != nil {
		return DecimalNaN
	}
	var square apd.Decimal
	if x.Form == apd.Finite {
		wide := *DecimalContext
		wide.Precision = 2 * decimalDigits
		if _, err := wide.Mul(&square, x, x); err == nil && square.Cmp(a) == 0 {
			shorten(x, a.Exponent>>1)
		}
	}
	return DecimalFromApd(x)
}

// WithAllDigits gives a finite d as many digits as a decimal holds: the
// coefficient is extended with zeros to 34 digits, or to the least exponent.
// A negative zero becomes a positive one.
func (d Decimal) WithAllDigits() Decimal {
	if !d.IsFinite() {
		return d
	}
	a := d.Apd()
	if a.Coeff.Sign() == 0 {
		return Decimal{}
	}
	n := min(decimalDigits-int32(a.NumDigits()), a.Exponent+decimalBias)
	if n > 0 {
		ten := apd.NewBigInt(10)
		a.Coeff.Mul(&a.Coeff, ten.Exp(ten, apd.NewBigInt(int64(n)), nil))
		a.Exponent -= n
	}
	return DecimalFromApd(a)
}

// RoundTo rounds d to a number of decimal places, as $round and $trunc do. If
// that needs more than 34 digits, it keeps the value.
func (d Decimal) RoundTo(places int, mode apd.Rounder) Decimal {
	if !d.IsFinite() {
		return d
	}
	if x := d.Apd(); x.Coeff.Sign() != 0 && int(x.Exponent)+int(x.NumDigits())+places > decimalDigits {
		return d.WithAllDigits()
	}
	return d.Quantize(places, mode)
}

// ParseDecimalDown reads a number as [ParseDecimal] does, but truncates digits
// after the 34th; underflow reports whether the number is so small that it
// lost digits or became zero.
func ParseDecimalDown(s string) (d Decimal, underflow, ok bool) {
	d, ok = ParseDecimal(s)
	if !ok || !d.IsFinite() {
		return d, false, ok
	}
	x, _, err := apd.NewFromString(s)
	if err != nil || x.Form != apd.Finite { // out of apd's range
		return d, strings.Trim(strings.SplitN(strings.ToLower(s), "e", 2)[0], "+-0.") != "" && d.IsZero(), true
	}
	if x.Coeff.Sign() == 0 {
		return d, false, true
	}
	digits := x.NumDigits()
	if x.Exponent < -decimalBias && digits+int64(x.Exponent) < decimalDigits-decimalBias {
		exact := new(apd.Decimal).Set(x)
		shorten(exact, -decimalBias)
		if exact.Exponent < -decimalBias {
			return d, true, true
		}
	}
	if digits > decimalDigits {
		var cut apd.Decimal
		c := *DecimalContext
		c.Rounding = apd.RoundDown
		if _, err := c.Round(&cut, x); err == nil && cut.Form == apd.Finite {
			d = packDecimal(&cut)
		}
	}
	return d, false, true
}
