package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// listRule is allOf, anyOf or oneOf.
type listRule struct {
	named
	schemas []*schema
}

func (r *listRule) holds(env *expr.Env, v value.Value) (bool, error) {
	matching, err := r.matching(env, v)
	if err != nil {
		return false, err
	}
	switch r.k.name {
	case "allOf":
		return len(matching) == len(r.schemas), nil
	case "anyOf":
		return len(matching) > 0, nil
	}
	return len(matching) == 1, nil
}

// matching lists the schemas that v satisfies.
func (r *listRule) matching(env *expr.Env, v value.Value) (indexes []int, err error) {
	for i, s := range r.schemas {
		ok, err := s.holds(env, v)
		if err != nil {
			return nil, err
		}
		if ok {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// explain lists the schemas that were not satisfied or, for oneOf, the ones
// that were satisfied in excess.
func (r *listRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	if matching, _ := r.matching(env, v); r.k.name == "oneOf" && len(matching) > 1 {
		b.String("reason", "more than one subschema matched").StartArray("matchingSchemaIndexes")
		for _, i := range matching {
			b.Int32("", int32(i))
		}
		b.End()
		return
	}
	b.StartArray("schemasNotSatisfied")
	for i, s := range r.schemas {
		if ok, err := s.holds(env, v); ok || err != nil {
			continue
		}
		b.StartDocument("").Int32("index", int32(i))
		s.explainTitle(b)
		s.explainRules(env, b, "details", v)
		b.End()
	}
	b.End()
}

// parseSchemaList parses allOf, anyOf and oneOf: a non-empty array of schemas.
func parseSchemaList(s *schema, k keyword, _ value.Doc) error {
	list, err := k.array()
	if err != nil {
		return err
	}
	if list.IsEmpty() {
		return k.fails(mongoerr.BadValue, "must be a non-empty array")
	}
	r := &listRule{named: named{k}}
	for v := range list.Values() {
		if v.Kind() != value.KindDocument {
			return k.mustBe("an array of objects, but found an element of type " + v.Kind().String())
		}
		sub, err := parseSchema(v.Doc())
		if err != nil {
			return err
		}
		r.schemas = append(r.schemas, sub)
	}
	s.rules = append(s.rules, r)
	return nil
}

// notRule is not.
type notRule struct {
	named
	schema *schema
}

func (r *notRule) holds(env *expr.Env, v value.Value) (bool, error) {
	ok, err := r.schema.holds(env, v)
	return !ok && err == nil, err
}

func (r *notRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	b.String("reason", "child expression matched")
}

func parseSchemaNot(s *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err != nil {
		return err
	}
	sub, err := parseSchema(d)
	if err != nil {
		return err
	}
	s.rules = append(s.rules, &notRule{named{k}, sub})
	return nil
}

// explainTitle writes title and description if the schema has them.
func (s *schema) explainTitle(b *value.Builder) {
	if s.title != "" {
		b.String("title", s.title)
	}
	if s.description != "" {
		b.String("description", s.description)
	}
}

// explainRules writes the list of the rules that v breaks.
func (s *schema) explainRules(env *expr.Env, b *value.Builder, key string, v value.Value) {
	b.StartArray(key)
	for _, r := range s.rules {
		if ok, err := r.holds(env, v); ok || err != nil {
			continue
		}
		b.StartDocument("").String("operatorName", r.keyword())
		r.explain(env, b, v)
		b.End()
	}
	b.End()
}
