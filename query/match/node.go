package match

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Node is one node of a compiled filter. Nodes are immutable and safe for
// concurrent use.
type Node interface {
	// Children returns the nodes below; nil for a leaf.
	Children() []Node

	// match tests a whole document. pos, unless nil, receives the position of the
	// array element that matched.
	match(env *expr.Env, d value.Doc, pos *int) (bool, error)
	// matchValue tests one value, such as an element for $elemMatch, without
	// entering arrays.
	matchValue(env *expr.Env, v value.Value, pos *int) (bool, error)
	// appendTo writes the node as one or more elements of a filter.
	appendTo(b *value.Builder)
	// rank is the node's place in the normalised order of siblings.
	rank() int
}

// Leaf is a node that tests the values at one path.
type Leaf interface {
	Node
	// FieldPath returns the path of the values.
	FieldPath() *value.Path

	// appendOperator writes {$op: argument} without the path.
	appendOperator(b *value.Builder)
	// origin is the operator and its argument as the client wrote them: "" and
	// the value for {path: value}; a zero element if unknown.
	origin() element
	setOrigin(e element)
}

// The places of the node types in explain's parsedQuery.
const (
	rankAnd = iota
	rankOr
	rankElemMatchObject
	rankElemMatchValue
	rankSize
	rankEq
	rankLte
	rankLt
	rankGt
	rankGte
	rankRegex
	rankMod
	rankExists
	rankIn
	rankBits
	rankNot
	rankNor
	rankType
	rankGeo
	rankWhere
	rankExpr
	rankConstant
	rankSchema
	rankNear
	rankText
)

// leafPath is the common part of all leaves.
type leafPath struct {
	// Path is the dotted path to the values.
	Path value.Path

	source *element // nil unless the tree is one as the client wrote it
}

func (l *leafPath) origin() element {
	if l.source == nil {
		return element{}
	}
	return *l.source
}

func (l *leafPath) setOrigin(e element) { l.source = &e }

// FieldPath returns the path of the values.
func (l *leafPath) FieldPath() *value.Path { return &l.Path }

// Children returns nil: a leaf has none.
func (l *leafPath) Children() []Node { return nil }

// walk runs n on each value at the path until one matches.
func (l *leafPath) walk(n Node, arrays value.Leaf, env *expr.Env, d value.Doc, pos *int) (ok bool, err error) {
	ok = l.Path.Each(d, arrays, func(v value.Value, at int) bool {
		var hit bool
		hit, err = n.matchValue(env, v, pos)
		if hit && pos != nil && at >= 0 {
			*pos = at
		}
		return hit || err != nil
	})
	return ok && err == nil, err
}

// appendLeaf writes path: {$op: argument}.
func appendLeaf(b *value.Builder, l Leaf) {
	b.StartDocument(l.FieldPath().String())
	l.appendOperator(b)
	b.End()
}
