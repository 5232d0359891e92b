package expr

import (
	"math"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr/exact"
)

// The functions of doubles must give the rounded results of the decimal ones, which
// compute with 60 digits or more.
func TestExactAgreesWithDecimals(t *testing.T) {
	functions := []struct {
		name      string
		double    func(float64) float64
		decimal   func(d, x *apd.Decimal) error
		low, high float64
	}{
		{"acos", exact.Acos, decimalAcos, -1, 1}, {"asin", exact.Asin, decimalAsin, -1, 1},
		{"atan", exact.Atan, decimalAtan, -50, 50},
		{"cos", exact.Cos, decimalCos, -99999, 99999}, {"cosh", exact.Cosh, decimalCosh, -50, 50}, {"exp", exact.Exp, decimalExp, -600, 600},
		{"log", exact.Log, decimalLn, 1e-9, 1e9}, {"sin", exact.Sin, decimalSin, -99999, 99999},
		{"sinh", exact.Sinh, decimalSinh, -50, 50}, {"tan", exact.Tan, decimalTan, -99999, 99999}, {"tanh", exact.Tanh, decimalTanh, -15, 15},
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(functions).Draw(t, "function")
		x := rapid.Float64Range(f.low, f.high).Draw(t, "x")
		if math.Abs(x) < 1e-12 {
			return // e^x may lie as near to a tie as 2^-107 there
		}
		if got, want := f.double(x), viaDecimal(f.decimal, f.double)(x); got != want {
			t.Fatalf("%s(%v) = %v, want %v", f.name, x, got, want)
		}
	})
}

// The inverse hyperbolic functions are those of the C library: what it gives
// may be off by a bit or two.
func TestInverseHyperbolic(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{exact.Log10(1000), 3}, {exact.Log10(1e-5), -5}, {exact.Log10(1e22), 22}, {exact.Log10(0.5275492379532281), -0.2777369999668644}, {exact.Log10(0.6715302078397394), -0.17293444643080932}, {exact.Log10(2), 0.3010299956639812},
		{exact.Acosh(2), 1.3169578969248166}, {exact.Sinh(-710), -1.1169973830808557e+308}, {exact.Cosh(710), 1.1169973830808557e+308}, {exact.Sinh(711), math.Inf(1)}, {exact.Acosh(1), 0}, {exact.Acosh(3), 1.762747174039086}, {exact.Acosh(1e10), 23.718998110500402}, {exact.Asinh(3), 1.8184464592320668}, {exact.Asinh(0.1), 0.09983407889920758}, {exact.Atanh(0.3), 0.30951960420311175}, {exact.Atanh(0.9), 1.4722194895832204}, {exact.Asinh(1), 0.881373587019543}, {exact.Asinh(-1), -0.881373587019543},
		{exact.Atanh(0.5), 0.5493061443340548}, {exact.Atanh(-0.5), -0.5493061443340548}, {exact.Asinh(1e300), 691.4686750787736}, {exact.Asinh(5e-324), 5e-324},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

func TestInverseHyperbolicIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-6, 1e9).Draw(t, "x")
		for _, f := range []struct {
			double  func(float64) float64
			decimal func(d, x *apd.Decimal) error
			x       float64
		}{{exact.Asinh, decimalAsinh, x}, {exact.Acosh, decimalAcosh, 1 + x}, {exact.Atanh, decimalAtanh, x / 1e10}} {
			if got, want := f.double(f.x), viaDecimal(f.decimal, f.double)(f.x); math.Abs(got-want) > 4e-16*want {
				t.Fatalf("%v: %v, want about %v", f.x, got, want)
			}
		}
	})
}

func TestPow(t *testing.T) {
	for _, c := range []struct{ x, y, want float64 }{
		{2, 0.5, 1.4142135623730951}, {10, -3, 0.001}, {1.1, 10, 2.5937424601000023}, {-2, 3, -8}, {0, 0, 1}, {2, 1023, 0x1p1023}, {2, 1024, math.Inf(1)}, {9, 0.5, 3},
		{10, 22, 1e22}, {10, 23, 1e23}, {0.5, 1074, 0x1p-1074},
	} {
		if got := exact.Pow(c.x, c.y); got != c.want {
			t.Errorf("%v^%v = %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// The arguments of these are doubles with 300 digits, none of which may be
// left out.
func TestFarAngles(t *testing.T) {
	for _, c := range []struct {
		op      func(float64) float64
		x, want float64
	}{
		{anywhere(exact.Sin, decimalSin), 1e300, -0.8178819121159085}, {anywhere(exact.Cos, decimalCos), 1e300, -0.5753861119575491}, {anywhere(exact.Tan, decimalTan), 1e300, 1.4214488238747245},
		{anywhere(exact.Sin, decimalSin), 1e22, -0.8522008497671888}, {anywhere(exact.Cos, decimalCos), 1e22, 0.523214785395139},
	} {
		if got := c.op(c.x); got != c.want {
			t.Errorf("of %v: %v, want %v", c.x, got, c.want)
		}
	}
}
