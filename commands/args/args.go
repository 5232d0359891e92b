package args

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Arguments are declared as structs:
//
//	type countArgs struct {
//		Coll  string    `arg:"count"`
//		Query value.Doc `arg:"query"`
//		Limit *int64    `arg:"limit"`
//		Hint  value.Value `arg:"hint,any"`
//	}
//
//	var countSpec = args.New[countArgs]("count")
//
// The tag is the field's name, optionally followed by ",required",
// ",nonneg" (a number that must not be negative), ",own" for a field that mongod
// reads by code of its own, with other messages, or ",any" for a field of any type
// that the command checks later: there null does not count as absent.
// The Go type decides which BSON types are accepted, as mongod's IDL does.
// The tags are read once, at start-up.

// Spec decodes the arguments of one command into T.
type Spec[T any] struct {
	Command string         // its name, with which messages begin
	Index   map[string]int // position of each declared field, by its name in BSON
	fields  []argField
	loose   bool // unknown fields are allowed, as for hello
	spare   sync.Pool
}

// Borrow returns zeroed arguments to decode into. Hot commands return them with GiveBack
// when nothing refers to them any more; others leave them to the garbage collector.
func (s *Spec[T]) Borrow() *T {
	if a, ok := s.spare.Get().(*T); ok {
		return a
	}
	return new(T)
}

// GiveBack returns borrowed arguments. The caller must not use them again.
func (s *Spec[T]) GiveBack(a *T) {
	var zero T
	*a = zero
	s.spare.Put(a)
}

// Lenient makes the decoder ignore unknown fields, as mongod does for commands like
// hello, and returns s.
func (s *Spec[T]) Lenient() *Spec[T] {
	s.loose = true
	return s
}

type argField struct {
	name     string
	required bool
	nonneg   bool
	any      bool // of any type, null too
	set      func(p unsafe.Pointer, v value.Value) bool
	types    string // what the error message says was expected
	refusal  string // the message if mongod reads the field by code of its own, which refuses null
	offset   uintptr
}

// refusals are the messages of fields that are read by code of their own,
// where name and type may be in it.
var refusals = map[string]string{
	"object": "Expected field %sto be of type object", // without a space, as in mongod
	"bool":   "Field '%s' should be a boolean value, but found: %s",
	"array":  "'%s' option must be specified as an array",
}

// leavesOut reports whether null counts as absent, as in mongod's IDL parser. It does not
// in fields that mongod reads by code of their own, and in required fields of any type,
// like the collection name of a command.
func (f *argField) leavesOut() bool {
	return f.refusal == "" && !f.any && (!f.required || f.types != "")
}

// wrong is the error for a value of a type that the field does not take.
func (f *argField) wrong(prefix string, v value.Value) error {
	switch {
	case f.types == uuidType:
		return WrongUUID(prefix+"."+f.name, v)
	case f.refusal == "":
		return WrongType(prefix, f.name, v, f.types)
	}
	said := []any{f.name, v.Kind()}
	return mongoerr.Newf(mongoerr.TypeMismatch, f.refusal, said[:strings.Count(f.refusal, "%s")]...)
}

// IsGeneric reports whether name is that of a generic argument, which every command accepts
// and the dispatcher reads.
func IsGeneric(name string) bool {
	switch name {
	case "$db", "lsid", "txnNumber", "autocommit", "startTransaction",
		"readConcern", "writeConcern", "$clusterTime", "$readPreference", "maxTimeMS",
		"comment", "apiVersion", "apiStrict", "apiDeprecationErrors", "$audit",
		"$client", "$configServerState", "$configTime", "$topologyTime", "allowImplicitCollectionCreation",
		"shardVersion", "databaseVersion", "clientOperationKey", "help", "$queryOptions",
		"$oplogQueryData", "$replData", "stmtId", "stmtIds", "coordinator",
		"mayBypassWriteBlocking", "expectPrefix", "operationSessionInfo", "maxTimeMSOpOnly", "requestResponse",
		"serialization_context", "rawData", "originalQueryShapeHash", "querySettings", "usesDefaultMaxTimeMS":
		return true
	}
	return false
}

