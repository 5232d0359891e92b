package expr

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// The accumulators of $group as expressions. If the single argument is an
// array, its elements are the values, otherwise each argument is one value.

// eachValue calls add with every value; it stops at the first error.
func eachValue(c *call, env *Env, add func(v value.Value)) error {
	for _, n := range c.args {
		v, err := n.eval(env)
		if err != nil {
			return err
		}
		if len(c.args) > 1 || v.Kind() != value.KindArray {
			if err := env.tick(); err != nil {
				return err
			}
			add(v)
			continue
		}
		it := v.Doc().Iter()
		for it.Next() {
			if err := env.tick(); err != nil {
				return err
			}
			add(it.Value())
		}
	}
	return nil
}

// numberSum adds numbers of all types. Integers and doubles share a sum with
// the precision of two doubles, so that no integer loses a digit. The order of
// operations is MongoDB's, because the last digit depends on it.
type numberSum struct {
	sum, rest float64 // rest is the rounding error of sum
	special   float64 // the plain sum, which is right if infinities are involved
	decimal   value.Value
	widest    value.Kind
	count     int64
}

func newNumberSum() numberSum {
	return numberSum{widest: value.KindInt32, decimal: value.DecimalValue(value.DecimalZero)}
}

// add adds one number: decimals to their own sum, other numbers to the
// double-double sum.
func (s *numberSum) add(v value.Value) {
	switch v.Kind() {
	case value.KindInt32:
		s.addDouble(float64(v.Int64()))
	case value.KindInt64:
		n := v.Int64()
		high := n / (1 << 32) * (1 << 32)
		s.addDouble(float64(n - high))
		s.addDouble(float64(high))
		if s.widest == value.KindInt32 {
			s.widest = value.KindInt64
		}
	case value.KindDouble:
		s.addDouble(v.Double())
		if s.widest != value.KindDecimal {
			s.widest = value.KindDouble
		}
	case value.KindDecimal:
		s.widest = value.KindDecimal
		s.decimal, _ = value.Add(s.decimal, v)
	default:
		return
	}
	s.count++
}

func (s *numberSum) addDouble(x float64) {
	s.special += x
	t := x + s.rest
	s.rest -= t - x
	x, t = t, s.sum+t
	a := t - x
	s.rest += (s.sum - a) + (x - (t - a))
	s.sum = t
}

func (s *numberSum) double() float64 {
	if math.IsNaN(s.sum) {
		return s.special
	}
	return s.sum
}

// int64 returns the sum if it is whole and fits.
func (s *numberSum) int64() (int64, bool) {
	high, low := s.sum, s.rest
	if high != math.Trunc(high) || low != math.Trunc(low) || math.Abs(high) > 1<<63 || math.Abs(low) >= 1<<62 {
		return 0, false
	}
	if high == 1<<63 {
		if low >= 0 {
			return 0, false
		}
		return math.MaxInt64 + int64(low) + 1, true
	}
	n := int64(high) + int64(low)
	return n, (n >= int64(high)) == (int64(low) >= 0)
}

// total returns the sum in the widest type that was added; integers that
// overflow become a double.
func (s *numberSum) total() value.Value {
	switch s.widest {
	case value.KindDecimal:
		return s.decimalTotal()
	case value.KindDouble:
		return value.Double(s.double())
	}
	n, ok := s.int64()
	switch {
	case !ok:
		return value.Double(s.double())
	case s.widest == value.KindInt32:
		return value.Int(n)
	}
	return value.Int64(n)
}

func (s *numberSum) decimalTotal() value.Value {
	others := value.DecimalValue(value.DecimalFromDouble34(s.special))
	if !math.IsNaN(s.sum) && !math.IsInf(s.sum, 0) {
		rest := value.DecimalValue(value.DecimalFromDouble34(s.rest))
		others, _ = value.Add(value.DecimalValue(value.DecimalFromDouble34(s.sum)), rest)
	}
	total, _ := value.Add(s.decimal, others)
	return total
}

func evalSum(c *call, env *Env) (value.Value, error) {
	s := newNumberSum()
	err := eachValue(c, env, s.add)
	return s.total(), err
}

func evalAvg(c *call, env *Env) (value.Value, error) {
	s := newNumberSum()
	err := eachValue(c, env, s.add)
	switch {
	case err != nil || s.count == 0:
		return value.Null(), err
	case s.widest == value.KindDecimal:
		return value.DecimalValue(s.decimalTotal().Decimal().Div(value.DecimalFromInt64(s.count))), nil
	}
	return value.Double(s.double() / float64(s.count)), nil
}

func evalMin(c *call, env *Env) (value.Value, error) { return extreme(c, env, 1) }

func evalMax(c *call, env *Env) (value.Value, error) { return extreme(c, env, -1) }

func extreme(c *call, env *Env, dir int) (value.Value, error) {
	best := value.Null()
	err := eachValue(c, env, func(v value.Value) {
		if !v.IsNullish() && (best.IsNullish() || dir*env.compare(v, best) < 0) {
			best = v
		}
	})
	return best, err
}

func evalStdDevPop(c *call, env *Env) (value.Value, error) { return deviation(c, env, 0) }

func evalStdDevSamp(c *call, env *Env) (value.Value, error) { return deviation(c, env, 1) }

// deviation computes the standard deviation by Welford's method; less is
// subtracted from the count.
func deviation(c *call, env *Env, less int64) (value.Value, error) {
	n, mean, m2 := int64(0), 0.0, 0.0
	err := eachValue(c, env, func(v value.Value) {
		if !v.IsNumber() {
			return
		}
		n++
		x := v.AsDouble()
		delta := x - mean
		mean += delta / float64(n)
		m2 += delta * (x - mean)
	})
	if err != nil || n-less <= 0 {
		return value.Null(), err
	}
	return value.Double(math.Sqrt(m2 / float64(n-less))), nil
}
