package match

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// property is the schema of one field.
type property struct {
	name   string
	schema *schema
}

// propertiesRule is properties: fields that exist satisfy their schemas.
type propertiesRule struct {
	named
	properties []property
}

// manyNames is the number of names from which on a map of the fields of a document costs less
// than a search for each name.
const manyNames = 32

// fieldsOf returns the function that finds fields of a document, for a rule with n names.
func fieldsOf(d value.Doc, n int) func(name string) (value.Value, bool) {
	if n < manyNames {
		return d.Get
	}
	fields := make(map[string]value.Value, n)
	for name, v := range d.All() {
		if _, twice := fields[name]; !twice {
			fields[name] = v
		}
	}
	return func(name string) (value.Value, bool) {
		v, ok := fields[name]
		return v, ok
	}
}

// holds checks the schema of each property that exists.
func (r *propertiesRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindDocument {
		return true, nil
	}
	find := fieldsOf(v.Doc(), len(r.properties))
	for _, p := range r.properties {
		field, ok := find(p.name)
		if !ok {
			continue
		}
		if ok, err := p.schema.holds(env, field); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// explain lists the properties that do not satisfy their schemas.
func (r *propertiesRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	b.StartArray("propertiesNotSatisfied")
	for _, p := range r.properties {
		field, ok := v.Doc().Get(p.name)
		if !ok {
			continue
		}
		if ok, err := p.schema.holds(env, field); ok || err != nil {
			continue
		}
		b.StartDocument("").String("propertyName", p.name)
		p.schema.explainTitle(b)
		p.schema.explainRules(env, b, "details", field)
		b.End()
	}
	b.End()
}

// parseProperties parses properties: a schema for each field.
func parseProperties(s *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err != nil {
		return err
	}
	r := &propertiesRule{named: named{k}}
	for name, v := range d.All() {
		if v.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.TypeMismatch, "Nested schema for $jsonSchema property '%s' must be an object", name)
		}
		sub, err := parseSchema(v.Doc())
		if err != nil {
			return err
		}
		r.properties = append(r.properties, property{name, sub})
	}
	s.rules = append(s.rules, r)
	return nil
}

// requiredRule is required.
type requiredRule struct {
	named
	names []string
}

func (r *requiredRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	return v.Kind() != value.KindDocument || len(missingNames(r.names, v.Doc())) == 0, nil
}

func missingNames(names []string, d value.Doc) (missing []string) {
	return missingIn(names, fieldsOf(d, len(names)))
}

