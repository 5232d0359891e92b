package expr

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// fieldList builds a document by setting fields: a repeated name keeps its
// place and gets the new value.
type fieldList struct {
	names  []string
	values []value.Value
	index  map[string]int
}

func (f *fieldList) set(name string, v value.Value) {
	if f.index == nil {
		f.index = make(map[string]int)
	}
	if i, ok := f.index[name]; ok {
		f.values[i] = v
		return
	}
	f.index[name] = len(f.names)
	f.names, f.values = append(f.names, name), append(f.values, v)
}

func (f *fieldList) doc() value.Value {
	var b value.Builder
	b.Reset(make([]byte, 0, 64))
	for i, name := range f.names {
		b.Append(name, f.values[i])
	}
	return value.Document(b.Doc())
}

// evalMergeObjects is an accumulator, too: a single array gives its elements.
func evalMergeObjects(c *call, env *Env) (value.Value, error) {
	var f fieldList
	var failed error
	err := eachValue(c, env, func(v value.Value) {
		switch {
		case v.IsNullish() || failed != nil:
		case v.Kind() != value.KindDocument:
			failed = mongoerr.Newf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", v.Compact(), v.Kind())
		default:
			for name, e := range v.Doc().All() {
				if failed = env.tick(); failed != nil {
					return
				}
				f.set(name, e)
			}
		}
	})
	if err == nil {
		err = failed
	}
	return f.doc(), err
}

func evalObjectToArray(c *call, env *Env) (value.Value, error) {
	v, null, err := ofKind(c.args[0], env, value.KindDocument, 40390, "$objectToArray requires a document input, found: %s")
	if null || err != nil {
		return value.Null(), err
	}
	var out value.ArrayBuilder
	for name, e := range v.Doc().All() {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		out.Append(value.Document(value.NewDoc("k", value.String(name), "v", e)))
	}
	return out.Value(), nil
}

// evalArrayToObject evaluates $arrayToObject for pairs of either form; all
// must have the form of the first.
func evalArrayToObject(c *call, env *Env) (value.Value, error) {
	v, null, err := ofKind(c.args[0], env, value.KindArray, 40386, "$arrayToObject requires an array input, found: %s")
	if null || err != nil {
		return value.Null(), err
	}
	var f fieldList
	var pairs bool
	for i, e := range elements(v) {
		if err := env.tick(); err != nil {
			return value.Value{}, err
		}
		if i == 0 {
			if pairs = e.Kind() == value.KindArray; !pairs && e.Kind() != value.KindDocument {
				return value.Value{}, mongoerr.Newf(40398, "Unrecognised input type format for $arrayToObject: %s", e.Kind())
			}
		}
		add := f.addObject
		if pairs {
			add = f.addPair
		}
		if err := add(e); err != nil {
			return value.Value{}, err
		}
	}
	return f.doc(), nil
}

// addPair takes [name, value].
func (f *fieldList) addPair(e value.Value) error {
	if e.Kind() != value.KindArray {
		// sic: mongod
		return mongoerr.Newf(40396, "$arrayToObject requires a consistent input format. Elements must"+
			"all be arrays or all be objects. Array was detected, now found: %s", e.Kind())
	}
	if n := e.Doc().Len(); n != 2 {
		return mongoerr.Newf(40397, "$arrayToObject requires an array of size 2 arrays,found array of size: %d", n)
	}
	k := e.Doc().Index(0)
	if k.Kind() != value.KindString {
		return mongoerr.Newf(40395, "$arrayToObject requires an array of key-value pairs, where "+
			"the key must be of type string. Found key type: %s", k.Kind())
	}
	if strings.IndexByte(k.Str(), 0) >= 0 {
		return mongoerr.New(4940400, "Key field cannot contain an embedded null byte")
	}
	f.set(k.Str(), e.Doc().Index(1))
	return nil
}

// addObject takes {k: name, v: value}.
func (f *fieldList) addObject(e value.Value) error {
	if e.Kind() != value.KindDocument {
		// sic: mongod
		return mongoerr.Newf(40391, "$arrayToObject requires a consistent input format. Elements must"+
			"all be arrays or all be objects. Object was detected, now found: %s", e.Kind())
	}
	if n := e.Doc().Len(); n != 2 {
		return mongoerr.Newf(40392, "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:%d", n)
	}
	k, v := e.Doc().Lookup("k"), e.Doc().Lookup("v")
	if k.IsMissing() || v.IsMissing() {
		return mongoerr.Newf(40393, "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: %s", e.Compact())
	}
	if k.Kind() != value.KindString {
		return mongoerr.Newf(40394, "$arrayToObject requires an object with keys 'k' and 'v', where "+
			"the value of 'k' must be of type string. Found type: %s", k.Kind())
	}
	if strings.IndexByte(k.Str(), 0) >= 0 {
		return mongoerr.New(4940401, "Key field cannot contain an embedded null byte")
	}
	f.set(k.Str(), v)
	return nil
}

