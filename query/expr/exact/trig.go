package exact

import "math"

// π/2 in three parts.
const (
	half1 = 1.5707963267948966
	half2 = 6.123233995736766e-17
	half3 = -1.4973849048591833e-33
)

// farArgument is the limit above which the reduction below loses digits.
const farArgument = 1e5

// series sums first·(1 ± x²/(a(a+1)) + …), which is sin for first = x, a = 2
// and cos for first = 1, a = 1.
func series(first, x Pair, a int, alternate bool) Pair {
	q := x.mul(x)
	if alternate {
		q = q.neg()
	}
	sum, term := first, first
	for ; a < 40; a += 2 {
		term = term.mul(q).div(single(float64(a * (a + 1))))
		sum = sum.add(term)
		if math.Abs(term.Hi) < 1e-34*math.Abs(sum.Hi) {
			break
		}
	}
	return sum
}

// sinCos is the sine and the cosine for |x| < farArgument.
func sinCos(x float64) (sin, cos Pair) {
	q := math.Round(x / half1)
	r := twoProduct(-q, half1).add(single(x)).add(twoProduct(-q, half2)).add(single(-q * half3))
	s, c := series(r, r, 2, true), series(single(1), r, 1, true)
	switch int64(q) & 3 {
	case 1:
		return c, s.neg()
	case 2:
		return s.neg(), c.neg()
	case 3:
		return c.neg(), s
	}
	return s, c
}

func near(x float64) bool { return math.Abs(x) < farArgument }

// Sin is the sine.
func Sin(x float64) float64 {
	if math.Abs(x) < tiny {
		return x
	}
	if !near(x) {
		return math.Sin(x)
	}
	s, _ := sinCos(x)
	return s.double()
}

// Cos is the cosine.
func Cos(x float64) float64 {
	if !near(x) {
		return math.Cos(x)
	}
	_, c := sinCos(x)
	return c.double()
}

// Tan is the tangent.
func Tan(x float64) float64 {
	if math.Abs(x) < tiny {
		return x
	}
	if !near(x) {
		return math.Tan(x)
	}
	s, c := sinCos(x)
	return s.div(c).double()
}

// Far reports whether Sin, Cos and Tan leave x to package math because it is
// too large.
func Far(x float64) bool { return math.Abs(x) >= farArgument }

// Atan is the arc tangent.
func Atan(x float64) float64 {
	if math.Abs(x) < tiny {
		return x
	}
	if !(math.Abs(x) < 1e100) {
		return math.Atan(x)
	}
	y0 := math.Atan(x)
	s, c := sinCos(y0)
	up := c.mul(single(x)).sub(s)
	down := s.mul(single(x)).add(c)
	return up.div(down).add(single(y0)).double()
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	rough := math.Atan2(y, x)
	size := func(f float64) bool { return math.Abs(f) > 1e-100 && math.Abs(f) < 1e100 }
	if !size(x) || !size(y) || math.Abs(rough) < 1e-9 {
		return rough
	}
	s, c := sinCos(rough)
	up := c.mul(single(y)).sub(s.mul(single(x)))
	down := c.mul(single(x)).add(s.mul(single(y)))
	return up.div(down).add(single(rough)).double()
}

// complement is sqrt(1 - x²).
func complement(x float64) Pair { return twoSum(1, -x).mul(twoSum(1, x)).sqrt() }

// Asin is the arc sine.
func Asin(x float64) float64 {
	if math.Abs(x) < tiny {
		return x
	}
	if !(math.Abs(x) < 1) {
		return math.Asin(x)
	}
	w := complement(x)
	y0 := math.Atan2(x, w.Hi)
	s, c := sinCos(y0)
	return c.mul(single(x)).sub(s.mul(w)).add(single(y0)).double()
}

// Acos is the arc cosine.
func Acos(x float64) float64 {
	if !(math.Abs(x) < 1) || x == 0 {
		return math.Acos(x)
	}
	w := complement(x)
	y0 := math.Atan2(w.Hi, x)
	s, c := sinCos(y0)
	return c.mul(w).sub(s.mul(single(x))).add(single(y0)).double()
}
