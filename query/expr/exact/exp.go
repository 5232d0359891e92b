package exact

import "math"

var (
	ln2         = Pair{0.6931471805599453, 2.3190468138462996e-17}
	inverseLn10 = Pair{0.4342944819032518, 1.098319650216765e-17}
	inverse     [30]Pair // 1/n!
)

func init() {
	inverse[0] = single(1)
	for n := 1; n < len(inverse); n++ {
		inverse[n] = inverse[n-1].div(single(float64(n)))
	}
}

// tiny is the limit below which sin, sinh and the other odd functions round to
// x itself.
const tiny = 1e-9

// expm1 is e^a - 1 for a small a (|a| ≤ ln2/2).
func expm1(a Pair) Pair {
	const halvings = 6
	a = a.scale(1.0 / (1 << halvings))
	s := inverse[10]
	for n := 9; n > 0; n-- {
		s = s.mul(a).add(inverse[n])
	}
	s = s.mul(a)
	for range halvings {
		s = s.scale(2).add(s.mul(s))
	}
	return s
}

// expPair is e^a as p·2^k.
func expPair(a Pair) (p Pair, k int) {
	n := math.Round(a.Hi / ln2.Hi)
	r := a.sub(ln2.mul(single(n)))
	return expm1(r).add(single(1)), int(n)
}

// Exp is e^x.
func Exp(x float64) float64 {
	if !(math.Abs(x) < 700) || x == 0 {
		return math.Exp(x)
	}
	p, k := expPair(single(x))
	return math.Ldexp(p.double(), k)
}

// logPair is the natural logarithm of a finite positive x, subnormal ones too.
func logPair(x float64) Pair {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	var y Pair
	if math.Abs(m-1) < 1e-4 {
		s := single(m - 1).div(twoSum(m, 1)) // 2·atanh((m-1)/(m+1))
		q := s.mul(s)
		t := q.mul(single(1.0 / 11)).add(single(1.0 / 9))
		for _, n := range []float64{7, 5, 3, 1} {
			t = t.mul(q).add(single(1).div(single(n)))
		}
		y = t.mul(s).scale(2)
	} else {
		y0 := math.Log(m) // one step of Newton's method doubles the digits
		p, k := expPair(single(-y0))
		f := math.Ldexp(1, k)
		y = p.scale(f).mul(single(m)).sub(single(1)).add(single(y0))
	}
	return y.add(ln2.mul(single(float64(e))))
}

// isPositive reports whether x is a finite number above zero. The functions of
// package math are wrong for subnormal ones on some machines.
func isPositive(x float64) bool { return x > 0 && x <= math.MaxFloat64 }

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !isPositive(x) || x == 1 {
		return math.Log(x)
	}
	return logPair(x).double()
}

// Log10 is the decimal logarithm, computed in the steps of the C library:
// exponent and mantissa separately, so that powers of ten give whole numbers.
func Log10(x float64) float64 {
	if !isPositive(x) || x == 1 {
		return math.Log10(x)
	}
	const log10of2high, log10of2low = 3.01029995663611771306e-01, 3.69423907715893078616e-13
	m, e := math.Frexp(x) // m in [0.5, 1)
	if e > 0 {
		m, e = 2*m, e-1
	}
	y := float64(e)
	return float64(float64(y*log10of2low)+float64(inverseLn10.Hi*Log(m))) + float64(y*log10of2high)
}

// Pow is x^y.
func Pow(x, y float64) float64 {
	rough := math.Pow(x, y)
	size := math.Abs(rough)
	if !isPositive(math.Abs(x)) || !(size > 1e-290 && size < 1e290) || y == 0 || size == 1 && math.Abs(x) == 1 {
		return rough
	}
	p, k := expPair(logPair(math.Abs(x)).mul(single(y)))
	return math.Copysign(math.Ldexp(p.double(), k), rough)
}

// expHalves returns e^x/2 and e^-x/2.
func expHalves(x float64) (up, down Pair) {
	p, k := expPair(single(x))
	up = p.scale(math.Ldexp(0.5, k))
	return up, single(0.25).div(up)
}

// halfExp is e^x/2, which is finite for some x whose e^x is not.
func halfExp(x float64) float64 {
	if x < 709 {
		return 0.5 * math.Exp(x)
	}
	w := math.Exp(x / 2)
	return 0.5 * w * w
}

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case !(a < 700):
		return math.Copysign(halfExp(a), x)
	case a < 0.3:
		return series(single(x), single(x), 2, false).double()
	}
	up, down := expHalves(x)
	return up.sub(down).double()
}

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	if a := math.Abs(x); !(a < 700) {
		return halfExp(a)
	}
	up, down := expHalves(x)
	return up.add(down).double()
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	if a < tiny {
		return x
	}
	if !(a < 20) {
		return math.Tanh(x)
	}
	up, down := expHalves(x)
	s := up.sub(down)
	if a < 0.3 {
		s = series(single(x), single(x), 2, false)
	}
	return s.div(up.add(down)).double()
}

// The inverse hyperbolic functions are computed in the steps of the C library,
// because the last digit depends on them: the argument of the logarithm is
// rounded, and math.Log1p has the same steps as the library's function.

// large is the limit above which x² + 1 rounds to x².
const large = 1 << 28

// Asinh is the inverse hyperbolic sine.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	y := 0.0
	switch {
	case a < tiny || !(a <= math.MaxFloat64):
		return x
	case a > large:
		y = Log(a) + math.Ln2
	case a > 2:
		y = Log(2*a + 1/(math.Sqrt(float64(a*a)+1)+a))
	default:
		t := float64(a * a)
		y = math.Log1p(a + t/(1+math.Sqrt(1+t)))
	}
	return math.Copysign(y, x)
}

// Acosh is the inverse hyperbolic cosine.
func Acosh(x float64) float64 {
	switch {
	case !(x > 1 && x <= math.MaxFloat64):
		return math.Acosh(x)
	case x > large:
		return Log(x) + math.Ln2
	case x > 2:
		return Log(float64(2*x) - 1/(x+math.Sqrt(float64(x*x)-1)))
	}
	t := x - 1
	return math.Log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
}

// Atanh is the inverse hyperbolic tangent.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	y := 0.0
	switch {
	case a < tiny:
		return x
	case !(a < 1):
		return math.Atanh(x)
	case a < 0.5:
		t := a + a
		y = 0.5 * math.Log1p(t+float64(t*a)/(1-a))
	default:
		y = 0.5 * math.Log1p((a+a)/(1-a))
	}
	return math.Copysign(y, x)
}
