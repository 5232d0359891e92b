package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

// The trigonometric functions of decimals: reduction of the argument and a
// series, with many more digits than the result keeps.

const (
	trigDigits = 130 // enough for results that cancel 60 digits
	tinyExp    = -45 // below 10^-45 f(x) = x holds for all 34 digits
)

// trig does arithmetic and keeps the first error.
type trig struct{ apd.ErrDecimal }

func newTrig(digits uint32) *trig { return &trig{apd.MakeErrDecimal(workContext(digits))} }

// magnitudeOf returns the power of ten of x's first digit.
func magnitudeOf(x *apd.Decimal) int64 { return x.NumDigits() + int64(x.Exponent) - 1 }

func isTiny(x *apd.Decimal) bool { return x.IsZero() || magnitudeOf(x) < tinyExp }

// quadrant reduces x to r = x - q·π/2 with |r| ≤ π/4 and returns q mod 4.
func (t *trig) quadrant(r, x *apd.Decimal) int {
	var half, q apd.Decimal
	t.Mul(&half, pi(t.Ctx.Precision), decHalf)
	t.Quo(&q, x, &half)
	t.RoundToIntegralValue(&q, &q)
	t.Mul(r, &q, &half)
	t.Sub(r, x, r)
	var mod apd.Decimal
	t.Rem(&mod, &q, apd.New(4, 0))
	n, err := mod.Int64()
	if err != nil {
		return 0
	}
	return int(n+4) % 4
}

// series sums first·(1 ∓ x²/(a·(a+1)) ± …), the common form of sin and cos
// (a = 2 and 1), or without the change of signs of sinh and cosh.
func (t *trig) series(d, first, x *apd.Decimal, a int64, alternate bool) {
	var square, term apd.Decimal
	t.Mul(&square, x, x)
	if alternate {
		square.Negative = !square.Negative
	}
	term.Set(first)
	sum := new(apd.Decimal).Set(first)
	for ; t.Err() == nil && !term.IsZero(); a += 2 {
		t.Mul(&term, &term, &square)
		t.Quo(&term, &term, apd.New(a*(a+1), 0))
		if term.IsZero() || magnitudeOf(&term) < magnitudeOf(sum)-int64(t.Ctx.Precision) {
			break
		}
		t.Add(sum, sum, &term)
	}
	d.Set(sum)
}

// sinCos computes the sine or the cosine after reducing x to a quadrant.
func (t *trig) sinCos(d, x *apd.Decimal, cos bool) {
	var r apd.Decimal
	q := t.quadrant(&r, x)
	if cos {
		q = (q + 1) % 4
	}
	if q%2 == 0 {
		t.series(d, &r, &r, 2, true)
	} else {
		t.series(d, decOne, &r, 1, true)
	}
	if q >= 2 {
		d.Negative = !d.Negative
	}
}

func forArgument(x *apd.Decimal) *trig {
	return newTrig(trigDigits + uint32(max(0, magnitudeOf(x))))
}

func decimalSin(d, x *apd.Decimal) error {
	if isTiny(x) {
		d.Set(x)
		return nil
	}
	t := forArgument(x)
	t.sinCos(d, x, false)
	return t.Err()
}

func decimalCos(d, x *apd.Decimal) error {
	if isTiny(x) {
		d.Set(decOne)
		return nil
	}
	t := forArgument(x)
	t.sinCos(d, x, true)
	return t.Err()
}

func decimalTan(d, x *apd.Decimal) error {
	if isTiny(x) {
		d.Set(x)
		return nil
	}
	t := forArgument(x)
	var s, c apd.Decimal
	t.sinCos(&s, x, false)
	t.sinCos(&c, x, true)
	t.Quo(d, &s, &c)
	return t.Err()
}

