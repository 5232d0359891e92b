package commands

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/duskdb/duskdb/mongoerr"
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
//	var countSpec = newArgs[countArgs]("count")
//
// The tag is the field's name, optionally followed by ",required",
// ",nonneg" (a number that must not be negative), ",own" for what mongod reads
// by code of its own, with other messages, or ",any" for what takes any type and
// looks at it later: there null does not count as absent.
// The Go type decides which BSON types are accepted, as mongod's IDL does.
// The tags are read once, at start-up.

// argSpec decodes the arguments of one command into T.
type argSpec[T any] struct {
	command string
	fields  []argField
	index   map[string]int
	loose   bool // unknown fields are allowed, as for hello
	spare   sync.Pool
}

// borrow returns arguments to decode into. Who is sure that nobody holds them
// any more gives them back, as commands do that must cost little.
func (s *argSpec[T]) borrow() *T {
	if a, ok := s.spare.Get().(*T); ok {
		return a
	}
	return new(T)
}

func (s *argSpec[T]) giveBack(a *T) {
	var zero T
	*a = zero
	s.spare.Put(a)
}

// lenient makes the command take fields it does not know.
func (s *argSpec[T]) lenient() *argSpec[T] {
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
	refusal  string // what it says if mongod reads the field by code of its own, which takes no null
	offset   uintptr
}

// refusals are the messages of fields that are read by code of their own,
// where name and type may be in it.
var refusals = map[string]string{
	"object": "Expected field %sto be of type object", // without a space, as in mongod
	"bool":   "Field '%s' should be a boolean value, but found: %s",
	"array":  "'%s' option must be specified as an array",
}

// leavesOut reports whether null counts as absent, as in mongod's IDL parser: in
// all fields but those that are read by code of their own, and required ones
// that take any type, as the name of a collection that a command begins with.
func (f *argField) leavesOut() bool {
	return f.refusal == "" && !f.any && (!f.required || f.types != "")
}

// wrong is the error for a value of a type that the field does not take.
func (f *argField) wrong(prefix string, v value.Value) error {
	if f.refusal == "" {
		return wrongType(prefix, f.name, v, f.types)
	}
	said := []any{f.name, v.Kind()}
	return mongoerr.Newf(mongoerr.TypeMismatch, f.refusal, said[:strings.Count(f.refusal, "%s")]...)
}

// genericArgs are accepted by every command and read by the dispatcher.
var genericArgs = map[string]bool{
	"$db": true, "lsid": true, "txnNumber": true, "autocommit": true, "startTransaction": true,
	"readConcern": true, "writeConcern": true, "$clusterTime": true, "$readPreference": true,
	"maxTimeMS": true, "comment": true, "apiVersion": true, "apiStrict": true,
	"apiDeprecationErrors": true, "$audit": true, "$client": true, "$configServerState": true,
	"$configTime": true, "$topologyTime": true, "allowImplicitCollectionCreation": true,
	"shardVersion": true, "databaseVersion": true, "clientOperationKey": true, "help": true,
	"$queryOptions": true, "$oplogQueryData": true, "$replData": true, "stmtId": true, "stmtIds": true,
	"coordinator": true, "mayBypassWriteBlocking": true, "expectPrefix": true, "operationSessionInfo": true,
	"maxTimeMSOpOnly": true, "requestResponse": true, "serialization_context": true, "rawData": true,
	"originalQueryShapeHash": true, "querySettings": true, "usesDefaultMaxTimeMS": true,
}

func newArgs[T any](command string) *argSpec[T] {
	t := reflect.TypeFor[T]()
	s := &argSpec[T]{command: command, index: map[string]int{}}
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
		s.index[a.name] = len(s.fields)
		s.fields = append(s.fields, a)
	}
	return s
}

// decode reads the command document into dst and refuses what the
// declaration does not name.
func (s *argSpec[T]) decode(body value.Doc, dst *T) error {
	return s.decodeAs(s.command, body, dst, true)
}

// decodeNested reads an embedded document, where generic arguments have no
// place; prefix is how messages name it ("update.updates").
func (s *argSpec[T]) decodeNested(prefix string, d value.Doc, dst *T) error {
	return s.decodeAs(prefix, d, dst, false)
}

func (s *argSpec[T]) decodeAs(prefix string, body value.Doc, dst *T, generic bool) error {
	base := unsafe.Pointer(dst)
	// A null that counts as absent is a field all the same: what is asked of
	// the client's privileges must not depend on which of two is read.
	var seen, named uint64
	for it := body.Iter(); it.Next(); {
		i, ok := s.index[it.Key()]
		if !ok {
			if s.loose || generic && genericArgs[it.Key()] {
				continue
			}
			return mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", prefix, it.Key())
		}
		if named&(1<<i) != 0 {
			return mongoerr.Newf(40413, "BSON field '%s.%s' is a duplicate field", prefix, it.Key())
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
			return mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", prefix, s.fields[i].name)
		}
	}
	return nil
}

