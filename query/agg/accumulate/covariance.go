package accumulate

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// pairSum is a sum of numbers. It counts NaN and infinities separately: one NaN, or two
// infinities of different signs, make the sum NaN.
type pairSum struct {
	t                 total
	plus, minus, nans bool
}

func (s *pairSum) add(v value.Value) {
	decimal := v.Kind() == value.KindDecimal
	switch f := v.AsDouble(); {
	case finite(v):
		s.t.add(v)
		return
	case v.IsNaN():
		s.nans = true
	case decimal && v.Decimal().IsInf() > 0, !decimal && f > 0:
		s.plus = true
	default:
		s.minus = true
	}
	s.t.widen(v.Kind())
}

// join adds another sum.
func (s *pairSum) join(o *pairSum) {
	s.t.join(&o.t)
	s.plus, s.minus, s.nans = s.plus || o.plus, s.minus || o.minus, s.nans || o.nans
}

// sum is the sum in the widest type of its numbers.
func (s *pairSum) sum() value.Value {
	switch {
	case s.nans, s.plus && s.minus:
		return s.special(math.NaN(), value.DecimalNaN)
	case s.plus:
		return s.special(math.Inf(1), value.DecimalPosInf)
	case s.minus:
		return s.special(math.Inf(-1), value.DecimalNegInf)
	}
	return s.t.sum()
}

func (s *pairSum) special(f float64, d value.Decimal) value.Value {
	if s.t.kind == value.KindDecimal {
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
	if v.Kind() != value.KindArray || v.Doc().Len() != 2 {
		return
	}
	x, y := v.Doc().Index(0), v.Doc().Index(1)
	switch {
	case !x.IsNumber() || !y.IsNumber():
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

// Joined returns the covariance of the pairs of both, by Chan's formula.
func (c *Covariance) Joined(d *Covariance) *Covariance {
	j := NewCovariance(c.sample)
	j.n = c.n + d.n
	for _, part := range []*Covariance{c, d} {
		j.x.join(&part.x)
		j.y.join(&part.y)
		j.moment.join(&part.moment)
	}
	if c.n == 0 || d.n == 0 {
		return j
	}
	between, _ := value.Mul(difference(d.x.mean(d.n), c.x.mean(c.n)), difference(d.y.mean(d.n), c.y.mean(c.n)))
	weight := value.Double(float64(c.n) * float64(d.n) / float64(j.n))
	if between.Kind() == value.KindDecimal {
		product, _ := value.Mul(value.DecimalValue(value.DecimalFromInt64(c.n)), value.Int64(d.n))
		weight = value.DecimalValue(product.Decimal().Div(value.DecimalFromInt64(j.n)))
	}
	between, _ = value.Mul(between, weight)
	j.moment.add(between)
	return j
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
	for _, v := range []value.Value{x, y} {
		if finite(v) {
			s.t.widen(v.Kind())
		} else {
			s.add(v)
		}
	}
	return s.sum()
}