// atan halves the angle until the series converges fast.
func (t *trig) atan(d, x *apd.Decimal) {
	var y apd.Decimal
	if y.Abs(x).Cmp(decOne) > 0 {
		t.Quo(&y, decOne, &y)
		t.atan(&y, &y)
		var half apd.Decimal
		t.Mul(&half, pi(t.Ctx.Precision), decHalf)
		t.Sub(d, &half, &y)
		d.Negative = x.Negative
		return
	}
	negative := x.Negative
	factor := int64(1)
	for !y.IsZero() && magnitudeOf(&y) >= -3 {
		var s apd.Decimal // y / (1 + sqrt(1 + y²))
		t.Mul(&s, &y, &y)
		t.Add(&s, &s, decOne)
		t.Sqrt(&s, &s)
		t.Add(&s, &s, decOne)
		t.Quo(&y, &y, &s)
		if factor *= 2; t.Err() != nil {
			return
		}
	}
	t.atanSeries(&y)
	t.Mul(d, &y, apd.New(factor, 0))
	d.Negative = negative
}

// atanSeries replaces a small y by y - y³/3 + y⁵/5 - ….
func (t *trig) atanSeries(y *apd.Decimal) {
	var square, term apd.Decimal
	t.Mul(&square, y, y)
	square.Negative = true
	power := new(apd.Decimal).Set(y)
	sum := new(apd.Decimal).Set(y)
	for k := int64(3); t.Err() == nil && !power.IsZero(); k += 2 {
		t.Mul(power, power, &square)
		t.Quo(&term, power, apd.New(k, 0))
		if term.IsZero() || magnitudeOf(&term) < magnitudeOf(sum)-int64(t.Ctx.Precision) {
			break
		}
		t.Add(sum, sum, &term)
	}
	y.Set(sum)
}

func decimalAtan(d, x *apd.Decimal) error {
	t := newTrig(trigDigits)
	switch {
	case x.Form == apd.Infinite:
		t.Mul(d, pi(trigDigits), decHalf)
		d.Negative = x.Negative
	case isTiny(x):
		d.Set(x)
	default:
		t.atan(d, x)
	}
	return t.Err()
}

