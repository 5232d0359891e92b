package accumulate

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// pairSum is a sum of numbers that can also be taken away again. It counts NaN and
// infinities separately: one NaN, or two infinities of different signs, make the sum NaN.
type pairSum struct {
	t                           total
	plus, minus, nans, decimals int // the numbers of such values
}

func (s *pairSum) add(v value.Value) {
	s.count(v, 1)
	if finite(v) {
		s.t.add(v)
	}
}

// remove takes a number away that was added.
func (s *pairSum) remove(v value.Value) {
	s.count(v, -1)
	if !finite(v) {
		return
	}
	negative, ok := value.Mul(v, value.Int32(-1))
	if !ok { // the smallest long
		negative = value.Double(-v.AsDouble())
	}
	s.t.add(negative)
}

// count notes that there are n more numbers like v.
func (s *pairSum) count(v value.Value, n int) {
	decimal := v.Kind() == value.KindDecimal
	if decimal {
		s.decimals += n
	}
	switch f := v.AsDouble(); {
	case finite(v):
	case v.IsNaN():
		s.nans += n
	case decimal && v.Decimal().IsInf() > 0, !decimal && f > 0:
		s.plus += n
	default:
		s.minus += n
	}
}

// sum is the sum: a decimal if one of its numbers is.
func (s *pairSum) sum() value.Value {
	switch {
	case s.nans > 0, s.plus > 0 && s.minus > 0:
		return s.special(math.NaN(), value.DecimalNaN)
	case s.plus > 0:
		return s.special(math.Inf(1), value.DecimalPosInf)
	case s.minus > 0:
		return s.special(math.Inf(-1), value.DecimalNegInf)
	}
	sum := s.t.sum()
	if sum.Kind() == value.KindDecimal && s.decimals == 0 { // they were taken away
		return value.Double(sum.AsDouble())
	}
	return sum
}

func (s *pairSum) special(f float64, d value.Decimal) value.Value {
	if s.decimals > 0 {
		return value.DecimalValue(d)
	}
	return value.Double(f)
}

// mean returns the mean of n numbers, null if n is 0.
func (s *pairSum) mean(n int64) value.Value {
	sum := s.sum()
	switch {
	case n == 0:
		return value.Null()
	case !finite(sum):
		return sum
	case sum.Kind() == value.KindDecimal:
		return value.DecimalValue(sum.Decimal().Div(value.DecimalFromInt64(n)))
	}
	return value.Double(sum.AsDouble() / float64(n))
}

// Covariance is $covariancePop and $covarianceSamp: the co-moment of pairs by
// Welford's method, computed in decimals if a number is a decimal. A pair with NaN or an
// infinity makes the result NaN or infinite; it does not count as a pair.
type Covariance struct {
	sample       bool
	n            int64
	x, y, moment pairSum
}

// NewCovariance makes a $covariancePop or, if sample is set, a
// $covarianceSamp.
func NewCovariance(sample bool) *Covariance {
	return &Covariance{sample: sample, x: pairSum{t: newTotal()}, y: pairSum{t: newTotal()}, moment: pairSum{t: newTotal()}}
}

// Add takes a pair [x, y]; anything but two numbers is ignored.
func (c *Covariance) Add(v value.Value) {
	x, y, ok := pair(v)
	switch {
	case !ok:
		return
	case !finite(x) || !finite(y):
		c.moment.add(notFinite(x, y))
		return
	}
	before := c.x.mean(c.n)
	c.n++
	c.x.add(x)
	c.y.add(y)
	if !before.IsNullish() {
		product, _ := value.Mul(difference(x, before), difference(y, c.y.mean(c.n)))
		c.moment.add(product)
	}
}

// pair returns the two numbers of an array that has no more.
func pair(v value.Value) (x, y value.Value, ok bool) {
	if v.Kind() != value.KindArray || v.Doc().Len() != 2 {
		return x, y, false
	}
	x, y = v.Doc().Index(0), v.Doc().Index(1)
	return x, y, x.IsNumber() && y.IsNumber()
}

// Remove takes a pair away that was added before: as in mongod, by the inverse steps, which
// may leave an error in the last digits.
func (c *Covariance) Remove(v value.Value) {
	x, y, ok := pair(v)
	switch {
	case !ok:
		return
	case !finite(x) || !finite(y):
		c.moment.remove(notFinite(x, y))
		return
	}
	if c.n--; c.n == 0 {
		c.x.t, c.y.t, c.moment.t = newTotal(), newTotal(), newTotal()
		c.x.decimals, c.y.decimals, c.moment.decimals = 0, 0, 0
		return
	}
	after := c.y.mean(c.n + 1)
	c.x.remove(x)
	product, _ := value.Mul(difference(x, c.x.mean(c.n)), difference(y, after))
	c.moment.remove(product)
	c.y.remove(y)
}

// Result is the covariance, null if there are too few pairs.
func (c *Covariance) Result() value.Value {
	n := c.n
	switch {
	case n == 1 && !c.sample:
		return value.Double(0)
	case c.sample:
		n--
	}
	if n <= 0 {
		return value.Null()
	}
	moment := c.moment.sum()
	if moment.Kind() == value.KindDecimal {
		return value.DecimalValue(moment.Decimal().Div(value.DecimalFromDouble(float64(n))))
	}
	return value.Double(moment.AsDouble() / float64(n))
}

func difference(a, b value.Value) value.Value {
	if a.Kind() == value.KindDecimal || b.Kind() == value.KindDecimal {
		return value.DecimalValue(a.AsDecimal().Sub(b.AsDecimal()))
	}
	return value.Double(a.AsDouble() - b.AsDouble())
}

func finite(v value.Value) bool {
	if v.Kind() == value.KindDecimal {
		return v.Decimal().IsFinite()
	}
	f := v.AsDouble()
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

// notFinite returns what a pair with NaN or an infinity adds to the sum.
func notFinite(x, y value.Value) value.Value {
	s := pairSum{t: newTotal()}
	s.count(x, 1)
	s.count(y, 1)
	return s.sum()
}
