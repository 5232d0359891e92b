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

// The functions of the table. For a tiny x most of them are x itself.
var (
	decimalSin   = itselfNearZero(reduced(func(t *trig, d, x *apd.Decimal) { t.sinCos(d, x, false) }))
	decimalTan   = finelyZero(itselfNearZero(reduced((*trig).tan)))
	decimalAtan  = itselfNearZero(computed((*trig).atan))
	decimalAsin  = finelyZero(itselfNearZero(computed((*trig).asin)))
	decimalAcos  = computed((*trig).acos)
	decimalSinh  = finelyZero(itselfNearZero(computed((*trig).sinh)))
	decimalCosh  = computed((*trig).cosh)
	decimalTanh  = itselfNearZero(computed((*trig).tanh))
	decimalAsinh = itselfNearZero(computed((*trig).asinh))
	decimalAcosh = computed((*trig).acosh)
	decimalAtanh = itselfNearZero(computed((*trig).atanh))
)

func decimalCos(d, x *apd.Decimal) error {
	if x.IsZero() {
		d.Coeff.Exp(apd.NewBigInt(10), apd.NewBigInt(33), nil)
		d.Form, d.Negative, d.Exponent = apd.Finite, false, -33
		return nil
	}
	if isTiny(x) {
		d.Set(decOne)
		return nil
	}
	return reduced(func(t *trig, d, x *apd.Decimal) { t.sinCos(d, x, true) })(d, x)
}

// computed is a function with the digits of trig.
func computed(f func(t *trig, d, x *apd.Decimal)) func(d, x *apd.Decimal) error {
	return func(d, x *apd.Decimal) error {
		t := newTrig(trigDigits)
		f(t, d, x)
		return t.Err()
	}
}

// reduced is a function that needs more digits the larger its argument is.
func reduced(f func(t *trig, d, x *apd.Decimal)) func(d, x *apd.Decimal) error {
	return func(d, x *apd.Decimal) error {
		t := newTrig(trigDigits + uint32(max(0, magnitudeOf(x))))
		f(t, d, x)
		return t.Err()
	}
}

// finelyZero is a function that mongod's library gives the zero 0E-40 for zero.
func finelyZero(f func(d, x *apd.Decimal) error) func(d, x *apd.Decimal) error {
	return func(d, x *apd.Decimal) error {
		if x.IsZero() {
			d.Set(x)
			d.Exponent = -40
			return nil
		}
		return f(d, x)
	}
}

func itselfNearZero(f func(d, x *apd.Decimal) error) func(d, x *apd.Decimal) error {
	return func(d, x *apd.Decimal) error {
		if x.Form == apd.Finite && isTiny(x) {
			d.Set(x)
			return nil
		}
		return f(d, x)
	}
}

func (t *trig) tan(d, x *apd.Decimal) {
	var s, c apd.Decimal
	t.sinCos(&s, x, false)
	t.sinCos(&c, x, true)
	t.Quo(d, &s, &c)
}

// atan halves the angle until the series converges fast.
func (t *trig) atan(d, x *apd.Decimal) {
	if x.Form == apd.Infinite {
		t.Mul(d, pi(trigDigits), decHalf)
		d.Negative = x.Negative
		return
	}
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

// asin is atan(x / sqrt((1-x)(1+x))).
func (t *trig) asin(d, x *apd.Decimal) {
	var a, b apd.Decimal
	t.Sub(&a, decOne, x)
	t.Add(&b, decOne, x)
	t.Mul(&a, &a, &b)
	if a.IsZero() {
		t.Mul(d, pi(trigDigits), decHalf)
		d.Negative = x.Negative
		return
	}
	t.Sqrt(&a, &a)
	t.Quo(&a, x, &a)
	t.atan(d, &a)
}

// acos is 2·atan(sqrt((1-x)/(1+x))).
func (t *trig) acos(d, x *apd.Decimal) {
	var a, b apd.Decimal
	t.Sub(&a, decOne, x)
	t.Add(&b, decOne, x)
	if b.IsZero() {
		d.Set(pi(trigDigits))
		return
	}
	t.Quo(&a, &a, &b)
	t.Sqrt(&a, &a)
	if a.IsZero() {
		d.Set(decZero)
		return
	}
	t.atan(&b, &a)
	t.Mul(d, &b, decTwo)
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

func (t *trig) sinh(d, x *apd.Decimal) {
	a, b, far := t.expPair(x)
	if far != 0 {
		infinite(d, far < 0)
		return
	}
	t.Sub(d, &a, &b)
	t.Mul(d, d, decHalf)
}

func (t *trig) cosh(d, x *apd.Decimal) {
	a, b, far := t.expPair(x)
	if far != 0 {
		infinite(d, false)
		return
	}
	t.Add(d, &a, &b)
	t.Mul(d, d, decHalf)
}

// tanh computes (e^x - e^-x) / (e^x + e^-x), or ±1 for large x.
func (t *trig) tanh(d, x *apd.Decimal) {
	a, b, far := t.expPair(x)
	if far != 0 {
		d.Set(apd.New(int64(far), 0))
		return
	}
	var up, down apd.Decimal
	t.Sub(&up, &a, &b)
	t.Add(&down, &a, &b)
	t.Quo(d, &up, &down)
}

// asinh computes ln(|x| + sqrt(x² + 1)) with the sign of x.
func (t *trig) asinh(d, x *apd.Decimal) {
	if x.Form == apd.Infinite {
		d.Set(x)
		return
	}
	var a, s apd.Decimal // ln(|x| + sqrt(x² + 1))
	a.Abs(x)
	t.Mul(&s, x, x)
	t.Add(&s, &s, decOne)
	t.Sqrt(&s, &s)
	t.Add(&s, &s, &a)
	t.Ln(d, &s)
	d.Negative = x.Negative
}

// acosh computes ln(x + sqrt((x-1)(x+1))).
func (t *trig) acosh(d, x *apd.Decimal) {
	if x.Form == apd.Infinite {
		d.Set(x)
		return
	}
	var a, b apd.Decimal // ln(x + sqrt((x-1)(x+1)))
	t.Sub(&a, x, decOne)
	t.Add(&b, x, decOne)
	t.Mul(&a, &a, &b)
	t.Sqrt(&a, &a)
	t.Add(&a, &a, x)
	t.Ln(d, &a)
}

// atanh computes ln((1+x)/(1-x)) / 2; it is infinite at ±1.
func (t *trig) atanh(d, x *apd.Decimal) {
	var a, b apd.Decimal // ln((1+x)/(1-x)) / 2
	t.Add(&a, decOne, x)
	t.Sub(&b, decOne, x)
	switch {
	case b.IsZero():
		infinite(d, false)
		return
	case a.IsZero():
		infinite(d, true)
		return
	}
	t.Quo(&a, &a, &b)
	t.Ln(&a, &a)
	t.Mul(d, &a, decHalf)
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
