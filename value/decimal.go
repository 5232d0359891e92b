package value

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decimal is an IEEE 754-2008 decimal128 in its BID encoding, as BSON
// stores it.
type Decimal struct{ Hi, Lo uint64 }

const (
	decimalBias      = 6176
	decimalMaxExp    = 6111 // largest exponent of the unit digit
	decimalDigits    = 34
	decimalNaNMask   = 0x7c << 56
	decimalInfMask   = 0x78 << 56
	decimalSignMask  = 1 << 63
	decimalLargeMask = 0x60 << 56
)

// DecimalContext rounds to the precision of decimal128: 34 digits, half to
// even. It must not be changed.
var DecimalContext = &apd.Context{
	Precision:   decimalDigits,
	MaxExponent: 6144,
	MinExponent: -6143,
	Rounding:    apd.RoundHalfEven,
	Traps:       0,
}

// The special values.
var (
	DecimalNaN    = Decimal{Hi: decimalNaNMask}
	DecimalPosInf = Decimal{Hi: decimalInfMask}
	DecimalNegInf = Decimal{Hi: decimalInfMask | decimalSignMask}
	DecimalZero   = Decimal{Hi: decimalBias << 49}
)

// IsNaN reports whether d is not a number.
func (d Decimal) IsNaN() bool { return d.Hi&decimalNaNMask == decimalNaNMask }

// IsInf returns +1 or -1 for the infinities, else 0.
func (d Decimal) IsInf() int {
	if d.Hi&decimalNaNMask != decimalInfMask {
		return 0
	}
	if d.Negative() {
		return -1
	}
	return 1
}

// IsFinite reports whether d is neither NaN nor infinite.
func (d Decimal) IsFinite() bool { return d.Hi&decimalInfMask != decimalInfMask }

// Negative reports whether the sign bit is set.
func (d Decimal) Negative() bool { return d.Hi&decimalSignMask != 0 }

// IsZero reports whether d is a zero of any exponent or sign.
func (d Decimal) IsZero() bool {
	hi, lo, _ := d.coefficient()
	return d.IsFinite() && hi == 0 && lo == 0
}

// coefficient splits a finite d. Coefficients that are not canonical (34
// digits exceeded) count as zero, as the standard requires.
func (d Decimal) coefficient() (hi, lo uint64, exp int) {
	if d.Hi&decimalLargeMask == decimalLargeMask {
		return 0, 0, int(d.Hi>>47&0x3fff) - decimalBias
	}
	hi, lo, exp = d.Hi&(1<<49-1), d.Lo, int(d.Hi>>49&0x3fff)-decimalBias
	const maxHi, maxLo = 0x1ed09bead87c0, 0x378d8e63ffffffff // 10^34 - 1
	if hi > maxHi || hi == maxHi && lo > maxLo {
		return 0, 0, exp
	}
	return hi, lo, exp
}

// Apd converts d exactly.
func (d Decimal) Apd() *apd.Decimal {
	out := &apd.Decimal{Negative: d.Negative()}
	switch {
	case d.IsNaN():
		out.Form = apd.NaN
	case d.IsInf() != 0:
		out.Form = apd.Infinite
	default:
		hi, lo, exp := d.coefficient()
		out.Coeff.SetUint64(hi)
		if hi != 0 {
			out.Coeff.Lsh(&out.Coeff, 64)
			var low apd.BigInt
			out.Coeff.Or(&out.Coeff, low.SetUint64(lo))
		} else {
			out.Coeff.SetUint64(lo)
		}
		out.Exponent = int32(exp)
	}
	return out
}

// DecimalFromApd rounds x to decimal128.
func DecimalFromApd(x *apd.Decimal) Decimal {
	switch x.Form {
	case apd.NaN, apd.NaNSignaling:
		return nan(x.Negative)
	case apd.Infinite:
		return infinity(x.Negative)
	}
	if x.Coeff.Sign() == 0 {
		exp := min(max(int(x.Exponent), -decimalBias), decimalMaxExp)
		return encodeDecimal(x.Negative, 0, 0, exp)
	}
	r := new(apd.Decimal)
	if _, err := DecimalContext.Round(r, x); err != nil || r.Form != apd.Finite {
		return infinity(x.Negative)
	}
	return packDecimal(r)
}

