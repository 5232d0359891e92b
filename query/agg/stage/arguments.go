package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The errors of mongod's IDL parser for the specification of a stage or operator. The
// argument where is its name.

// UnknownField is the error for a field that is not known.
func UnknownField(where, name string) error {
	return mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", where, name)
}

// MissingField is the error for a required field that is not there.
func MissingField(where, name string) error {
	return mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", where, name)
}

// NoDuplicates is the error for a field that occurs twice.
func NoDuplicates(where string, d value.Doc) error {
	seen := map[string]bool{}
	for name := range d.All() {
		if seen[name] {
			return mongoerr.Newf(mongoerr.IDLDuplicateField, "BSON field '%s.%s' is a duplicate field", where, name)
		}
		seen[name] = true
	}
	return nil
}

// WrongType is the error for a field that is not of the one type it must have.
func WrongType(where, name string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", where, name, v.Kind(), want)
}

// WrongTypes is WrongType for a field that may have several types.
func WrongTypes(where, name string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", where, name, v.Kind(), want)
}

// StringField reads a string.
func StringField(where, name string, v value.Value) (string, error) {
	if v.Kind() != value.KindString {
		return "", WrongType(where, name, v, "string")
	}
	return string(v.Bytes()), nil
}

// ObjectField reads an object.
func ObjectField(where, name string, v value.Value) (value.Doc, error) {
	if v.Kind() != value.KindDocument {
		return nil, WrongType(where, name, v, "object")
	}
	return v.Doc(), nil
}

// StringsField reads an array of strings.
func StringsField(where, name string, v value.Value) ([]string, error) {
	if v.Kind() != value.KindArray {
		return nil, WrongType(where, name, v, "array")
	}
	var out []string
	for i, e := range Enumerate(v.Doc()) {
		s, err := StringField(where, fmt.Sprintf("%s.%d", name, i), e)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Enumerate yields the elements of an array with their positions.
func Enumerate(a value.Doc) func(yield func(int, value.Value) bool) {
	return func(yield func(int, value.Value) bool) {
		i := 0
		for v := range a.Values() {
			if !yield(i, v) {
				return
			}
			i++
		}
	}
}

// NonNegative reads a whole number that is not negative.
func NonNegative(code mongoerr.Code, v value.Value) (int64, error) {
	n, complaint := v.ExactInt64()
	if complaint == "" && n < 0 {
		complaint = "Expected a non-negative number in"
	}
	if complaint != "" {
		return 0, mongoerr.Newf(code, "%s: %s", complaint, v)
	}
	return n, nil
}

// WithPrefix adds context to the message of a MongoDB error.
func WithPrefix(err error, prefix string) error { return mongoerr.From(err).WithPrefix(prefix) }

// IsExpressionLike reports whether v is a path or an operator expression.
func IsExpressionLike(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return strings.HasPrefix(v.Str(), "$")
	case value.KindDocument:
		k, _ := v.Doc().First()
		return strings.HasPrefix(k, "$")
	}
	return false
}

// WithoutNulls removes fields that are null, since mongod's IDL parser ignores them. The
// fields in kept stay: they have parsers of their own, which do not ignore null.
func WithoutNulls(d value.Doc, kept ...string) value.Doc {
	b := value.NewBuilder()
	for k, v := range d.All() {
		if v.Kind() != value.KindNull && v.Kind() != value.KindUndefined || slices.Contains(kept, k) {
			b.Append(k, v)
		}
	}
	return b.Doc()
}
