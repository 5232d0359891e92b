package value_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

func decimalValue(t *testing.T, s string) value.Value { return value.DecimalValue(dec(t, s)) }

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		a, b value.Value
		want string
		ok   bool
	}{
		{value.Int32(1), value.Int32(2), `{"$numberInt":"3"}`, true},
		{value.Int32(math.MaxInt32), value.Int32(1), `{"$numberLong":"2147483648"}`, true},
		{value.Int32(1), value.Int64(2), `{"$numberLong":"3"}`, true},
		{value.Int32(1), value.Double(0.5), `{"$numberDouble":"1.5"}`, true},
		{value.Double(0.5), decimalValue(t, "0.25"), `{"$numberDecimal":"0.750000000000000"}`, true},
		{value.Int64(1), decimalValue(t, "1E+3"), `{"$numberDecimal":"1001"}`, true},
		{decimalValue(t, "9999999999999999999999999999999999"), value.Int32(1), `{"$numberDecimal":"1.000000000000000000000000000000000E+34"}`, true},
		{decimalValue(t, "Infinity"), decimalValue(t, "-Infinity"), `{"$numberDecimal":"NaN"}`, true},
		{value.Int64(math.MaxInt64), value.Int64(1), "", false},
		{value.Int64(math.MinInt64), value.Int64(-1), "", false},
		{value.Int64(math.MaxInt64), value.Int64(math.MinInt64), `{"$numberLong":"-1"}`, true},
	} {
		got, ok := value.Add(c.a, c.b)
		if ok != c.ok || ok && canonical(got) != c.want {
			t.Errorf("%s + %s = %s %v, want %s %v", c.a, c.b, canonical(got), ok, c.want, c.ok)
		}
	}
}

func TestMul(t *testing.T) {
	for _, c := range []struct {
		a, b value.Value
		want string
		ok   bool
	}{
		{value.Int32(3), value.Int32(-2), `{"$numberInt":"-6"}`, true},
		{value.Int32(1 << 20), value.Int32(1 << 20), `{"$numberLong":"1099511627776"}`, true},
		{value.Int64(1 << 40), value.Int64(1 << 40), "", false},
		{value.Int64(math.MinInt64), value.Int64(-1), "", false},
		{value.Int64(math.MinInt64), value.Int64(1), `{"$numberLong":"-9223372036854775808"}`, true},
		{value.Int64(0), value.Int64(-5), `{"$numberLong":"0"}`, true},
		{value.Int64(2), value.Double(1.5), `{"$numberDouble":"3.0"}`, true},
		{decimalValue(t, "1.10"), value.Int32(2), `{"$numberDecimal":"2.20"}`, true},
		{decimalValue(t, "1E+6000"), decimalValue(t, "1E+6000"), `{"$numberDecimal":"Infinity"}`, true},
		{decimalValue(t, "1E-6000"), decimalValue(t, "1E-6000"), `{"$numberDecimal":"0E-6176"}`, true},
	} {
		got, ok := value.Mul(c.a, c.b)
		if ok != c.ok || ok && canonical(got) != c.want {
			t.Errorf("%s * %s = %s %v, want %s %v", c.a, c.b, canonical(got), ok, c.want, c.ok)
		}
	}
}