// decimalAsin is atan(x / sqrt((1-x)(1+x))).
func decimalAsin(d, x *apd.Decimal) error {
	if isTiny(x) {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	var a, b apd.Decimal
	t.Sub(&a, decOne, x)
	t.Add(&b, decOne, x)
	t.Mul(&a, &a, &b)
	if a.IsZero() {
		t.Mul(d, pi(trigDigits), decHalf)
		d.Negative = x.Negative
		return t.Err()
	}
	t.Sqrt(&a, &a)
	t.Quo(&a, x, &a)
	t.atan(d, &a)
	return t.Err()
}

// decimalAcos is 2·atan(sqrt((1-x)/(1+x))).
func decimalAcos(d, x *apd.Decimal) error {
	t := newTrig(trigDigits)
	var a, b apd.Decimal
	t.Sub(&a, decOne, x)
	t.Add(&b, decOne, x)
	if b.IsZero() {
		d.Set(pi(trigDigits))
		return nil
	}
	t.Quo(&a, &a, &b)
	t.Sqrt(&a, &a)
	if a.IsZero() {
		d.Set(decZero)
		return t.Err()
	}
	t.atan(&b, &a)
	t.Mul(d, &b, decTwo)
	return t.Err()
}

// decimalAtan2 computes the angle of the point (x, y), with the signs of zero
// of IEEE 754.
func decimalAtan2(d, y, x *apd.Decimal) error {
	t := newTrig(trigDigits)
	p := pi(trigDigits)
	switch {
	case y.IsZero() && x.Negative:
		d.Set(p)
	case y.IsZero():
		d.Set(decZero)
	case x.Form == apd.Infinite && y.Form == apd.Infinite:
		t.Mul(d, p, apd.New(25, -2))
		if x.Negative {
			t.Sub(d, p, d)
		}
	case x.IsZero() || y.Form == apd.Infinite:
		t.Mul(d, p, decHalf)
	case x.Form == apd.Infinite && x.Negative:
		d.Set(p)
	case x.Form == apd.Infinite:
		d.Set(decZero)
	default:
		var q, a apd.Decimal
		t.Quo(&q, q.Abs(y), a.Abs(x))
		t.atan(d, &q)
		if x.Negative {
			t.Sub(d, p, d)
		}
	}
	d.Negative = y.Negative
	return t.Err()
}

// expPair returns e^x and e^-x; far is the sign of x if its powers are out of
// range, else 0.
func (t *trig) expPair(x *apd.Decimal) (a, b apd.Decimal, far int) {
	limit := apd.New(20000, 0)
	var size apd.Decimal
	if x.Form == apd.Infinite || size.Abs(x).Cmp(limit) > 0 {
		if x.Negative {
			return a, b, -1
		}
		return a, b, 1
	}
	t.Exp(&a, x)
	t.Quo(&b, decOne, &a)
	return a, b, 0
}

func decimalSinh(d, x *apd.Decimal) error {
	if x.Form == apd.Finite && isTiny(x) {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	a, b, far := t.expPair(x)
	if far != 0 {
		return infinite(d, far < 0)
	}
	t.Sub(d, &a, &b)
	t.Mul(d, d, decHalf)
	return t.Err()
}

func decimalCosh(d, x *apd.Decimal) error {
	t := newTrig(trigDigits)
	a, b, far := t.expPair(x)
	if far != 0 {
		return infinite(d, false)
	}
	t.Add(d, &a, &b)
	t.Mul(d, d, decHalf)
	return t.Err()
}

// decimalTanh computes (e^x - e^-x) / (e^x + e^-x), or ±1 for large x.
func decimalTanh(d, x *apd.Decimal) error {
	if x.Form == apd.Finite && isTiny(x) {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	a, b, far := t.expPair(x)
	if far != 0 {
		d.Set(apd.New(int64(far), 0))
		return nil
	}
	var up, down apd.Decimal
	t.Sub(&up, &a, &b)
	t.Add(&down, &a, &b)
	t.Quo(d, &up, &down)
	return t.Err()
}

// decimalAsinh computes ln(|x| + sqrt(x² + 1)) with the sign of x.
func decimalAsinh(d, x *apd.Decimal) error {
	if x.Form == apd.Infinite || isTiny(x) {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	var a, s apd.Decimal // ln(|x| + sqrt(x² + 1))
	a.Abs(x)
	t.Mul(&s, x, x)
	t.Add(&s, &s, decOne)
	t.Sqrt(&s, &s)
	t.Add(&s, &s, &a)
	t.Ln(d, &s)
	d.Negative = x.Negative
	return t.Err()
}

// decimalAcosh computes ln(x + sqrt((x-1)(x+1))).
func decimalAcosh(d, x *apd.Decimal) error {
	if x.Form == apd.Infinite {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	var a, b apd.Decimal // ln(x + sqrt((x-1)(x+1)))
	t.Sub(&a, x, decOne)
	t.Add(&b, x, decOne)
	t.Mul(&a, &a, &b)
	t.Sqrt(&a, &a)
	t.Add(&a, &a, x)
	t.Ln(d, &a)
	return t.Err()
}

// decimalAtanh computes ln((1+x)/(1-x)) / 2; it is infinite at ±1.
func decimalAtanh(d, x *apd.Decimal) error {
	if isTiny(x) {
		d.Set(x)
		return nil
	}
	t := newTrig(trigDigits)
	var a, b apd.Decimal // ln((1+x)/(1-x)) / 2
	t.Add(&a, decOne, x)
	t.Sub(&b, decOne, x)
	switch {
	case b.IsZero():
		return infinite(d, false)
	case a.IsZero():
		return infinite(d, true)
	}
	t.Quo(&a, &a, &b)
	t.Ln(&a, &a)
	t.Mul(d, &a, decHalf)
	return t.Err()
}

// viaDecimal converts a function of decimals to one of doubles: slow, but
// exact to the last bit for any argument.
func viaDecimal(f func(d, x *apd.Decimal) error, otherwise func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			return otherwise(x)
		}
		var d apd.Decimal
		if f(&d, value.ExactDecimal(x)) != nil || d.Form != apd.Finite {
			return otherwise(x)
		}
		y, err := d.Float64()
		if err != nil {
			return otherwise(x)
		}
		return y
	}
}
