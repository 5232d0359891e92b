package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Checks of parameter values, with mongod's messages.

// Bound is a limit of a parameter that is a number.
type Bound struct {
	words string // the bound in mongod's words
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

// check is what a parameter does with a value that it is to have: it returns the value as it
// is stored. The checks are methods, because closures would be compiled anew for each line of
// the table of parameters.
type check = func(value.Value) (value.Value, error)

// CheckInt32 returns the check of a parameter that is an integer of 32 bits.
func CheckInt32(name string, bounds ...Bound) check {
	return integerCheck{name, math.MinInt32, math.MaxInt32, bounds}.check
}

// CheckInt64 returns the check of a parameter that is an integer of 64 bits.
func CheckInt64(name string, bounds ...Bound) check {
	return integerCheck{name, math.MinInt64, math.MaxInt64, bounds}.check
}

// CheckInt returns the check of a parameter that is an integer between two others.
func CheckInt(name string, low, high int64) check {
	bounds := []Bound{AtLeast(float64(low))}
	if high < math.MaxInt32 {
		bounds = append(bounds, AtMost(float64(high)))
	}
	return CheckInt32(name, bounds...)
}

// integerCheck truncates a number to an integer of a type, and checks its bounds.
type integerCheck struct {
	name     string
	min, max int64 // the range of the type
	bounds   []Bound
}

func (c integerCheck) check(v value.Value) (value.Value, error) {
	if v.Kind() == value.KindBool {
		v = value.Int32(map[bool]int32{true: 1}[v.Bool()])
	}
	switch f := v.AsDouble(); {
	case !v.IsNumber():
		return v, cannotCoerce(c.name, "Unable to coerce value to integral type")
	case math.IsNaN(f) || math.IsInf(f, 0):
		return v, cannotCoerce(c.name, "Unable to coerce NaN/Inf to integral type")
	case v.SafeInt64() < c.min || v.SafeInt64() > c.max || (v.Kind() == value.KindDouble || v.Kind() == value.KindDecimal) && math.Abs(f) >= math.MaxInt64:
		return v, cannotCoerce(c.name, "Out of bounds coercing to integral value")
	}
	n := v.SafeInt64()
	err := inBounds(c.name, float64(n), fmt.Sprint(n), c.bounds)
	if c.max == math.MaxInt32 {
		return value.Int32(int32(n)), err //nolint:gosec // checked above
	}
	return value.Int(n), err
}

// CheckDouble returns the check of a parameter that is a floating-point number.
func CheckDouble(name string, bounds ...Bound) check { return doubleCheck{name, bounds}.check }

type doubleCheck struct {
	name   string
	bounds []Bound
}

func (c doubleCheck) check(v value.Value) (value.Value, error) {
	if !v.IsNumber() {
		return v, cannotCoerce(c.name, "Unable to coerce value to correct type")
	}
	f := v.AsDouble()
	return value.Double(f), inBounds(c.name, f, fmt.Sprintf("%g", f), c.bounds)
}

// CheckBool takes a value of any type for a bool, as mongod does.
func CheckBool(v value.Value) (value.Value, error) { return value.Bool(v.Truthy()), nil }

// CheckDocument returns the check of a parameter that is a document.
func CheckDocument(name string) check { return documentCheck(name).check }

// documentCheck has the name of the parameter.
type documentCheck string

func (c documentCheck) check(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindDocument {
		return v, cannotCoerce(string(c), "Unable to coerce value to correct type")
	}
	return v, nil
}

// CheckString returns the check of a parameter that is a string, and one of the allowed
// if any are given.
func CheckString(name string, allowed ...string) check { return stringCheck{name, allowed}.check }

type stringCheck struct {
	name    string
	allowed []string
}

func (c stringCheck) check(v value.Value) (value.Value, error) {
	switch {
	case v.Kind() != value.KindString:
		return v, cannotCoerce(c.name, "Unable to coerce value to correct type")
	case len(c.allowed) > 0 && !slices.Contains(c.allowed, v.Str()):
		return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: '%s' is not one of %s", c.name, v.Str(), strings.Join(c.allowed, ", "))
	}
	return v, nil
}
