package expr

import (
	"math"
	"sync"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/value"
)

// work computes with more digits than a decimal128 has, so that only the final
// rounding affects the result.
var work = workContext(60)

func workContext(digits uint32) *apd.Context {
	return &apd.Context{Precision: digits, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfEven}
}

var (
	decOne  = apd.New(1, 0)
	decTwo  = apd.New(2, 0)
	decHalf = apd.New(5, -1)
	decZero = apd.New(0, 0)
)

func decimalExp(d, x *apd.Decimal) error {
	if x.Form == apd.Finite {
		switch {
		case x.Cmp(apd.New(20000, 0)) > 0:
			infinite(d, false)
			return nil
		case x.Cmp(apd.New(-20000, 0)) < 0:
			d.Set(apd.New(0, -6176))
			return nil
		}
	}
	_, err := work.Exp(d, x)
	return err
}

func infinite(d *apd.Decimal, negative bool) { d.Form, d.Negative = apd.Infinite, negative }

func decimalLn(d, x *apd.Decimal) error {
	_, err := work.Ln(d, x)
	return err
}

// decimalLog10 returns whole numbers without trailing zeros.
func decimalLog10(d, x *apd.Decimal) error {
	if _, err := work.Log10(d, x); err != nil {
		return err
	}
	var whole apd.Decimal
	if _, err := value.DecimalContext.Round(&whole, d); err != nil || whole.Form != apd.Finite {
		return err
	}
	whole.Reduce(&whole)
	if whole.Exponent >= 0 {
		d.SetInt64(0)
		_, err := value.DecimalContext.Quantize(d, &whole, 0)
		return err
	}
	return nil
}

// decimalPow follows IEEE 754: x^0 and 1^y are 1 even for NaN.
func decimalPow(x, y value.Decimal) value.Decimal {
	one := value.DecimalFromInt64(1)
	switch {
	case y.IsZero() || value.Compare(value.DecimalValue(x), value.Int32(1)) == 0:
		return one
	case x.IsNaN():
		return x
	case y.IsNaN():
		return y
	case x.IsZero():
		return value.DecimalZero
	case y.IsInf() != 0:
		return powInfinite(x, y)
	}
	exp := y.Apd()
	if size := int64(math.Abs(float64(exp.NumDigits()) + float64(exp.Exponent))); size > 12 {
		// With such a large exponent the result is 0, 1 or infinity.
		if y.Negative() {
			return powInfinite(x, value.DecimalNegInf)
		}
		return powInfinite(x, value.DecimalPosInf)
	}
	var d apd.Decimal
	if _, err := workContext(50).Pow(&d, x.Apd(), exp); err != nil {
		return value.DecimalNaN
	}
	return value.DecimalFromApd(&d)
}

func powInfinite(x, y value.Decimal) value.Decimal {
	x.Hi &^= 1 << 63
	switch c := value.Compare(value.DecimalValue(x), value.Int32(1)); {
	case c == 0:
		return value.DecimalFromInt64(1)
	case (c > 0) == (y.IsInf() > 0):
		return value.DecimalPosInf
	}
	return value.DecimalZero
}

var piCache struct {
	sync.Mutex
	digits uint32
	pi     *apd.Decimal
}

// pi returns π to at least that many digits; the result must not be changed.
func pi(digits uint32) *apd.Decimal {
	piCache.Lock()
	defer piCache.Unlock()
	if piCache.digits < digits {
		piCache.digits, piCache.pi = digits, machin(digits)
	}
	return piCache.pi
}

// machin computes π = 16 atan(1/5) - 4 atan(1/239) in integers scaled by a
// power of ten.
func machin(digits uint32) *apd.Decimal {
	scale := new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(int64(digits)+10), nil)
	sum := new(apd.BigInt).Sub(
		new(apd.BigInt).Mul(apd.NewBigInt(16), arctanInverse(5, scale)),
		new(apd.BigInt).Mul(apd.NewBigInt(4), arctanInverse(239, scale)))
	return apd.NewWithBigInt(sum, -int32(digits)-10)
}

// arctanInverse computes atan(1/n), scaled, by its power series.
func arctanInverse(n int64, scale *apd.BigInt) *apd.BigInt {
	power := new(apd.BigInt).Quo(scale, apd.NewBigInt(n))
	sum := new(apd.BigInt).Set(power)
	square := apd.NewBigInt(n * n)
	for k, minus := int64(3), true; power.Sign() != 0; k, minus = k+2, !minus {
		power.Quo(power, square)
		term := new(apd.BigInt).Quo(power, apd.NewBigInt(k))
		if minus {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	return sum
}
