package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Checks of parameter values, with mongod's messages.

// Bound is a limit of a parameter that is a number.
type Bound struct {
	words string // in mongod's messages
	limit float64
	keeps func(n, limit float64) bool // whether a number is within it
}

// GreaterThan is a bound that is not itself allowed.
func GreaterThan(limit float64) Bound {
	return Bound{"greater than", limit, func(n, limit float64) bool { return n > limit }}
}

// AtLeast is the least value.
func AtLeast(limit float64) Bound {
	return Bound{"greater than or equal to", limit, func(n, limit float64) bool { return n >= limit }}
}

// LessThan is a bound that is not itself allowed.
func LessThan(limit float64) Bound {
	return Bound{"less than", limit, func(n, limit float64) bool { return n < limit }}
}

// AtMost is the greatest value.
func AtMost(limit float64) Bound {
	return Bound{"less than or equal to", limit, func(n, limit float64) bool { return n <= limit }}
}

// inBounds checks a number, which a message shows as shown.
func inBounds(name string, n float64, shown string, bounds []Bound) error {
	for _, b := range bounds {
		if !b.keeps(n, b.limit) {
			return mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not %s %v", name, shown, b.words, number(b.limit))
		}
	}
	return nil
}

// number shows a bound: whole numbers without a fraction or an exponent.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return fmt.Sprint(int64(f))
	}
	return fmt.Sprintf("%g", f)
}

func cannotCoerce(name, reason string) error {
	return mongoerr.Newf(mongoerr.BadValue, "Failed validating %s: %s", name, reason)
}

// CheckInt32 returns the check of a parameter that is an integer of 32 bits.
func CheckInt32(name string, bounds ...Bound) func(value.Value) (value.Value, error) {
	return integerCheck(name, math.MinInt32, math.MaxInt32, bounds)
}

// CheckInt64 returns the check of a parameter that is an integer of 64 bits.
func CheckInt64(name string, bounds ...Bound) func(value.Value) (value.Value, error) {
	return integerCheck(name, math.MinInt64, math.MaxInt64, bounds)
}

// CheckInt returns the check of a parameter that is an integer between least and most.
func CheckInt(name string, least, most int64) func(value.Value) (value.Value, error) {
	bounds := []Bound{AtLeast(float64(least))}
	if most < math.MaxInt32 {
		bounds = append(bounds, AtMost(float64(most)))
	}
	return CheckInt32(name, bounds...)
}

// integerCheck truncates a number to an integer of a type, and checks its bounds.
func integerCheck(name string, least, most int64, bounds []Bound) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if v.Kind() == value.KindBool {
			v = value.Int32(map[bool]int32{true: 1}[v.Bool()])
		}
		switch f := v.AsDouble(); {
		case !v.IsNumber():
			return v, cannotCoerce(name, "Unable to coerce value to integral type")
		case math.IsNaN(f) || math.IsInf(f, 0):
			return v, cannotCoerce(name, "Unable to coerce NaN/Inf to integral type")
		case v.SafeInt64() < least || v.SafeInt64() > most || (v.Kind() == value.KindDouble || v.Kind() == value.KindDecimal) && math.Abs(f) >= math.MaxInt64:
			return v, cannotCoerce(name, "Out of bounds coercing to integral value")
		}
		n := v.SafeInt64()
		if most == math.MaxInt32 {
			return value.Int32(int32(n)), inBounds(name, float64(n), fmt.Sprint(n), bounds) //nolint:gosec // checked above
		}
		return value.Int(n), inBounds(name, float64(n), fmt.Sprint(n), bounds)
	}
}

// CheckDouble returns the check of a parameter that is a floating-point number.
func CheckDouble(name string, bounds ...Bound) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if !v.IsNumber() {
			return v, cannotCoerce(name, "Unable to coerce value to correct type")
		}
		f := v.AsDouble()
		return value.Double(f), inBounds(name, f, fmt.Sprintf("%g", f), bounds)
	}
}

// CheckBool takes a value of any type for a bool, as mongod does.
func CheckBool(v value.Value) (value.Value, error) { return value.Bool(v.Truthy()), nil }

// CheckDocument returns the check of a parameter that is a document.
func CheckDocument(name string) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if v.Kind() != value.KindDocument {
			return v, cannotCoerce(name, "Unable to coerce value to correct type")
		}
		return v, nil
	}
}

// CheckString returns the check of a parameter that is a string, and one of the allowed
// if any are given.
func CheckString(name string, allowed ...string) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if v.Kind() != value.KindString {
			return v, cannotCoerce(name, "Unable to coerce value to correct type")
		}
		for _, a := range allowed {
			if a == v.Str() {
				return v, nil
			}
		}
		if len(allowed) > 0 {
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: '%s' is not one of %s", name, v.Str(), strings.Join(allowed, ", "))
		}
		return v, nil
	}
}
