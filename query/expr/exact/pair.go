package exact

import "math"

// pair is the unevaluated sum of two doubles, hi being the sum rounded.
type pair struct{ hi, lo float64 }

func single(x float64) pair { return pair{x, 0} }

func (a pair) double() float64 { return a.hi + a.lo }

// quickSum adds when |a| ≥ |b|.
func quickSum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// twoSum adds without any error.
func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// twoProduct multiplies without any error.
func twoProduct(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (a pair) neg() pair { return pair{-a.hi, -a.lo} }

func (a pair) add(b pair) pair {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a pair) sub(b pair) pair { return a.add(b.neg()) }

func (a pair) mul(b pair) pair {
	p := twoProduct(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

// scale multiplies by a power of two.
func (a pair) scale(f float64) pair { return pair{a.hi * f, a.lo * f} }

func (a pair) div(b pair) pair {
	q := a.hi / b.hi
	r := a.sub(b.mul(single(q)))
	q2 := r.hi / b.hi
	r = r.sub(b.mul(single(q2)))
	return quickSum(q, q2).add(single(r.hi / b.hi))
}

func (a pair) sqrt() pair {
	if a.hi <= 0 {
		return pair{}
	}
	x := math.Sqrt(a.hi)
	r := a.sub(twoProduct(x, x))
	return quickSum(x, r.hi/(2*x))
}
