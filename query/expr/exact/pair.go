package exact

import "math"

// Pair is the unevaluated sum of two doubles (a "double-double"), which holds
// at least 106 bits. Hi is the sum rounded to a double.
type Pair struct{ Hi, Lo float64 }

// Plus adds a double (Knuth's TwoSum). The result is normalised.
func (a Pair) Plus(x float64) Pair {
	s := twoSum(a.Hi, x)
	return quickSum(s.Hi, a.Lo+s.Lo)
}

func single(x float64) Pair { return Pair{x, 0} }

func (a Pair) double() float64 { return a.Hi + a.Lo }

// quickSum adds when |a| ≥ |b|.
func quickSum(a, b float64) Pair {
	s := a + b
	return Pair{s, b - (s - a)}
}

// twoSum adds without any error.
func twoSum(a, b float64) Pair {
	s := a + b
	t := s - a
	return Pair{s, (a - (s - t)) + (b - t)}
}

// twoProduct multiplies without any error.
func twoProduct(a, b float64) Pair {
	p := a * b
	return Pair{p, math.FMA(a, b, -p)}
}

func (a Pair) neg() Pair { return Pair{-a.Hi, -a.Lo} }

func (a Pair) add(b Pair) Pair {
	s, t := twoSum(a.Hi, b.Hi), twoSum(a.Lo, b.Lo)
	s = quickSum(s.Hi, s.Lo+t.Hi)
	return quickSum(s.Hi, s.Lo+t.Lo)
}

func (a Pair) sub(b Pair) Pair { return a.add(b.neg()) }

func (a Pair) mul(b Pair) Pair {
	p := twoProduct(a.Hi, b.Hi)
	return quickSum(p.Hi, p.Lo+(a.Hi*b.Lo+a.Lo*b.Hi))
}

// scale multiplies by a power of two.
func (a Pair) scale(f float64) Pair { return Pair{a.Hi * f, a.Lo * f} }

func (a Pair) div(b Pair) Pair {
	q := a.Hi / b.Hi
	r := a.sub(b.mul(single(q)))
	q2 := r.Hi / b.Hi
	r = r.sub(b.mul(single(q2)))
	return quickSum(q, q2).add(single(r.Hi / b.Hi))
}

func (a Pair) sqrt() Pair {
	if a.Hi <= 0 {
		return Pair{}
	}
	x := math.Sqrt(a.Hi)
	r := a.sub(twoProduct(x, x))
	return quickSum(x, r.Hi/(2*x))
}