// parseGetField compiles {$getField: {field, input}} and the short form
// {$getField: field}, whose input is the current document.
func parseGetField(p *parser, op *operator, v value.Value) (node, error) {
	field, input := v, value.String("$$CURRENT")
	if first, _ := v.Doc().First(); v.Kind() == value.KindDocument && !strings.HasPrefix(first, "$") {
		f, err := op.fields(v)
		if err != nil {
			return nil, err
		}
		field, input = f[0], f[1]
	}
	name, err := p.operand(field)
	if err != nil {
		return nil, err
	}
	if c, ok := name.(constant); ok && c.v.Kind() != value.KindString {
		return nil, fieldNotString(3041704, "$getField", c.v)
	}
	in, err := p.operand(input)
	if err != nil {
		return nil, err
	}
	return p.finish(p.call(op, name, in))
}

func fieldNotString(code mongoerr.Code, op string, v value.Value) error {
	return mongoerr.Newf(code, "%s requires 'field' to evaluate to type String, but got %s", op, v.Kind())
}

func evalGetField(c *call, env *Env) (value.Value, error) {
	name, in, err := two(c, env)
	switch {
	case err != nil:
		return value.Value{}, err
	case name.Kind() != value.KindString:
		return value.Value{}, fieldNotString(3041704, "$getField", name)
	case in.Kind() == value.KindDocument:
		return in.Doc().Lookup(name.Str()), nil
	case in.IsNullish() && !in.IsMissing():
		return value.Null(), nil
	}
	return value.Value{}, nil
}

// parseSetField compiles $setField and $unsetField, whose field must be a
// constant.
func parseSetField(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, op.notObject(v)
	}
	args, err := p.named(op, v)
	if err != nil {
		return nil, setFieldLacks(op, v.Doc(), err)
	}
	field := v.Doc().Lookup("field")
	if field.Kind() == value.KindString && strings.HasPrefix(field.Str(), "$") {
		return nil, mongoerr.Newf(4161108, "'%s' is a field path reference which is not allowed in this context."+
			" Did you mean {$literal: '%s'}?", field.Str(), field.Str())
	}
	name, ok := args[0].(constant)
	if !ok || !isPlain(field) {
		return nil, mongoerr.Newf(4161106, "%s requires 'field' to evaluate to a constant, but got a non-constant argument", op.name)
	}
	if name.v.Kind() != value.KindString {
		return nil, fieldNotString(4161107, op.name, name.v)
	}
	if strings.IndexByte(name.v.Str(), 0) >= 0 {
		return nil, mongoerr.Newf(9534700, "%s: 'field' cannot contain an embedded null byte", op.name)
	}
	return p.finish(p.call(op, args...))
}

// isPlain reports whether an operand is a literal constant.
func isPlain(v value.Value) bool {
	name, _ := v.Doc().First()
	switch v.Kind() {
	case value.KindArray:
		return false
	case value.KindDocument:
		return name == "" || name == "$literal" || name == "$const"
	}
	return true
}

// setFieldLacks returns the error of an incomplete $setField. If both value
// and input are missing, it names value.
func setFieldLacks(op *operator, d value.Doc, err error) error {
	if value := op.params[len(op.params)-1]; mongoerr.CodeOf(err) == 4161109 && value.name == "value" && !d.Has(value.name) {
		return op.missingParam(value)
	}
	return err
}

// evalSetField sets a field of any name, or removes it if the value is
// missing, as it always is for $unsetField.
func evalSetField(c *call, env *Env) (value.Value, error) {
	in, err := c.args[1].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if in.IsNullish() {
		return value.Null(), nil
	}
	if in.Kind() != value.KindDocument {
		return value.Value{}, mongoerr.Newf(4161105, "%s requires 'input' to evaluate to type Object", c.op.name)
	}
	var v value.Value
	if len(c.args) == 3 {
		if v, err = c.args[2].eval(env); err != nil {
			return value.Value{}, err
		}
	}
	if err := checkSize(len(in.Bytes()) + len(v.Bytes())); err != nil {
		return value.Value{}, err
	}
	name := c.args[0].(constant).v.Str()
	var b value.Builder
	b.Reset(make([]byte, 0, len(in.Doc())+len(name)+32))
	found := false
	it := in.Doc().Iter()
	for it.Next() {
		if it.Key() != name {
			b.Raw(it.Element())
		} else if !found {
			found = true
			b.Append(name, v)
		}
	}
	if !found {
		b.Append(name, v)
	}
	return value.Document(b.Doc()), nil
}
