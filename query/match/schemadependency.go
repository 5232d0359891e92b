package match

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// dependency is one entry of dependencies: where the field exists, so do
// others, or the whole document satisfies a schema.
type dependency struct {
	name   string
	names  []string
	schema *schema
}

// dependenciesRule is dependencies.
type dependenciesRule struct {
	named
	list []dependency
}

// holds reports whether v satisfies the dependency; find finds its fields.
func (d dependency) holds(env *expr.Env, v value.Value, find func(string) (value.Value, bool)) (bool, error) {
	_, ok := find(d.name)
	switch {
	case !ok:
		return true, nil
	case d.schema != nil:
		return d.schema.holds(env, v)
	}
	return len(missingIn(d.names, find)) == 0, nil
}

func (r *dependenciesRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindDocument {
		return true, nil
	}
	find := fieldsOf(v.Doc(), len(r.list))
	for _, d := range r.list {
		if ok, err := d.holds(env, v, find); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// explain lists the dependencies that fail, with their missing fields or the
// rules of their schemas.
func (r *dependenciesRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	b.StartArray("failingDependencies")
	find := fieldsOf(v.Doc(), len(r.list))
	for _, d := range r.list {
		if ok, err := d.holds(env, v, find); ok || err != nil {
			continue
		}
		b.StartDocument("").String("conditionalProperty", d.name)
		if d.schema != nil {
			d.schema.explainRules(env, b, "details", v)
		} else {
			appendNames(b, "missingProperties", missingNames(d.names, v.Doc()))
		}
		b.End()
	}
	b.End()
}

// parseDependencies parses dependencies: for each field a list of names or a
// schema.
func parseDependencies(s *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err != nil {
		return err
	}
	r := &dependenciesRule{named: named{k}}
	for name, v := range d.All() {
		dep := dependency{name: name}
		switch v.Kind() {
		case value.KindDocument:
			if dep.schema, err = parseSchema(v.Doc()); err != nil {
				return err
			}
		case value.KindArray:
			if dep.names, err = dependencyNames(k, name, v.Doc()); err != nil {
				return err
			}
		default:
			return k.fails(mongoerr.TypeMismatch,
				"requires each dependency to be an object or an array. Element with name '"+name+"' is of type "+v.Kind().String())
		}
		r.list = append(r.list, dep)
	}
	s.rules = append(s.rules, r)
	return nil
}

// dependencyNames reads a list of field names, which must be distinct strings.
func dependencyNames(k keyword, name string, list value.Doc) (names []string, err error) {
	if list.IsEmpty() {
		return nil, mongoerr.Newf(mongoerr.FailedToParse,
			"Property '%s' in $jsonSchema keyword 'dependencies' cannot be an empty array", name)
	}
	for v := range list.Values() {
		if v.Kind() != value.KindString {
			return nil, k.fails(mongoerr.TypeMismatch,
				"requires each element of the array in property '"+name+"' to be a string")
		}
		if slices.Contains(names, v.Str()) {
			return nil, mongoerr.Newf(mongoerr.FailedToParse,
				"Property '%s' in $jsonSchema keyword 'dependencies' cannot have duplicate values", name)
		}
		names = append(names, v.Str())
	}
	return names, nil
}
