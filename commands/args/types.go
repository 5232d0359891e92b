package args

import (
	"reflect"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Array is an argument that must be an array.
type Array value.Doc

// LooseBool is a bool argument that also takes numbers (IDL safeBool).
type LooseBool bool

// StrictBool is a bool argument that takes nothing else. A *StrictBool is nil when
// the argument was not given.
type StrictBool bool

// AnyBool is an argument of any type that counts as a bool, by the rules of
// BSONElement::trueValue in mongod.
type AnyBool bool

// IntOnly is an argument that must be an int, no other number.
type IntOnly int32

// LongOnly is an argument that must be a long, no other number.
type LongOnly int64

// Flag is a [StrictBool] that need not be given; its zero value is absent.
type Flag uint8

const (
	flagAbsent Flag = iota
	flagOff
	flagOn
)

// Or returns the flag, or otherwise if it was not given.
func (f Flag) Or(otherwise bool) bool {
	if f == flagAbsent {
		return otherwise
	}
	return f == flagOn
}

// The types that messages list for numbers, and for bools that also take numbers.
const (
	NumberTypes = "long, int, decimal, double"
	BoolTypes   = "bool, long, int, decimal, double"
)

// fieldType is how a Go type of argument is read.
type fieldType struct {
	bson string // the BSON types that it takes, as the error message lists them; "" for all
	// set stores a value in what dst points to. It reports whether the value has one of the
	// types; if not, what it has stored is meaningless.
	set func(dst any, v value.Value) bool
}

// fieldTypes has the Go types that an argument can have.
var fieldTypes = map[reflect.Type]fieldType{
	reflect.TypeFor[value.Value](): read("", func(v value.Value) (value.Value, bool) { return v, true }),
	reflect.TypeFor[value.Doc]():   read("object", func(v value.Value) (value.Doc, bool) { return v.Doc(), v.Kind() == value.KindDocument }),
	reflect.TypeFor[Array]():       read("array", func(v value.Value) (Array, bool) { return Array(v.Doc()), v.Kind() == value.KindArray }),
	reflect.TypeFor[UUID]():        read(uuidType, func(v value.Value) (UUID, bool) { return UUID(v), IsUUID(v) }),

	reflect.TypeFor[string]():  read("string", readString),
	reflect.TypeFor[*string](): read("string", optional(readString)),

	reflect.TypeFor[bool]():        read("bool", readBool[bool]),
	reflect.TypeFor[StrictBool]():  read("bool", readBool[StrictBool]),
	reflect.TypeFor[*StrictBool](): read("bool", optional(readBool[StrictBool])),
	reflect.TypeFor[Flag]():        read("bool", readFlag),
	reflect.TypeFor[LooseBool]():   read(BoolTypes, readLooseBool[LooseBool]),
	reflect.TypeFor[*bool]():       read(BoolTypes, optional(readLooseBool[bool])),
	reflect.TypeFor[AnyBool]():     read("", func(v value.Value) (AnyBool, bool) { return AnyBool(v.Truthy()), true }),

	reflect.TypeFor[int64]():    read(NumberTypes, readNumber),
	reflect.TypeFor[*int64]():   read(NumberTypes, optional(readNumber)),
	reflect.TypeFor[float64]():  read(NumberTypes, func(v value.Value) (float64, bool) { return v.AsDouble(), v.IsNumber() }),
	reflect.TypeFor[*IntOnly](): read("int", optional(func(v value.Value) (IntOnly, bool) { return IntOnly(v.Int32()), v.Kind() == value.KindInt32 })),
	reflect.TypeFor[LongOnly](): read("long", func(v value.Value) (LongOnly, bool) { return LongOnly(v.Int64()), v.Kind() == value.KindInt64 }),
}

// read makes the type of arguments that are stored as a T.
func read[T any](bson string, from func(value.Value) (T, bool)) fieldType {
	return fieldType{bson, func(dst any, v value.Value) (ok bool) {
		*dst.(*T), ok = from(v)
		return ok
	}}
}

// optional reads an argument that is a nil pointer if it was not given.
func optional[T any](from func(value.Value) (T, bool)) func(value.Value) (*T, bool) {
	return func(v value.Value) (*T, bool) {
		t, ok := from(v)
		return &t, ok
	}
}

func readString(v value.Value) (string, bool) {
	return strings.Clone(v.Str()), v.Kind() == value.KindString
}

func readBool[T ~bool](v value.Value) (T, bool) { return T(v.Bool()), v.Kind() == value.KindBool }

func readLooseBool[T ~bool](v value.Value) (T, bool) {
	return T(v.Truthy()), v.IsNumber() || v.Kind() == value.KindBool
}

func readFlag(v value.Value) (Flag, bool) {
	f := flagOff
	if v.Bool() {
		f = flagOn
	}
	return f, v.Kind() == value.KindBool
}

func readNumber(v value.Value) (int64, bool) { return v.SafeInt64(), v.IsNumber() }
