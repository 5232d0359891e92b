package expr

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/query/expr/datetime"
	"github.com/duskdb/duskdb/value"
)

func toDouble(v value.Value, _ target) (value.Value, error) { return value.Double(v.AsDouble()), nil }

func toDecimal(v value.Value, _ target) (value.Value, error) {
	return value.DecimalValue(v.AsDecimal()), nil
}

func toInt(v value.Value, _ target) (value.Value, error) {
	n, err := whole(v, math.MinInt32, math.MaxInt32)
	return value.Int32(int32(n)), err
}

func toLong(v value.Value, _ target) (value.Value, error) {
	n, err := whole(v, math.MinInt64, math.MaxInt64)
	return value.Int64(n), err
}

func numberToDate(v value.Value, _ target) (value.Value, error) {
	n, err := whole(v, math.MinInt64, math.MaxInt64)
	return value.DateTime(n), err
}

// whole truncates a number to a whole one that must lie between low and high.
func whole(v value.Value, low, high int64) (int64, error) {
	const overflow = "Conversion would overflow target type in $convert with no onError value: %s"
	shown := ""
	n, fits := int64(0), false
	switch v.Kind() {
	case value.KindDouble:
		f := v.Double()
		n, fits = int64(f), f >= float64(low) && (f <= float64(high) && high < 1<<62 || f < 1<<63 && high > 1<<62)
		shown = value.ShortDouble(f)
	case value.KindDecimal:
		n, fits = v.Decimal().Round(0, apd.RoundDown).Int64()
		shown = v.Decimal().String()
	default:
		n, fits = v.Int64(), true
	}
	var err error
	switch inf := v.Kind() == value.KindDouble && math.IsInf(v.Double(), 0) || v.Decimal().IsInf() != 0; {
	case v.IsNaN():
		_, err = failed("Attempt to convert NaN value to integer type in $convert with no onError value")
	case inf:
		_, err = failed("Attempt to convert infinity value to integer type in $convert with no onError value")
	case !fits || n < low || n > high:
		_, err = failed(overflow, shown)
	}
	return n, err
}

func decimalToDouble(v value.Value, _ target) (value.Value, error) {
	d := v.Decimal()
	f := d.Float64()
	if math.IsInf(f, 0) && d.IsInf() == 0 || f == 0 && !d.IsZero() {
		return failed("Conversion would overflow target type in $convert with no onError value: %s", d)
	}
	return value.Double(f), nil
}

// wholeToString writes ints, longs and decimals.
func wholeToString(v value.Value, _ target) (value.Value, error) {
	return value.String(v.String()), nil
}

func doubleToString(v value.Value, _ target) (value.Value, error) {
	return value.String(shortest(v.Double())), nil
}

// shortest writes the fewest digits that parse to the same double.
func shortest(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	case f == 0:
		if math.Signbit(f) {
			return "-0"
		}
		return "0"
	}
	if a := math.Abs(f); a >= 1e-4 && a < 1e16 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

func notNumber(s, why string) (value.Value, error) {
	return failed("Failed to parse number '%s' in $convert with no onError value: %s", s, why)
}

func hexNumber(s string) (value.Value, error) {
	return failed("Illegal hexadecimal input in $convert with no onError value: %s", s)
}

func stringToInt(v value.Value, _ target) (value.Value, error) {
	n, err := parseWhole(v.Str(), 32)
	return value.Int32(int32(n)), err
}

func stringToLong(v value.Value, _ target) (value.Value, error) {
	n, err := parseWhole(v.Str(), 64)
	return value.Int64(n), err
}

// parseWhole parses a decimal integer of the given bits, with mongod's
// messages for each kind of mistake.
func parseWhole(s string, bits int) (n int64, err error) {
	digits := s
	if s != "" && (s[0] == '+' || s[0] == '-') {
		digits = s[1:]
	}
	number := strings.TrimLeft(digits, "0")
	number = number[:len(number)-len(strings.TrimLeft(number, "0123456789"))]
	switch {
	case isHexNumber(s):
		_, err = hexNumber(s)
	case digits == "":
		_, err = notNumber(s, "No digits")
	case len(number) > 19: // is checked before anything after the digits
		_, err = notNumber(s, "Overflow")
	case strings.Trim(digits, "0123456789") != "":
		_, err = notNumber(s, "Did not consume whole string.")
	default:
		if n, err = strconv.ParseInt(s, 10, bits); err != nil {
			_, err = notNumber(s, "Overflow")
		}
	}
	return n, err
}

