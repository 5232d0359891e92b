package match

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Conditions lists conditions that every document which satisfies the schema
// meets, as far as MongoDB translates keywords to operators that an index can
// serve: required as $exists, the limits of numbers and the patterns of
// strings - where the type of the field is stated - as comparisons and $regex,
// allOf as $and, anyOf as $or. The other keywords, such as type and enum, test
// arrays as a whole, which the keys of an index do not show.
func (n *Schema) Conditions() []Node { return n.schema.conditions("") }

// conditions lists the conditions of the schema on the field at path, or on
// the fields of the document if path is empty.
func (s *schema) conditions(path string) (out []Node) {
	for _, r := range s.rules {
		switch r := r.(type) {
		case *requiredRule:
			if path == "" {
				out = append(out, r.conditions()...)
			}
		case *propertiesRule:
			if path == "" {
				out = append(out, r.conditions(s.required())...)
			}
		case *limitRule:
			if path != "" && s.stated(isNumber) {
				out = append(out, &Compare{leafPath: leafPath{Path: value.ParsePath(path)}, Op: r.compare.Op, Value: r.compare.Value})
			}
		case *patternRule:
			if path != "" && s.stated(isString) {
				out = append(out, &Regex{leafPath: leafPath{Path: value.ParsePath(path)}, Pattern: r.k.v.Str(), find: r.find})
			}
		case *listRule:
			out = append(out, r.conditions(path)...)
		}
	}
	return out
}

func (r *requiredRule) conditions() (out []Node) {
	for _, name := range r.names {
		if addressable(name) {
			out = append(out, exists(name))
		}
	}
	return out
}

// conditions adds, for an optional field, the alternative that it does not
// exist.
func (r *propertiesRule) conditions(required []string) (out []Node) {
	for _, p := range r.properties {
		if !addressable(p.name) {
			continue
		}
		of := p.schema.conditions(p.name)
		switch {
		case len(of) == 0:
		case slices.Contains(required, p.name):
			out = append(out, of...)
		default:
			missing := &Not{Node: exists(p.name), Op: "$exists"}
			out = append(out, &Or{Nodes: []Node{missing, allOf(of)}})
		}
	}
	return out
}

// conditions returns the conditions of allOf, and of anyOf as a disjunction;
// oneOf and branches without conditions give none.
func (r *listRule) conditions(path string) (out []Node) {
	if r.k.name == "oneOf" {
		return nil
	}
	for _, s := range r.schemas {
		of := s.conditions(path)
		switch {
		case r.k.name == "allOf":
			out = append(out, of...)
		case len(of) == 0: // any document may satisfy it
			return nil
		default:
			out = append(out, allOf(of))
		}
	}
	if r.k.name == "anyOf" {
		return []Node{&Or{Nodes: out}}
	}
	return out
}

// required lists the names that the schema's own required has.
func (s *schema) required() []string {
	for _, r := range s.rules {
		if r, ok := r.(*requiredRule); ok {
			return r.names
		}
	}
	return nil
}

// stated reports whether the schema states a type that satisfies is.
func (s *schema) stated(is func(TypeSet) bool) bool {
	for _, r := range s.rules {
		if r, ok := r.(*typeRule); ok {
			return is(r.types)
		}
	}
	return false
}

func isNumber(t TypeSet) bool {
	if len(t.Kinds) == 0 {
		return t.Number
	}
	return !t.Number && len(t.Kinds) == 1 && t.Kinds[0].IsNumber()
}

func isString(t TypeSet) bool {
	return !t.Number && len(t.Kinds) == 1 && t.Kinds[0] == value.KindString
}

// addressable reports whether a path can address the field of that name and no
// other.
func addressable(name string) bool {
	return name != "" && name[0] != '$' && !strings.Contains(name, ".")
}

func exists(name string) *Exists { return &Exists{leafPath{Path: value.ParsePath(name)}} }

func allOf(nodes []Node) Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &And{Nodes: nodes}
}
