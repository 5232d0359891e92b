package args

import (
	"reflect"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// decoder is a [Spec] without the type of its arguments.
type decoder struct {
	Command string // the name of the command, with which messages begin
	fields  []field
	index   map[string]int // position in fields, by name
	lenient bool           // unknown fields are allowed, as for hello
	pool    sync.Pool      // of pointers to structs that were given back
}

// field is a declared argument.
type field struct {
	name     string
	position int // of the field in the Go struct
	fieldType
	required bool
	nonneg   bool   // a number that must not be negative
	any      bool   // of any type, null too
	own      string // the message if mongod reads the field by code of its own, which refuses null
}

// maxFields is how many arguments a command can have: while it is decoded, each
// has a bit in a word.
const maxFields = 64

func newDecoder(command string, t reflect.Type) *decoder {
	d := &decoder{Command: command, index: map[string]int{}}
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
		d.index[f.name] = len(d.fields)
		d.fields = append(d.fields, f)
	}
	if len(d.fields) > maxFields {
		panic("commands: " + command + " has more than 64 arguments")
	}
	return d
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

// Declares reports whether the command has an argument of that name, besides the generic ones.
func (d *decoder) Declares(name string) bool {
	_, ok := d.index[name]
	return ok
}

// decode reads body into dst, a pointer to a struct of the decoder's type.
func (d *decoder) decode(prefix string, body value.Doc, dst any, generic bool) error {
	args := reflect.ValueOf(dst).Elem()
	// A null that counts as absent still counts as a repeated field: authorization
	// must not depend on which of two fields is read.
	var given, named uint64
	it := body.Iter()
	for it.Next() {
		i, ok := d.index[it.Key()]
		if !ok {
			if d.lenient || generic && IsGeneric(it.Key()) {
				continue
			}
			return mongoerr.UnknownField(prefix + "." + it.Key())
		}
		if named&(1<<i) != 0 {
			return mongoerr.DuplicateField(prefix + "." + it.Key())
		}
		named |= 1 << i
		f, v := &d.fields[i], it.Value()
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
	for i := range d.fields {
		if d.fields[i].required && given&(1<<i) == 0 {
			return mongoerr.MissingField(prefix + "." + d.fields[i].name)
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
	"array":  "'%s' option must be specified as an array",
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
