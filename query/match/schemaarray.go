package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// uniqueRule is uniqueItems: true.
type uniqueRule struct{ named }

func (r *uniqueRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindArray {
		return true, nil
	}
	_, found, err := duplicate(env, v.Doc())
	return !found && err == nil, err
}

func (r *uniqueRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	twice, _, _ := duplicate(env, v.Doc())
	r.specified(b, "found a duplicate item")
	quote(b, "consideredValue", v)
	quote(b, "duplicatedValue", twice)
}

func parseUniqueItems(s *schema, k keyword, _ value.Doc) error {
	unique, err := k.bool()
	if unique {
		s.rules = append(s.rules, &uniqueRule{named{k}})
	}
	return err
}

// itemsRule applies schemas to the items of an array: positional ones to the
// first items, rest (if any) to all others.
type itemsRule struct {
	named
	positional []*schema
	rest       *schema
	skip       int // items before those that rest applies to
}

func (r *itemsRule) holds(env *expr.Env, v value.Value) (bool, error) {
	_, s, err := r.failing(env, v)
	return s == nil && err == nil, err
}

// failing finds the first item that does not satisfy its schema.
func (r *itemsRule) failing(env *expr.Env, v value.Value) (int, *schema, error) {
	if v.Kind() != value.KindArray {
		return 0, nil, nil
	}
	i := 0
	for item := range v.Doc().Values() {
		if s := r.schemaAt(i); s != nil {
			if ok, err := s.holds(env, item); !ok || err != nil {
				return i, s, err
			}
		}
		i++
	}
	return 0, nil, nil
}

func (r *itemsRule) schemaAt(i int) *schema {
	if i < len(r.positional) {
		return r.positional[i]
	}
	if i >= r.skip {
		return r.rest
	}
	return nil
}

func (r *itemsRule) explain(env *expr.Env, b *value.Builder, v value.Value) {
	i, s, _ := r.failing(env, v)
	if s == nil {
		return
	}
	if r.rest != nil {
		b.String("reason", "At least one item did not match the sub-schema")
	}
	b.Int32("itemIndex", int32(i))
	s.explainRules(env, b, "details", v.Doc().Index(i))
}

// parseItems parses items: one schema for all items, or an array of schemas
// for the first ones.
func parseItems(s *schema, k keyword, _ value.Doc) error {
	r := &itemsRule{named: named{k}}
	switch k.v.Kind() {
	case value.KindDocument:
		sub, err := parseSchema(k.v.Doc())
		if err != nil {
			return err
		}
		r.rest = sub
	case value.KindArray:
		for v := range k.v.Doc().Values() {
			if v.Kind() != value.KindDocument {
				return k.fails(mongoerr.TypeMismatch,
					"requires that each element of the array is an object, but found a "+v.Kind().String())
			}
			sub, err := parseSchema(v.Doc())
			if err != nil {
				return err
			}
			r.positional = append(r.positional, sub)
		}
	default:
		return k.mustBe("an array or an object, not " + k.v.Kind().String())
	}
	s.rules = append(s.rules, r)
	return nil
}

// noMoreItemsRule is additionalItems: false.
type noMoreItemsRule struct {
	named
	allowed int
}

func (r *noMoreItemsRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	return v.Kind() != value.KindArray || v.Doc().Len() <= r.allowed, nil
}

func (r *noMoreItemsRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "found additional items")
	b.StartArray("additionalItems")
	i := 0
	for item := range v.Doc().Values() {
		if i >= r.allowed {
			b.Append("", item)
		}
		i++
	}
	b.End()
}

// parseAdditionalItems has an effect only beside an array of items.
func parseAdditionalItems(s *schema, k keyword, whole value.Doc) error {
	items := whole.Lookup("items")
	skip := 0
	if items.Kind() == value.KindArray {
		skip = items.Doc().Len()
	}
	switch k.v.Kind() {
	case value.KindBool:
		if !k.v.Bool() && items.Kind() == value.KindArray {
			s.rules = append(s.rules, &noMoreItemsRule{named{k}, skip})
		}
		return nil
	case value.KindDocument:
		sub, err := parseSchema(k.v.Doc())
		if err == nil && items.Kind() == value.KindArray {
			s.rules = append(s.rules, &itemsRule{named: named{k}, rest: sub, skip: skip})
		}
		return err
	}
	return k.mustBe("either an object or a boolean, but got a " + k.v.Kind().String())
}