func missingIn(names []string, find func(string) (value.Value, bool)) (missing []string) {
	for _, name := range names {
		if _, ok := find(name); !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

func (r *requiredRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "")
	appendNames(b, "missingProperties", missingNames(r.names, v.Doc()))
}

func appendNames(b *value.Builder, key string, names []string) {
	b.StartArray(key)
	for _, name := range names {
		b.String("", name)
	}
	b.End()
}

// parseRequired parses required: a non-empty list of distinct field names.
func parseRequired(s *schema, k keyword, _ value.Doc) error {
	list, err := k.array()
	if err != nil {
		return err
	}
	if list.IsEmpty() {
		return k.fails(mongoerr.FailedToParse, "cannot be an empty array")
	}
	r := &requiredRule{named: named{k}}
	seen := map[string]bool{}
	for v := range list.Values() {
		if v.Kind() != value.KindString {
			return k.mustBe("an array of strings, but found an element of type: " + v.Kind().String())
		}
		if seen[v.Str()] {
			return k.fails(mongoerr.FailedToParse, "array cannot contain duplicate values")
		}
		seen[v.Str()] = true
		r.names = append(r.names, v.Str())
	}
	s.rules = append(s.rules, r)
	return nil
}

// patternProperty is the schema of all fields whose name matches.
type patternProperty struct {
	pattern string
	find    finder
	schema  *schema
}

// patternPropertiesRule is patternProperties.
type patternPropertiesRule struct {
	named
	patterns []patternProperty
}

// failing calls yield with each field that breaks the schema of its name.
func (r *patternPropertiesRule) failing(env *expr.Env, v value.Value, yield func(name string, field value.Value, p patternProperty) bool) error {
	for name, field := range v.Doc().All() {
		for _, p := range r.patterns {
			named, err := p.find(env, name)
			if err != nil {
				return err
			}
			if !named {
				continue
			}
			ok, err := p.schema.holds(env, field)
			if err != nil || !ok && !yield(name, field, p) {
				return err
			}
		}
	}
	return nil
}

func (r *patternPropertiesRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindDocument {
		return true, nil
	}
	ok := true
	err := r.failing(env, v, func(string, value.Value, patternProperty) bool { ok = false; return false })
	return ok && err == nil, err
}

func (r *patternPropertiesRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	b.StartArray("details")
	_ = r.failing(env, v, func(name string, field value.Value, p patternProperty) bool {
		b.StartDocument("").String("propertyName", name)
		p.schema.explainTitle(b)
		b.String("regexMatched", p.pattern)
		p.schema.explainRules(env, b, "details", field)
		b.End()
		return true
	})
	b.End()
}

// parsePatternProperties parses patternProperties: regular expressions on
// field names, with schemas.
func parsePatternProperties(s *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err != nil {
		return err
	}
	r := &patternPropertiesRule{named: named{k}}
	for pattern, v := range d.All() {
		if v.Kind() != value.KindDocument {
			return k.fails(mongoerr.TypeMismatch, "has property '"+pattern+"' which is not an object")
		}
		sub, err := parseSchema(v.Doc())
		if err != nil {
			return err
		}
		find, _, err := compileRegex(pattern, "")
		if err != nil {
			return mongoerr.Newf(mongoerr.BadValue,
				"Invalid regular expression in $jsonSchema keyword 'patternProperties': %s", mongoerr.From(err).Message)
		}
		r.patterns = append(r.patterns, patternProperty{pattern, find, sub})
	}
	s.rules = append(s.rules, r)
	return nil
}

// additionalRule is additionalProperties: fields that neither properties nor
// patternProperties name satisfy a schema, or do not exist (nil).
type additionalRule struct {
	named
	known    map[string]bool
	patterns []finder
	schema   *schema
}

// failing calls yield with each additional field that is not allowed.
func (r *additionalRule) failing(env *expr.Env, v value.Value, yield func(name string, field value.Value) bool) error {
	for name, field := range v.Doc().All() {
		known, err := r.isKnown(env, name)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		ok := false
		if r.schema != nil {
			if ok, err = r.schema.holds(env, field); err != nil {
				return err
			}
		}
		if !ok && !yield(name, field) {
			return nil
		}
	}
	return nil
}

func (r *additionalRule) isKnown(env *expr.Env, name string) (bool, error) {
	if r.known[name] {
		return true, nil
	}
	for _, find := range r.patterns {
		if ok, err := find(env, name); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (r *additionalRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindDocument {
		return true, nil
	}
	ok := true
	err := r.failing(env, v, func(string, value.Value) bool { ok = false; return false })
	return ok && err == nil, err
}

// explain lists the additional fields that are not allowed, or the first one
// that does not satisfy the schema.
func (r *additionalRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	if r.schema == nil {
		r.specified(b, "")
		var names []string
		_ = r.failing(env, v, func(name string, _ value.Value) bool { names = append(names, name); return true })
		appendNames(b, "additionalProperties", names)
		return
	}
	b.String("reason", "at least one additional property did not match the subschema")
	_ = r.failing(env, v, func(name string, field value.Value) bool {
		b.String("failingProperty", name)
		r.schema.explainRules(env, b, "details", field)
		return false
	})
}

// parseAdditionalProperties parses additionalProperties: a boolean or a
// schema. It needs properties and patternProperties of the same schema.
func parseAdditionalProperties(s *schema, k keyword, whole value.Doc) error {
	r := &additionalRule{named: named{k}}
	switch k.v.Kind() {
	case value.KindBool:
		if k.v.Bool() {
			return nil
		}
	case value.KindDocument:
		sub, err := parseSchema(k.v.Doc())
		if err != nil {
			return err
		}
		r.schema = sub
	default:
		return k.mustBe("an object or a boolean")
	}
	r.known = map[string]bool{}
	for name := range whole.Lookup("properties").Doc().All() {
		r.known[strings.Clone(name)] = true
	}
	for pattern := range whole.Lookup("patternProperties").Doc().All() {
		find, _, err := compileRegex(pattern, "")
		if err != nil {
			return err
		}
		r.patterns = append(r.patterns, find)
	}
	s.rules = append(s.rules, r)
	return nil
}