// maxFields is how many arguments a command can have: while it is decoded, each
// has a bit in a word.
const maxFields = 64

// New makes the decoder of a command from the tags of T. It panics when a field has a
// type that no argument can have, or when there are too many of them: mistakes in the
// program, found at start-up.
func New[T any](command string) *Spec[T] {
	t := reflect.TypeFor[T]()
	s := &Spec[T]{Command: command, Index: map[string]int{}}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("arg")
		if !ok {
			continue
		}
		parts := strings.Split(tag, ",")
		a, own := argField{name: parts[0], offset: f.Offset}, false
		for _, option := range parts[1:] {
			switch option {
			case "required":
				a.required = true
			case "nonneg":
				a.nonneg = true
			case "own":
				own = true
			case "any":
				a.any = true
			}
		}
		a.set, a.types = argSetter(f.Type)
		if own {
			a.refusal = refusals[a.types]
		}
		if a.set == nil {
			panic("commands: argument type of " + command + "." + a.name)
		}
		s.Index[a.name] = len(s.fields)
		s.fields = append(s.fields, a)
	}
	if len(s.fields) > maxFields {
		panic("commands: " + command + " has more than 64 arguments")
	}
	return s
}

// Decode reads the command document into dst. It refuses unknown fields (40415),
// repeated ones (40413), wrong types (14) and missing required fields (40414).
func (s *Spec[T]) Decode(body value.Doc, dst *T) error {
	return s.DecodeAs(s.Command, body, dst, true)
}

// DecodeNested reads an embedded document, which has no generic arguments; prefix is
// how messages name it ("update.updates").
func (s *Spec[T]) DecodeNested(prefix string, d value.Doc, dst *T) error {
	return s.DecodeAs(prefix, d, dst, false)
}

// DecodeAs is Decode for a document that messages name prefix; generic reports
// whether generic arguments are accepted.
func (s *Spec[T]) DecodeAs(prefix string, body value.Doc, dst *T, generic bool) error {
	base := unsafe.Pointer(dst)
	// A null that counts as absent still counts as a repeated field: authorization
	// must not depend on which of two fields is read.
	var seen, named uint64
	it := body.Iter()
	for it.Next() {
		i, ok := s.Index[it.Key()]
		if !ok {
			if s.loose || generic && IsGeneric(it.Key()) {
				continue
			}
			return mongoerr.UnknownField(prefix + "." + it.Key())
		}
		if named&(1<<i) != 0 {
			return mongoerr.DuplicateField(prefix + "." + it.Key())
		}
		named |= 1 << i
		f, v := &s.fields[i], it.Value()
		if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && f.leavesOut() {
			continue
		}
		seen |= 1 << i
		if !f.set(unsafe.Add(base, f.offset), v) {
			return f.wrong(prefix, v)
		}
		if f.nonneg && v.SafeInt64() < 0 {
			return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= 0, actual value '%d'", f.name, v.SafeInt64())
		}
	}
	for i := range s.fields {
		if s.fields[i].required && seen&(1<<i) == 0 {
			return mongoerr.MissingField(prefix + "." + s.fields[i].name)
		}
	}
	return nil
}

// WrongType is the error (TypeMismatch, 14) for the field prefix.name, whose value v
// has none of the types that are accepted. types is one type or a list like
// [NumberTypes], as the message shows it.
func WrongType(prefix, name string, v value.Value, types string) error {
	if strings.Contains(types, ",") {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", prefix, name, v.Kind(), types)
	}
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", prefix, name, v.Kind(), types)
}

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

