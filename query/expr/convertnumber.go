package expr

import (
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

// whole cuts a number to a whole one that must lie between low and high.
func whole(v value.Value, low, high int64) (int64, error) {
	const overflow = "Conversion would overflow target type in $convert with no onError value: %s"
	shown := ""
	n, fits := int64(0), false
	switch v.Kind() {
	case value.KindDouble:
		f := v.Double()
		n, fits = int64(f), f >= float64(low) && (f <= float64(high) && high < 1<<62 || f < 1<<63 && high > 1<<62)
		shown = formatG(f)
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

// shortest writes the fewest digits that give the same double again.
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
	n, out, err := parseWhole(v.Str(), 32)
	if err != nil {
		return out, err
	}
	return value.Int32(int32(n)), nil
}

func stringToLong(v value.Value, _ target) (value.Value, error) {
	n, out, err := parseWhole(v.Str(), 64)
	if err != nil {
		return out, err
	}
	return value.Int64(n), nil
}

func parseWhole(s string, bits int) (n int64, none value.Value, err error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-")
	if len(s)-len(digits) > 1 {
		digits = s[1:]
	}
	bad := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	switch {
	case isHexNumber(s):
		_, err = hexNumber(s)
	case s == "":
		_, err = notNumber(s, "Empty string")
	case digits == "":
		_, err = notNumber(s, "No digits")
	case bad >= 0:
		_, err = notNumber(s, `Bad digit "`+digits[bad:bad+1]+`" while parsing `+s)
	default:
		if n, err = strconv.ParseInt(s, 10, bits); err != nil {
			_, err = notNumber(s, "Overflow")
		}
	}
	return n, none, err
}

func stringToDouble(v value.Value, _ target) (value.Value, error) {
	s := v.Str()
	switch {
	case isHexNumber(s):
		return hexNumber(s)
	case s == "":
		return notNumber(s, "Empty string")
	case strings.ContainsAny(s, "_xXpP") || strings.TrimSpace(s) != s:
		return notNumber(s, "Did not consume whole string.")
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return notNumber(s, "Out of range")
	case err != nil:
		return notNumber(s, "Did not consume whole string.")
	}
	return value.Double(f), nil
}

func stringToDecimal(v value.Value, _ target) (value.Value, error) {
	s := v.Str()
	if isHexNumber(s) {
		return hexNumber(s)
	}
	if s == "" {
		return notNumber(s, "Empty string")
	}
	d, ok := value.ParseDecimal(s)
	if !ok {
		return notNumber(s, "Failed to parse string to decimal")
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
