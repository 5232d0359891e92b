package value_test

import (
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

// The first operand that is NaN is the result, with its sign; infinities of
// different signs make a positive one.
func TestNaNKeepsItsSign(t *testing.T) {
	negative := value.Decimal{Hi: value.DecimalNaN.Hi | 1<<63}
	one := value.DecimalFromInt64(1)
	sum := func(a, b value.Decimal) value.Decimal {
		s, _ := value.Add(value.DecimalValue(a), value.DecimalValue(b))
		return s.Decimal()
	}
	for i, c := range []struct{ got, want value.Decimal }{
		{sum(negative, one), negative}, {sum(one, negative), negative}, {sum(negative, value.DecimalNaN), negative}, {sum(value.DecimalNaN, negative), value.DecimalNaN},
		{sum(value.DecimalPosInf, value.DecimalNegInf), value.DecimalNaN}, {one.Sub(negative), negative}, {negative.Div(one), negative}, {negative.Sqrt(), negative}, {negative.RoundTo(1, apd.RoundHalfEven), negative},
	} {
		if c.got != c.want {
			t.Errorf("%d: %x, want %x", i, c.got, c.want)
		}
	}
	if d, ok := value.ParseDecimal("-NaN"); !ok || d != negative {
		t.Errorf("-NaN is read as %x", d)
	}
}
