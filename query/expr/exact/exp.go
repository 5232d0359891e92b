package exact

import "math"

var (
	ln2         = pair{0.6931471805599453, 2.3190468138462996e-17}
	inverseLn10 = pair{0.4342944819032518, 1.098319650216765e-17}
	inverse     [30]pair // 1/n!
)

func init() {
	inverse[0] = single(1)
	for n := 1; n < len(inverse); n++ {
		inverse[n] = inverse[n-1].div(single(float64(n)))
	}
}

// tiny is where sin, sinh and the other odd functions round to x itself.
const tiny = 1e-9

// expm1 is e^a - 1 for a small a (|a| ≤ ln2/2).
func expm1(a pair) pair {
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
func expPair(a pair) (p pair, k int) {
	n := math.Round(a.hi / ln2.hi)
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

// logPair is the natural logarithm of a normal positive x.
func logPair(x float64) pair {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	var y pair
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

func isNormal(x float64) bool { return x >= 0x1p-1022 && x <= math.MaxFloat64 }

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !isNormal(x) || x == 1 {
		return math.Log(x)
	}
	return logPair(x).double()
}

// Log10 is the decimal logarithm.
func Log10(x float64) float64 {
	if !isNormal(x) || x == 1 {
		return math.Log10(x)
	}
	return logPair(x).mul(inverseLn10).double()
}

// Pow is x^y.
func Pow(x, y float64) float64 {
	rough := math.Pow(x, y)
	size := math.Abs(rough)
	if !isNormal(math.Abs(x)) || !(size > 1e-290 && size < 1e290) || y == 0 || size == 1 && math.Abs(x) == 1 {
		return rough
	}
	p, k := expPair(logPair(math.Abs(x)).mul(single(y)))
	return math.Copysign(math.Ldexp(p.double(), k), rough)
}

// expHalves returns e^x/2 and e^-x/2.
func expHalves(x float64) (up, down pair) {
	p, k := expPair(single(x))
	up = p.scale(math.Ldexp(0.5, k))
	return up, single(0.25).div(up)
}

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	switch a := math.Abs(x); {
	case a < tiny:
		return x
	case !(a < 700):
		return math.Sinh(x)
	case a < 0.3:
		return series(single(x), single(x), 2, false).double()
	}
	up, down := expHalves(x)
	return up.sub(down).double()
}

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	if !(math.Abs(x) < 700) {
		return math.Cosh(x)
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

// logOf is the logarithm of a pair.
func logOf(a pair) pair { return logPair(a.hi).add(single(a.lo / a.hi)) }

// Asinh is the inverse hyperbolic sine.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	if a < tiny {
		return x
	}
	if !(a < 1e100) {
		return math.Asinh(x)
	}
	y := logOf(twoProduct(a, a).add(single(1)).sqrt().add(single(a)))
	return math.Copysign(y.double(), x)
}

// Acosh is the inverse hyperbolic cosine.
func Acosh(x float64) float64 {
	if !(x > 1 && x < 1e100) {
		return math.Acosh(x)
	}
	return logOf(twoSum(x, -1).mul(twoSum(x, 1)).sqrt().add(single(x))).double()
}

// Atanh is the inverse hyperbolic tangent.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	if a < tiny {
		return x
	}
	if !(a < 1) {
		return math.Atanh(x)
	}
	y := logOf(twoSum(1, a).div(twoSum(1, -a))).scale(0.5)
	return math.Copysign(y.double(), x)
}
