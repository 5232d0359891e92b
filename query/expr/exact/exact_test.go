package exact

import (
	"math"
	"testing"
)

// Constants to the last digit of a double.
func TestKnownValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"e", Exp(1), math.E},
		{"ln 2", Log(2), math.Ln2},
		{"ln 10", Log(10), math.Ln10},
		{"log10 1000", Log10(1000), 3},
		{"log10 1e-5", Log10(1e-5), -5},
		{"sin π/6", Sin(0.5235987755982989), 0.5},
		{"cos π", Cos(math.Pi), -1},
		{"sin π", Sin(math.Pi), 1.2246467991473532e-16},
		{"tan π/4", Tan(math.Pi / 4), 0.9999999999999999},
		{"asin 1/2", Asin(0.5), 0.5235987755982989},
		{"acos 1/2", Acos(0.5), 1.0471975511965979},
		{"atan 1", Atan(1), math.Pi / 4},
		{"atan2 -1 -1", Atan2(-1, -1), -2.356194490192345},
		{"sinh 1", Sinh(1), 1.1752011936438014},
		{"cosh 1", Cosh(1), 1.5430806348152437},
		{"tanh 1", Tanh(1), 0.7615941559557649},
		{"asinh 1", Asinh(1), 0.881373587019543},
		{"acosh 3", Acosh(3), 1.762747174039086},
		{"atanh 0.1", Atanh(0.1), 0.10033534773107558},
		{"sqrt 2", Pow(2, 0.5), math.Sqrt2},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, f := range map[string]func(float64) float64{
		"Acosh": Acosh, "Asinh": Asinh, "Atan": Atan, "Atanh": Atanh, "Cos": Cos, "Cosh": Cosh, "Exp": Exp, "Log": Log, "Log10": Log10,
		"Sin": Sin, "Sinh": Sinh, "Tan": Tan, "Tanh": Tanh, "Acos": Acos, "Asin": Asin,
	} {
		if y := f(nan); !math.IsNaN(y) {
			t.Errorf("%s(NaN) = %v", name, y)
		}
	}
	for _, c := range []struct{ got, want float64 }{
		{Exp(710), inf}, {Exp(-800), 0}, {Exp(0), 1}, {Log(0), -inf}, {Log(1), 0}, {Log(5e-324), -744.4400719213812}, {Log10(5e-324), -323.3062153431158}, {Pow(5e-324, 0.5), 0x1p-537}, {Sinh(-1000), -inf}, {Cosh(1000), inf},
		{Tanh(100), 1}, {Atan(inf), math.Pi / 2}, {Asinh(-inf), -inf}, {Acosh(1), 0}, {Atanh(1), inf}, {Asin(-1), -math.Pi / 2}, {Acos(0), math.Pi / 2}, {Pow(0, -1), inf}, {Pow(-8, 3), -512},
		{Tan(0), 0}, {Atan2(0, -1), math.Pi},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

func BenchmarkExp(b *testing.B) {
	for b.Loop() {
		Exp(1.234)
	}
}

func BenchmarkSin(b *testing.B) {
	for b.Loop() {
		Sin(1.234)
	}
}
