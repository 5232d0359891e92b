package value_test

import (
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

func dec(t *testing.T, s string) value.Decimal {
	t.Helper()
	d, ok := value.ParseDecimal(s)
	if !ok {
		t.Fatalf("cannot parse %q", s)
	}
	return d
}

func TestDecimalRound(t *testing.T) {
	for _, c := range []struct {
		in     string
		places int
		mode   apd.Rounder
		want   string
	}{
		{"1000.4", 0, apd.RoundHalfEven, "1000"},
		{"0.5", 0, apd.RoundHalfEven, "0"},
		{"1.5", 0, apd.RoundHalfEven, "2"},
		{"2.5", 0, apd.RoundHalfEven, "2"},
		{"-1234.567", 2, apd.RoundDown, "-1234.56"},
		{"-1234.567", -2, apd.RoundHalfEven, "-1.2E+3"},
		{"1E+10", 0, apd.RoundHalfEven, "1E+10"},
		{"1.5", 5, apd.RoundHalfEven, "1.5"},
		{"1E-6176", 0, apd.RoundHalfEven, "0"},
		{"Infinity", 0, apd.RoundHalfEven, "Infinity"},
		{"NaN", 0, apd.RoundHalfEven, "NaN"},
	} {
		if got := dec(t, c.in).Round(c.places, c.mode).String(); got != c.want {
			t.Errorf("%s.Round(%d) = %s, want %s", c.in, c.places, got, c.want)
		}
	}
}

func TestDecimalQuantize(t *testing.T) {
	for _, c := range []struct {
		in     string
		places int
		want   string
	}{
		{"1.5", 3, "1.500"},
		{"1E+3", 0, "1000"},
		{"1E+40", 0, "NaN"},
		{"1E+40", -10, "1.000000000000000000000000000000E+40"},
		{"15", -1, "2E+1"},
		{"4", -1, "0E+1"},
		{"-0.001", 2, "-0.00"},
		{"Infinity", 0, "NaN"},
	} {
		if got := dec(t, c.in).Quantize(c.places, apd.RoundHalfEven).String(); got != c.want {
			t.Errorf("%s.Quantize(%d) = %s, want %s", c.in, c.places, got, c.want)
		}
	}
}