// stringToDouble parses a string as mongod does, which accepts what strtod
// accepts but no surrounding spaces.
func stringToDouble(v value.Value, _ target) (value.Value, error) {
	s := v.Str()
	switch {
	case isHexNumber(s):
		return hexNumber(s)
	case s == "":
		return notNumber(s, "Empty string")
	case strings.IndexByte(" \t\n\v\f\r", s[0]) >= 0:
		return notNumber(s, "Leading whitespace")
	}
	f, err := parseDouble(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return notNumber(s, "Out of range")
	case err != nil && !beginsWithDouble(s):
		return notNumber(s, "Did not consume any digits")
	case err != nil:
		return notNumber(s, "Did not consume whole string.")
	}
	return value.Double(f), nil
}

// parseDouble reads a double as strtod does: also hexadecimal, "inf" and
// "nan". Subnormal numbers are out of range, because they are not exact.
func parseDouble(s string) (float64, error) {
	unsigned := strings.TrimLeft(s[:1], "+-") + s[1:]
	switch {
	case strings.EqualFold(unsigned, "nan"):
		return math.Copysign(math.NaN(), sign(s)), nil
	case strings.IndexByte(s, '_') >= 0:
		return 0, strconv.ErrSyntax
	case len(unsigned) > 2 && strings.EqualFold(unsigned[:2], "0x"):
		if !strings.ContainsAny(s, "pP") {
			s += "p0"
		}
		return strconv.ParseFloat(s, 64)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && math.Abs(f) < 0x1p-1022 && strings.Trim(strings.SplitN(strings.ToLower(s), "e", 2)[0], "+-0.") != "" {
		err = strconv.ErrRange
	}
	return f, err
}

func sign(s string) float64 {
	if s[0] == '-' {
		return -1
	}
	return 1
}

// beginsWithDouble reports whether strtod would find a number at all.
func beginsWithDouble(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s[:1], "+-") + s[1:])
	if strings.HasPrefix(s, "inf") || strings.HasPrefix(s, "nan") {
		return true
	}
	s = strings.TrimPrefix(s, ".")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// stringToDecimal parses a string as a decimal128; too many digits are
// truncated.
func stringToDecimal(v value.Value, _ target) (value.Value, error) {
	s := v.Str()
	if isHexNumber(s) {
		return hexNumber(s)
	}
	if s == "" {
		return notNumber(s, "Empty string")
	}
	d, underflow, ok := value.ParseDecimalDown(s)
	switch {
	case !ok:
		return notNumber(s, "Failed to parse string to decimal")
	case underflow:
		return notNumber(s, "Conversion from string to decimal would underflow")
	}
	if l := strings.ToLower(s); d.IsInf() != 0 && !strings.Contains(l, "inf") {
		return notNumber(s, "Conversion from string to decimal would overflow")
	}
	return value.DecimalValue(d), nil
}

func stringToDate(v value.Value, _ target) (value.Value, error) {
	ms, err := datetime.Parse(v.Str(), datetime.Zone{})
	if err != nil {
		return value.Value{}, err
	}
	return value.DateTime(ms), nil
}

func instantToDate(v value.Value, _ target) (value.Value, error) {
	ms, _ := toDate(v)
	return value.DateTime(ms), nil
}

func dateToNumber(v value.Value, t target) (value.Value, error) {
	switch n := v.DateTime(); t.kind {
	case value.KindDouble:
		return value.Double(float64(n)), nil
	case value.KindDecimal:
		return value.DecimalValue(value.DecimalFromInt64(n)), nil
	default:
		return value.Int64(n), nil
	}
}

func dateToString(v value.Value, _ target) (value.Value, error) {
	s, err := formatISO(v.DateTime())
	return value.String(s), err
}