// argSetters maps the Go type of an argument to how it is read, and to the
// types that the error message names.
var argSetters = map[reflect.Type]struct {
	set   func(unsafe.Pointer, value.Value) bool
	types string
}{
	reflect.TypeFor[value.Value](): {func(p unsafe.Pointer, v value.Value) bool { *(*value.Value)(p) = v; return true }, ""},
	reflect.TypeFor[value.Doc](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*value.Doc)(p) = v.Doc()
		return v.Kind() == value.KindDocument
	}, "object"},
	reflect.TypeFor[Array](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*Array)(p) = Array(v.Doc())
		return v.Kind() == value.KindArray
	}, "array"},
	reflect.TypeFor[string](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*string)(p) = strings.Clone(v.Str())
		return v.Kind() == value.KindString
	}, "string"},
	reflect.TypeFor[*string](): {func(p unsafe.Pointer, v value.Value) bool {
		text := strings.Clone(v.Str())
		*(**string)(p) = &text
		return v.Kind() == value.KindString
	}, "string"},
	reflect.TypeFor[bool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*bool)(p) = v.Bool()
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[StrictBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*StrictBool)(p) = StrictBool(v.Bool())
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[*StrictBool](): {func(p unsafe.Pointer, v value.Value) bool {
		b := StrictBool(v.Bool())
		*(**StrictBool)(p) = &b
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[Flag](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*Flag)(p) = flagOff
		if v.Bool() {
			*(*Flag)(p) = flagOn
		}
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[LooseBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*bool)(p) = v.Truthy()
		return v.IsNumber() || v.Kind() == value.KindBool
	}, BoolTypes},
	reflect.TypeFor[*bool](): {func(p unsafe.Pointer, v value.Value) bool {
		b := v.Truthy()
		*(**bool)(p) = &b
		return v.IsNumber() || v.Kind() == value.KindBool
	}, BoolTypes},
	reflect.TypeFor[int64](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*int64)(p) = v.SafeInt64()
		return v.IsNumber()
	}, NumberTypes},
	reflect.TypeFor[UUID](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*UUID)(p) = UUID(v)
		return IsUUID(v)
	}, uuidType},
	reflect.TypeFor[AnyBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*bool)(p) = v.Truthy()
		return true
	}, ""},
	reflect.TypeFor[*IntOnly](): {func(p unsafe.Pointer, v value.Value) bool {
		n := IntOnly(v.Int32())
		*(**IntOnly)(p) = &n
		return v.Kind() == value.KindInt32
	}, "int"},
	reflect.TypeFor[LongOnly](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*int64)(p) = v.Int64()
		return v.Kind() == value.KindInt64
	}, "long"},
	reflect.TypeFor[*int64](): {func(p unsafe.Pointer, v value.Value) bool {
		n := v.SafeInt64()
		*(**int64)(p) = &n
		return v.IsNumber()
	}, NumberTypes},
	reflect.TypeFor[float64](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*float64)(p) = v.AsDouble()
		return v.IsNumber()
	}, NumberTypes},
}

func argSetter(t reflect.Type) (func(unsafe.Pointer, value.Value) bool, string) {
	s := argSetters[t]
	return s.set, s.types
}

// ArrayDocs returns the documents of an array argument, as "users" of
// killAllSessions. As in mongod's IDL parser, nulls are skipped.
func ArrayDocs(command, name string, a Array) ([]value.Doc, error) {
	var out []value.Doc
	i := 0
	for v := range value.Doc(a).Values() {
		if k := v.Kind(); k == value.KindNull || k == value.KindUndefined {
			i++
			continue
		}
		if v.Kind() != value.KindDocument {
			return nil, WrongType(command, fmt.Sprintf("%s.%d", name, i), v, "object")
		}
		out = append(out, v.Doc())
		i++
	}
	return out, nil
}

// TypeError is the error (TypeMismatch, 14) for the field of that full name, whose
// value v is not of the type want.
func TypeError(field string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, v.Kind(), want)
}
