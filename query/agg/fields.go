package agg

import (
	"fmt"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The errors of specifications that mongod declares in its interface
// definitions; where is the stage's or operator's name.

func unknownField(where, name string) error {
	return mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", where, name)
}

func missingField(where, name string) error {
	return mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", where, name)
}

func wrongType(where, name string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", where, name, v.Kind(), want)
}

func wrongTypes(where, name string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", where, name, v.Kind(), want)
}

// stringField reads a string.
func stringField(where, name string, v value.Value) (string, error) {
	if v.Kind() != value.KindString {
		return "", wrongType(where, name, v, "string")
	}
	return string(v.Bytes()), nil
}

// objectField reads an object.
func objectField(where, name string, v value.Value) (value.Doc, error) {
	if v.Kind() != value.KindDocument {
		return nil, wrongType(where, name, v, "object")
	}
	return v.Doc(), nil
}

// stringsField reads an array of strings.
func stringsField(where, name string, v value.Value) ([]string, error) {
	if v.Kind() != value.KindArray {
		return nil, wrongType(where, name, v, "array")
	}
	var out []string
	for i, e := range enumerate(v.Doc()) {
		s, err := stringField(where, fmt.Sprintf("%s.%d", name, i), e)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// enumerate yields the elements of an array with their positions.
func enumerate(a value.Doc) func(yield func(int, value.Value) bool) {
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
