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
	// shape is the hash of the operators and paths, see [Matcher.Shape].
	shape() uint64
	// explain writes why the document does not match or, if inverted, why it does.
	explain(x *explainer, inverted bool)
	// debug writes the tree below the node, see [Matcher.DebugString].
	debug(w *treeWriter, depth int)
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
	// arrays is the treatment of arrays at the end of the path.
	arrays() value.Leaf
	// cheap reports whether the test costs little and depends on nothing but the values
	// at the path, so that a [Run] can make it.
	cheap() bool
	// reasons are mongod's explanations.
	reasons() reasons
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

// arrays is the treatment by most leaves: the array and its elements are tested.
func (l *leafPath) arrays() value.Leaf { return value.LeafTraverse }

// walk runs n on each value at the path until one matches.
func (l *leafPath) walk(n Leaf, env *expr.Env, d value.Doc, pos *int) (ok bool, err error) {
	ok = l.Path.Each(d, n.arrays(), func(v value.Value, at int) bool {
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
