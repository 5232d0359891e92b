package match

import (
	"strconv"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Exists is $exists: true; $exists: false is its [Not].
type Exists struct{ leafPath }

func (n *Exists) rank() int { return rankExists }

func (n *Exists) shape() uint64 { return leafShape("$exists", n) }

func (n *Exists) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Exists) reasons() reasons {
	return reasons{failed: "path does not exist", matched: "path does exist", existence: true}
}

func (n *Exists) debug(w *treeWriter, depth int) {
	w.line(depth, "%s exists", n.Path.String())
}

func (n *Exists) cheap() bool { return true }

func (n *Exists) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Exists) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	return !v.IsMissing(), nil
}

func (n *Exists) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Exists) appendOperator(b *value.Builder) { b.Bool("$exists", true) }

func parseExists(_ *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	n := &Exists{leafPath{Path: path}}
	if e.v.Truthy() {
		return n, nil
	}
	return &Not{n, e.name}, nil
}

// Type is $type: the value is of one of the types.
type Type struct {
	leafPath
	Types TypeSet
}

func (n *Type) rank() int { return rankType }

func (n *Type) shape() uint64 { return leafShape("$type", n) }

func (n *Type) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Type) reasons() reasons {
	return reasons{failed: "type did not match", matched: "type did match", types: true}
}

func (n *Type) debug(w *treeWriter, depth int) {
	w.line(depth, "%s $type: %v", n.Path.String(), specificationOf(n).Lookup(n.Path.String()).Doc().Lookup("$type"))
}

func (n *Type) cheap() bool { return true }

func (n *Type) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Type) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	return n.Types.Has(v.Kind()), nil
}

func (n *Type) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Type) appendOperator(b *value.Builder) {
	b.StartArray("$type")
	if n.Types.Number {
		b.String("", "number")
	}
	for _, k := range n.Types.Kinds {
		b.Int32("", typeCode(k))
	}
	b.End()
}

// TypeSet is a set of BSON types.
type TypeSet struct {
	Number bool // the alias "number": all four number types
	Kinds  []value.Kind
}

// Has reports whether k is in the set.
func (s TypeSet) Has(k value.Kind) bool {
	if s.Number && k.IsNumber() {
		return true
	}
	for _, have := range s.Kinds {
		if have == k {
			return true
		}
	}
	return false
}

// typeCode is the number of a type in $type: MinKey is -1.
func typeCode(k value.Kind) int32 { return int32(int8(k)) }

func parseType(_ *parser, path value.Path, _ value.Doc, e element) (Node, error) {
	set, err := parseTypeSet(e.v)
	if err != nil {
		return nil, err
	}
	if !set.Number && len(set.Kinds) == 0 {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "%s must match at least one type", path)
	}
	return &Type{leafPath{Path: path}, set}, nil
}

// parseTypeSet reads an alias, a number or an array of them.
func parseTypeSet(v value.Value) (set TypeSet, err error) {
	if v.Kind() != value.KindArray {
		err = set.add(v)
		return set, err
	}
	for item := range v.Doc().Values() {
		if err := set.add(item); err != nil {
			return set, err
		}
	}
	return set, nil
}

// add adds a type by its alias or its number.
func (s *TypeSet) add(v value.Value) error {
	switch {
	case v.Kind() == value.KindString:
		return s.addAlias(v.Str())
	case !v.IsNumber():
		return mongoerr.New(mongoerr.TypeMismatch, "type must be represented as a number or a string")
	}
	n, ok := v.AsInt64()
	if ok && n == 0 {
		return mongoerr.New(mongoerr.BadValue, "Invalid numerical type code: 0. Instead use {$exists:false}.")
	}
	k := value.Kind(uint8(n))
	if !ok || n != int64(int8(n)) || !k.Valid() {
		return mongoerr.Newf(mongoerr.BadValue, "Invalid numerical type code: %s",
			strconv.FormatFloat(v.AsDouble(), 'g', -1, 64))
	}
	s.Kinds = append(s.Kinds, k)
	return nil
}

// addAlias adds a type by its name.
func (s *TypeSet) addAlias(alias string) error {
	if alias == "number" {
		s.Number = true
		return nil
	}
	k, ok := value.KindByAlias(alias)
	if !ok {
		if alias == "missing" {
			return mongoerr.New(mongoerr.BadValue, "'missing' is not a legal type name. To query for non-existence of a field, use {$exists:false}.")
		}
		return mongoerr.Newf(mongoerr.BadValue, "Unknown type name alias: %s", alias)
	}
	s.Kinds = append(s.Kinds, k)
	return nil
}