// packDecimal encodes a rounded number, moving an exponent that is out of
// range into the coefficient.
func packDecimal(r *apd.Decimal) Decimal {
	exp := int(r.Exponent)
	ten := apd.NewBigInt(10)
	for exp > decimalMaxExp {
		r.Coeff.Mul(&r.Coeff, ten)
		exp--
	}
	for exp < -decimalBias {
		r.Coeff.Quo(&r.Coeff, ten)
		exp++
	}
	var hi, lo apd.BigInt
	hi.Rsh(&r.Coeff, 64)
	lo.And(&r.Coeff, new(apd.BigInt).SetUint64(math.MaxUint64))
	return encodeDecimal(r.Negative, hi.Uint64(), lo.Uint64(), exp)
}

func nan(negative bool) Decimal {
	if negative {
		return Decimal{Hi: decimalNaNMask | decimalSignMask}
	}
	return DecimalNaN
}

func infinity(negative bool) Decimal {
	if negative {
		return DecimalNegInf
	}
	return DecimalPosInf
}

func encodeDecimal(negative bool, hi, lo uint64, exp int) Decimal {
	h := uint64(exp+decimalBias)<<49 | hi
	if negative {
		h |= decimalSignMask
	}
	return Decimal{Hi: h, Lo: lo}
}

// DecimalFromInt64 converts exactly.
func DecimalFromInt64(v int64) Decimal {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	return encodeDecimal(v < 0, 0, u, 0)
}

// DecimalFromDouble converts by MongoDB's rule for arithmetic on a double and
// a decimal: rounded to 15 significant digits.
func DecimalFromDouble(f float64) Decimal {
	if math.IsNaN(f) {
		return DecimalNaN
	}
	if math.IsInf(f, 0) {
		return infinity(f < 0)
	}
	if f == 0 {
		return encodeDecimal(math.Signbit(f), 0, 0, 0)
	}
	s := strconv.FormatFloat(f, 'e', 14, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	mantissa = strings.TrimPrefix(mantissa, "-")
	digits, err := strconv.ParseUint(strings.Replace(mantissa, ".", "", 1), 10, 64)
	e, err2 := strconv.Atoi(exponent)
	if err != nil || err2 != nil {
		return DecimalNaN
	}
	return encodeDecimal(f < 0, 0, digits, e-14)
}

// DecimalFromDouble34 converts a double with all 34 digits of a decimal, for
// rounding to decimal places.
func DecimalFromDouble34(f float64) Decimal {
	switch {
	case math.IsNaN(f):
		return DecimalNaN
	case math.IsInf(f, 0):
		return infinity(f < 0)
	case f == 0:
		return encodeDecimal(math.Signbit(f), 0, 0, 0)
	}
	return DecimalFromApd(exactDecimal(f))
}

// ExactDecimal converts a finite double exactly, with as many digits as
// needed.
func ExactDecimal(f float64) *apd.Decimal { return exactDecimal(f) }

// exactDecimal converts a finite double exactly.
func exactDecimal(f float64) *apd.Decimal {
	d := new(apd.Decimal)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		_, _ = d.SetFloat64(f)
		return d
	}
	_, _, _ = d.SetString(strconv.FormatFloat(f, 'e', -1, 64))
	if math.Abs(f) < 1<<53 && f == math.Trunc(f) {
		return d
	}
	// The shortest form is not the exact one: take all binary digits.
	frac, e := math.Frexp(f)
	m := int64(frac * (1 << 53))
	e -= 53
	if shift := bits.TrailingZeros64(uint64(m)); m != 0 && shift > 0 {
		m >>= shift
		e += shift
	}
	d = apd.New(0, 0)
	d.Coeff.SetInt64(m)
	if m < 0 {
		d.Negative = true
		d.Coeff.Neg(&d.Coeff)
	}
	if e >= 0 {
		d.Coeff.Lsh(&d.Coeff, uint(e))
		return d
	}
	five := apd.NewBigInt(5) // m * 2^-k == m * 5^k * 10^-k
	d.Coeff.Mul(&d.Coeff, five.Exp(five, apd.NewBigInt(int64(-e)), nil))
	d.Exponent = int32(e)
	return d
}

