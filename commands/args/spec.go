package args

import (
	"reflect"
	"strings"

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

// Spec decodes the arguments of one command. It is not generic: its methods and the
// descriptions of its type would be in the program once for each command.
type Spec struct {
	Command string       // the name of the command, with which messages begin
	args    reflect.Type // the struct that declares the arguments
	fields  []field
	index   map[string]int // position in fields, by name
	lenient bool           // unknown fields are allowed, as for hello
}

// field is a declared argument.
type field struct {
	name     string
	position int // the index of the field in the Go struct
	fieldType
	required bool
	nonneg   bool   // a number that must not be negative
	any      bool   // whether every type is accepted, null too
	own      string // the message if mongod reads the field by code of its own, which refuses null
}

// maxFields is how many arguments a command can have: while it is decoded, each
// has a bit in a word.
const maxFields = 64

// New makes the decoder of a command from the tags of T. It panics when a field has a
// type that no argument can have, or when there are too many of them: mistakes in the
// program, found at start-up.
func New[T any](command string) *Spec { return newSpec(command, reflect.TypeFor[T]()) }

func newSpec(command string, t reflect.Type) *Spec {
	s := &Spec{Command: command, args: t, index: map[string]int{}}
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("arg")
		if !ok {
			continue
		}
		f, ok := newField(t.Field(i).Type, tag)
		if !ok {
			panic("commands: argument type of " + command + "." + f.name)
		}
		f.position = i
		s.index[f.name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
	if len(s.fields) > maxFields {
		panic("commands: " + command + " has more than 64 arguments")
	}
	return s
}

func newField(t reflect.Type, tag string) (f field, ok bool) {
	name, options, _ := strings.Cut(tag, ",")
	f.name = name
	f.fieldType, ok = fieldTypes[t]
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "required":
			f.required = true
		case "nonneg":
			f.nonneg = true
		case "own":
			f.own = ownMessages[f.bson]
		case "any":
			f.any = true
		}
	}
	return f, ok
}

// Lenient makes the decoder ignore unknown fields, as mongod does for commands like
// hello, and returns s.
func (s *Spec) Lenient() *Spec {
	s.lenient = true
	return s
}

// Decode reads the command document into dst, a pointer to a struct of the type that the
// Spec was made from. It refuses unknown fields (40415), repeated ones (40413), wrong
// types (14) and missing required fields (40414).
func (s *Spec) Decode(body value.Doc, dst any) error {
	return s.DecodeAs(s.Command, body, dst, true)
}

// DecodeNested reads an embedded document, which has no generic arguments; prefix is
// how messages name it ("update.updates").
func (s *Spec) DecodeNested(prefix string, d value.Doc, dst any) error {
	return s.DecodeAs(prefix, d, dst, false)
}

// Declares reports whether the command has an argument of that name, besides the generic ones.
func (s *Spec) Declares(name string) bool {
	_, ok := s.index[name]
	return ok
}

// DecodeAs is Decode for a document that messages name prefix; generic reports
// whether generic arguments are accepted.
func (s *Spec) DecodeAs(prefix string, body value.Doc, dst any, generic bool) error {
	args := reflect.ValueOf(dst).Elem()
	if args.Type() != s.args {
		panic("commands: the arguments of " + s.Command + " are not those of " + args.Type().String())
	}
	// A null that counts as absent still counts as a repeated field: authorization
	// must not depend on which of two fields is read.
	var given, named uint64
	it := body.Iter()
	for it.Next() {
		i, ok := s.index[it.Key()]
		if !ok {
			if s.lenient || generic && IsGeneric(it.Key()) {
				continue
			}
			return mongoerr.UnknownField(prefix + "." + it.Key())
		}
		if named&(1<<i) != 0 {
			return mongoerr.DuplicateField(prefix + "." + it.Key())
		}
		named |= 1 << i
		f, v := &s.fields[i], it.Value()
		if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && f.skipsNull() {
			continue
		}
		given |= 1 << i
		if !f.set(args.Field(f.position).Addr().Interface(), v) {
			return f.wrongType(prefix, v)
		}
		if f.nonneg && v.SafeInt64() < 0 {
			return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= 0, actual value '%d'", f.name, v.SafeInt64())
		}
	}
	for i := range s.fields {
		if s.fields[i].required && given&(1<<i) == 0 {
			return mongoerr.MissingField(prefix + "." + s.fields[i].name)
		}
	}
	return nil
}

// skipsNull reports whether null counts as absent, as in mongod's IDL parser. It does not
// in fields that mongod reads by code of their own, and in required fields of any type,
// like the collection name of a command.
func (f *field) skipsNull() bool {
	return f.own == "" && !f.any && (!f.required || f.bson != "")
}

// ownMessages are the messages of fields that mongod reads by code of their own, by the type
// of the field. They may show its name and the type that was found.
var ownMessages = map[string]string{
	"object": "Expected field %sto be of type object", // sic, without a space
	"bool":   "Field '%s' should be a boolean value, but found: %s",
	"array":  "A pipeline must be an array of objects",
}

// wrongType is the error for a value of a type that the field does not take.
func (f *field) wrongType(prefix string, v value.Value) error {
	switch {
	case f.bson == uuidType:
		return WrongUUID(prefix+"."+f.name, v)
	case f.own == "":
		return WrongType(prefix, f.name, v, f.bson)
	}
	shown := []any{f.name, v.Kind()}
	return mongoerr.Newf(mongoerr.TypeMismatch, f.own, shown[:strings.Count(f.own, "%s")]...)
}