// checkBare refuses any field of a command that has no arguments but its name.
func (c *Call) checkBare() error {
	it := c.Body.Iter()
	for it.Next(); it.Next(); {
		if !genericArgs[it.Key()] {
			return mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", c.cmd.name, it.Key())
		}
	}
	return nil
}

func wrongType(prefix, name string, v value.Value, types string) error {
	if strings.Contains(types, ",") {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", prefix, name, v.Kind(), types)
	}
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", prefix, name, v.Kind(), types)
}

// array is an argument that must be an array.
type array value.Doc

// looseBool is a bool argument that also takes numbers (IDL safeBool).
type looseBool bool

// strictBool is a bool argument that takes nothing else; as a pointer it
// tells whether it was given.
type strictBool bool

// anyBool is an argument of any type that counts as a bool, as mongod's
// BSONElement::trueValue has it.
type anyBool bool

// intOnly is an argument that must be an int, no other number.
type intOnly int32

// longOnly is an argument that must be a long, no other number.
type longOnly int64

// flag is a strictBool that need not be given.
type flag uint8

const (
	flagAbsent flag = iota
	flagOff
	flagOn
)

// or is the flag, or what holds if it is not given.
func (f flag) or(otherwise bool) bool {
	if f == flagAbsent {
		return otherwise
	}
	return f == flagOn
}

const (
	numberTypes = "long, int, decimal, double"
	boolTypes   = "bool, long, int, decimal, double"
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
	reflect.TypeFor[array](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*array)(p) = array(v.Doc())
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
	reflect.TypeFor[strictBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*strictBool)(p) = strictBool(v.Bool())
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[*strictBool](): {func(p unsafe.Pointer, v value.Value) bool {
		b := strictBool(v.Bool())
		*(**strictBool)(p) = &b
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[flag](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*flag)(p) = flagOff
		if v.Bool() {
			*(*flag)(p) = flagOn
		}
		return v.Kind() == value.KindBool
	}, "bool"},
	reflect.TypeFor[looseBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*bool)(p) = v.Truthy()
		return v.IsNumber() || v.Kind() == value.KindBool
	}, boolTypes},
	reflect.TypeFor[*bool](): {func(p unsafe.Pointer, v value.Value) bool {
		b := v.Truthy()
		*(**bool)(p) = &b
		return v.IsNumber() || v.Kind() == value.KindBool
	}, boolTypes},
	reflect.TypeFor[int64](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*int64)(p) = v.SafeInt64()
		return v.IsNumber()
	}, numberTypes},
	reflect.TypeFor[uuidArg](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*uuidArg)(p) = uuidArg(v)
		return isUUID(v)
	}, "UUID"},
	reflect.TypeFor[anyBool](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*bool)(p) = v.Truthy()
		return true
	}, ""},
	reflect.TypeFor[*intOnly](): {func(p unsafe.Pointer, v value.Value) bool {
		n := intOnly(v.Int32())
		*(**intOnly)(p) = &n
		return v.Kind() == value.KindInt32
	}, "int"},
	reflect.TypeFor[longOnly](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*int64)(p) = v.Int64()
		return v.Kind() == value.KindInt64
	}, "long"},
	reflect.TypeFor[*int64](): {func(p unsafe.Pointer, v value.Value) bool {
		n := v.SafeInt64()
		*(**int64)(p) = &n
		return v.IsNumber()
	}, numberTypes},
	reflect.TypeFor[float64](): {func(p unsafe.Pointer, v value.Value) bool {
		*(*float64)(p) = v.AsDouble()
		return v.IsNumber()
	}, numberTypes},
}

func argSetter(t reflect.Type) (func(unsafe.Pointer, value.Value) bool, string) {
	s := argSetters[t]
	return s.set, s.types
}

// arrayDocs reads an array of documents, as "users" of killAllSessions. As in
// mongod's IDL parser, nulls are passed over.
func arrayDocs(command, name string, a array) ([]value.Doc, error) {
	var out []value.Doc
	i := 0
	for v := range value.Doc(a).Values() {
		if k := v.Kind(); k == value.KindNull || k == value.KindUndefined {
			i++
			continue
		}
		if v.Kind() != value.KindDocument {
			return nil, wrongType(command, fmt.Sprintf("%s.%d", name, i), v, "object")
		}
		out = append(out, v.Doc())
		i++
	}
	return out, nil
}
