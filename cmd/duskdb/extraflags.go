package main

import (
	"fmt"
	"reflect"
	"slices"
)

// extraFlags are the flags of mongod that have no field in serveCmd: those
// that set a parameter, have no effect or are refused. Their struct is built
// from the table of options.
type extraFlags struct {
	options []*option
	fields  reflect.Value // a struct with a pointer for each option
}

// kindTypes are the types of the fields; nil: the flag is not given.
var kindTypes = map[kind]reflect.Type{
	boolean: reflect.TypeFor[*bool](), integer: reflect.TypeFor[*int64](), number: reflect.TypeFor[*float64](),
	text: reflect.TypeFor[*string](), list: reflect.TypeFor[[]string](),
}

// newExtraFlags makes the flags that are not in known.
func newExtraFlags(known []string) *extraFlags {
	e := &extraFlags{}
	var fields []reflect.StructField
	for i := range mongodOptions {
		o := &mongodOptions[i]
		if o.flag == "" || slices.Contains(known, o.flag) {
			continue
		}
		e.options = append(e.options, o)
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Flag%d", i), Type: kindTypes[o.kind],
			Tag: reflect.StructTag(fmt.Sprintf(`name:%q env:"-" hidden:"" help:%q`, o.flag, o.note)),
		})
	}
	e.fields = reflect.New(reflect.StructOf(fields))
	return e
}

// apply writes the flags that set parameters, and returns those without effect.
// A flag that is refused is an error.
func (e *extraFlags) apply(params map[string]string) (without []string, err error) {
	for i, o := range e.options {
		f := e.fields.Elem().Field(i)
		if f.IsNil() {
			continue
		}
		switch {
		case o.use == refused:
			return nil, usageError{fmt.Errorf("--%s is not supported: %s", o.flag, o.note)}
		case o.parameter != "":
			if _, given := params[o.parameter]; !given {
				params[o.parameter] = fmt.Sprint(f.Elem().Interface())
			}
		default:
			without = append(without, "--"+o.flag)
		}
	}
	return without, nil
}