// Float64 is the nearest double.
func (d Decimal) Float64() float64 {
	switch {
	case d.IsNaN():
		return math.NaN()
	case d.IsInf() != 0:
		return math.Inf(d.IsInf())
	case d.IsZero():
		if d.Negative() {
			return math.Copysign(0, -1)
		}
		return 0
	}
	f, _ := strconv.ParseFloat(d.Apd().Text('e'), 64)
	return f
}

// Round rounds d to a number of decimal places (negative: before the point). A
// d without further places is returned unchanged.
func (d Decimal) Round(places int, mode apd.Rounder) Decimal {
	if _, _, exp := d.coefficient(); !d.IsFinite() || exp >= -places {
		return d
	}
	return d.Quantize(places, mode)
}

// Quantize gives d exactly that number of decimal places, rounding or adding
// zeros; NaN if that needs more than 34 digits. An infinity gives NaN, too.
func (d Decimal) Quantize(places int, mode apd.Rounder) Decimal {
	if !d.IsFinite() || places < -decimalMaxExp || places > decimalBias {
		return DecimalNaN
	}
	c := *DecimalContext
	c.Rounding, c.MinExponent = mode, -decimalBias
	out, x := new(apd.Decimal), d.Apd()
	if x.Coeff.Sign() != 0 && x.NumDigits()+int64(x.Exponent) < int64(-places) {
		// Less than a tenth of the last place: the library would round it to zero in
		// every mode.
		up := mode == apd.RoundCeiling && !x.Negative || mode == apd.RoundFloor && x.Negative || mode == apd.RoundUp
		if out.Negative, out.Exponent = x.Negative, int32(-places); up {
			out.Coeff.SetUint64(1)
		}
		return DecimalFromApd(out)
	}
	if _, err := c.Quantize(out, x, int32(-places)); err != nil || out.Form != apd.Finite {
		return DecimalNaN
	}
	return DecimalFromApd(out)
}

// String writes d as the specification's scientific string: "1.20",
// "1E+3", "NaN", "Infinity".
func (d Decimal) String() string { return bson.NewDecimal128(d.Hi, d.Lo).String() }

// ParseDecimal reads a decimal number, "NaN" or "Infinity" (any case),
// rounding to 34 digits.
func ParseDecimal(s string) (Decimal, bool) {
	if s == "" || strings.ContainsAny(s, "_ \t\n") {
		return Decimal{}, false
	}
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case "nan":
		return nan(s[0] == '-'), true
	case "inf", "infinity":
		return infinity(s[0] == '-'), true
	}
	if d, ok := parseFastDecimal(s); ok {
		return d, true
	}
	x, _, err := apd.NewFromString(s)
	if err != nil || x.Form != apd.Finite {
		return parseExtremeDecimal(s)
	}
	return DecimalFromApd(x), true
}

// parseFastDecimal reads plain digits that fit a word.
func parseFastDecimal(s string) (Decimal, bool) {
	u, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '-' && u == 0 {
		return Decimal{}, false
	}
	return DecimalFromInt64(u), true
}

// parseExtremeDecimal reads numbers whose exponent is out of apd's range: they
// are zero or infinite.
func parseExtremeDecimal(s string) (Decimal, bool) {
	mantissa, exponent, found := strings.Cut(strings.ToLower(s), "e")
	if !found {
		return Decimal{}, false
	}
	m, _, err := apd.NewFromString(mantissa)
	if err != nil || m.Form != apd.Finite {
		return Decimal{}, false
	}
	digits := strings.TrimLeft(exponent, "+-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Decimal{}, false
	}
	negExp := exponent[0] == '-'
	switch {
	case m.Coeff.Sign() == 0 && negExp:
		return encodeDecimal(m.Negative, 0, 0, -decimalBias), true
	case m.Coeff.Sign() == 0:
		return encodeDecimal(m.Negative, 0, 0, decimalMaxExp), true
	case negExp:
		return encodeDecimal(m.Negative, 0, 0, -decimalBias), true
	}
	return infinity(m.Negative), true
}
