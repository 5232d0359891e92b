package expr

import (
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// constant is a value known at compile time.
type constant struct{ v value.Value }

func (c constant) eval(*Env) (value.Value, error) { return c.v, nil }
func (c constant) deps(*depSink)                  {}

func (c constant) serial() value.Value {
	if c.v.IsMissing() {
		return value.String("$$REMOVE")
	}
	return value.Document(value.NewDoc("$const", c.v))
}

// source says where a field path starts.
type source byte

const (
	sourceRoot source = iota
	sourceSlot
	sourceNow
	sourceClusterTime
	sourceUserRoles
	sourceSearchMeta
)

// fieldPath reads a path from the document or from a variable.
type fieldPath struct {
	source source
	slot   int32
	name   string // the name of the variable, for serial
	parts  []string
}

func (f *fieldPath) eval(env *Env) (value.Value, error) {
	switch f.source {
	case sourceRoot:
		if len(f.parts) == 0 {
			return value.Document(env.root), nil
		}
		return walk(env.root, f.parts), env.weigh(len(env.root))
	case sourceSlot:
		v := env.Get(int(f.slot))
		if len(f.parts) == 0 {
			return v, nil
		}
		return walkValue(v, f.parts), env.weigh(len(v.Bytes()))
	}
	v, err := f.system(env)
	return walkValue(v, f.parts), err
}

// system returns the value of a system variable.
func (f *fieldPath) system(env *Env) (value.Value, error) {
	v := env.UserRoles
	switch f.source {
	case sourceNow:
		if v = value.DateTime(env.Now); env.Bare {
			v = value.Value{}
		}
	case sourceClusterTime:
		if v = env.ClusterTime; env.Bare {
			v = value.Value{}
		}
	case sourceSearchMeta:
		return env.SearchMeta, nil
	}
	if v.IsMissing() {
		return v, mongoerr.Newf(51144, "Builtin variable '$$%s' is not available", f.name)
	}
	return v, nil
}

// deps reports the path, the variable or the whole document.
func (f *fieldPath) deps(d *depSink) {
	switch {
	case f.source == sourceSlot:
		if d.slot != nil {
			d.slot(int(f.slot))
		}
	case f.source != sourceRoot:
	case len(f.parts) == 0:
		if d.whole != nil {
			d.whole()
		}
	default:
		if d.add != nil {
			d.add(strings.Join(f.parts, "."))
		}
	}
}

func (f *fieldPath) serial() value.Value {
	if f.source == sourceRoot && len(f.parts) > 0 {
		return value.String("$" + strings.Join(f.parts, "."))
	}
	return value.String("$$" + strings.Join(append([]string{f.name}, f.parts...), "."))
}

func walkValue(v value.Value, parts []string) value.Value {
	if len(parts) == 0 {
		return v
	}
	switch v.Kind() {
	case value.KindDocument:
		return walk(v.Doc(), parts)
	case value.KindArray:
		return walkArray(v.Doc(), parts)
	}
	return value.Value{}
}

// walk follows a path through documents; an array on the way maps the rest of
// the path over its elements. Names of digits are field names, never array
// positions.
func walk(d value.Doc, parts []string) value.Value {
	v := d.Lookup(parts[0])
	return walkValue(v, parts[1:])
}

func walkArray(a value.Doc, parts []string) value.Value {
	var out value.ArrayBuilder
	it := a.Iter()
	for it.Next() {
		if it.Kind() != value.KindDocument {
			continue
		}
		if v := walk(it.Value().Doc(), parts); !v.IsMissing() {
			out.Append(v)
		}
	}
	return out.Value()
}

// part evaluates a part of a literal document or array.
func part(env *Env, n node) (value.Value, error) {
	v, err := n.eval(env)
	if err == nil {
		err = env.tick()
	}
	if err == nil {
		err = CheckDepth(v, value.MaxDepth-1)
	}
	return v, err
}

// object is a literal document with computed fields.
type object struct {
	names  []string
	values []node
}

// eval builds the document; fields with missing values are left out.
func (o *object) eval(env *Env) (value.Value, error) {
	var b value.Builder
	b.Reset(make([]byte, 0, 64))
	before := env.held
	for i, n := range o.values {
		v, err := part(env, n)
		if err != nil {
			return value.Value{}, err
		}
		b.Append(o.names[i], v)
		if err := env.copied(before, b.Len()); err != nil {
			return value.Value{}, err
		}
	}
	return value.Document(b.Doc()), nil
}

func (o *object) deps(d *depSink) { depsAll(o.values, d) }

func (o *object) serial() value.Value {
	b := value.NewBuilder()
	for i, n := range o.values {
		b.Append(o.names[i], n.serial())
	}
	return value.Document(b.Doc())
}

// array is a literal array with computed elements; a missing one is null.
type array struct{ elems []node }

func (a *array) eval(env *Env) (value.Value, error) {
	var out value.ArrayBuilder
	before := env.held
	for _, n := range a.elems {
		v, err := part(env, n)
		if err != nil {
			return value.Value{}, err
		}
		out.Append(v)
		if err := env.copied(before, out.Size()); err != nil {
			return value.Value{}, err
		}
	}
	return out.Value(), nil
}

func (a *array) deps(d *depSink) { depsAll(a.elems, d) }

func (a *array) serial() value.Value { return serialAll(a.elems) }

func serialAll(ns []node) value.Value {
	var out value.ArrayBuilder
	for _, n := range ns {
		out.Append(n.serial())
	}
	return out.Value()
}

func depsAll(ns []node, d *depSink) {
	for _, n := range ns {
		if n != nil {
			n.deps(d)
		}
	}
}

// call applies an operator of the table to its arguments. Named arguments are
// in the order of op.params, nil if they were not given.
type call struct {
	op   *operator
	args []node
	data any // prepared by the operator at compile time

	dialect dialect.Dialect // as which it was compiled
}

// eval accounts for the memory as held does. With an error there is no value, whatever the
// operator returned.
func (c *call) eval(env *Env) (value.Value, error) {
	before := env.held
	v, err := c.op.eval(c, env)
	if err != nil {
		return value.Value{}, err
	}
	if env.held != before {
		v = env.release(before, v)
	}
	return v, env.weigh(len(v.Bytes()))
}

func (c *call) deps(d *depSink) {
	if c.op.volatile && d.volatile != nil {
		d.volatile()
	}
	depsAll(c.args, d)
}

func (c *call) serial() value.Value {
	if c.op.params == nil {
		return value.Document(value.NewDoc(c.op.name, serialAll(c.args)))
	}
	b := value.NewBuilder()
	for i, n := range c.args {
		if n != nil {
			b.Append(c.op.params[i].name, n.serial())
		}
	}
	return value.Document(value.NewDoc(c.op.name, value.Document(b.Doc())))
}

// arg evaluates the i-th argument; an argument that was not given is Missing.
func (c *call) arg(env *Env, i int) (value.Value, error) {
	if c.args[i] == nil {
		return value.Value{}, nil
	}
	return c.args[i].eval(env)
}

// given reports whether a named argument was given.
func (c *call) given(i int) bool { return c.args[i] != nil }