func canonical(v value.Value) string {
	s := value.NewDoc("v", v).CanonicalJSON()
	return s[len(`{"v":`) : len(s)-1]
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		v     value.Value
		whole int64
		ok    bool
		safe  int64 // BSONElement::safeNumberLong: doubles cut, decimals rounded half to even
		f     float64
	}{
		{value.Int32(-3), -3, true, -3, -3},
		{value.Double(2.9), 0, false, 2, 2.9},
		{value.Double(-2.9), 0, false, -2, -2.9},
		{value.Double(1e300), 0, false, math.MaxInt64, 1e300},
		{value.Double(math.Inf(-1)), 0, false, math.MinInt64, math.Inf(-1)},
		{value.Double(1 << 62), 1 << 62, true, 1 << 62, 1 << 62},
		{decimalValue(t, "12.00"), 12, true, 12, 12},
		{decimalValue(t, "12.9"), 0, false, 13, 12.9},
		{decimalValue(t, "-12.9"), 0, false, -13, -12.9},
		{decimalValue(t, "12.5"), 0, false, 12, 12.5},
		{decimalValue(t, "13.5"), 0, false, 14, 13.5},
		{decimalValue(t, "-0.5"), 0, false, 0, -0.5},
		{decimalValue(t, "1.2E+3"), 1200, true, 1200, 1200},
		{decimalValue(t, "1E+30"), 0, false, math.MaxInt64, 1e30},
		{decimalValue(t, "-1E+6000"), 0, false, math.MinInt64, math.Inf(-1)},
		{decimalValue(t, "-9223372036854775808"), math.MinInt64, true, math.MinInt64, math.MinInt64},
		{value.String("5"), 0, false, 0, 0},
	} {
		n, ok := c.v.AsInt64()
		if n != c.whole || ok != c.ok || c.v.SafeInt64() != c.safe || c.v.AsDouble() != c.f {
			t.Errorf("%s: %d %v, %d, %v", c.v, n, ok, c.v.SafeInt64(), c.v.AsDouble())
		}
	}
	if n := decimalValue(t, "-12.9").TowardZeroInt64(); n != -12 {
		t.Errorf("-12.9 toward zero is %d, want -12", n)
	}
	if n := value.Double(math.NaN()).SafeInt64(); n != 0 {
		t.Errorf("NaN is cut to %d, want 0", n)
	}
}

func TestDecimalFromDouble(t *testing.T) {
	for _, c := range []struct {
		f                float64
		fifteen, exactly string
	}{
		{0.1, "0.100000000000000", "0.1000000000000000055511151231257827"},
		{2.5, "2.50000000000000", "2.5"},
		{1e20, "1.00000000000000E+20", "100000000000000000000"},
		{0, "0", "0"},
		{math.Inf(1), "Infinity", "Infinity"},
		{math.NaN(), "NaN", "NaN"},
		{1.0 / 3, "0.333333333333333", "0.3333333333333333148296162562473910"},
	} {
		if a, b := value.DecimalFromDouble(c.f).String(), value.DecimalFromDouble34(c.f).String(); a != c.fifteen || b != c.exactly {
			t.Errorf("%v: %s and %s, want %s and %s", c.f, a, b, c.fifteen, c.exactly)
		}
	}
}

// A double survives the way through 34 digits.
func TestDoubleDecimalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if got := value.DecimalFromDouble34(f).Float64(); got != f {
			t.Fatalf("%v came back as %v", f, got)
		}
	})
}

// Whole numbers come back from decimals unchanged.
func TestInt64DecimalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		if got, ok := value.DecimalFromInt64(n).Int64(); !ok || got != n {
			t.Fatalf("%d came back as %d %v", n, got, ok)
		}
	})
}

func TestAddClamped(t *testing.T) {
	for _, x := range [][3]int64{
		{1, 2, 3}, {1, -2, -1}, {math.MaxInt64, 0, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64},
		{math.MinInt64, math.MaxInt64, -1}, {-1, math.MinInt64, math.MinInt64}, {0, math.MinInt64, math.MinInt64},
	} {
		if got := value.AddClamped(x[0], x[1]); got != x[2] {
			t.Errorf("%d + %d = %d, want %d", x[0], x[1], got, x[2])
		}
	}
}

// ExactInt64 complains as mongod's parseIntegerElementToLong does, which takes a decimal whole or not
// at all.
func TestExactInt64(t *testing.T) {
	for json, want := range map[string]string{
		`5`: "", `5.0`: "", `{"$numberDecimal": "5.00"}`: "", `{"$numberLong": "-5"}`: "",
		`"5"`: "Expected a number in", `true`: "Expected a number in",
		`5.5`: "Expected an integer", `{"$numberDouble": "NaN"}`: "Expected an integer, but found NaN in",
		`1e19`: "Cannot represent as a 64-bit integer", `{"$numberDouble": "-Infinity"}`: "Cannot represent as a 64-bit integer",
		`{"$numberDecimal": "5.5"}`: "Cannot represent as a 64-bit integer", `{"$numberDecimal": "NaN"}`: "Cannot represent as a 64-bit integer",
		`{"$numberDecimal": "1E+19"}`: "Cannot represent as a 64-bit integer",
	} {
		v := value.MustJSON(`{"v": ` + json + `}`).Lookup("v")
		n, got := v.ExactInt64()
		if got != want || want == "" && n != 5 && n != -5 {
			t.Errorf("%s: %d %q, want %q", json, n, got, want)
		}
	}
}
