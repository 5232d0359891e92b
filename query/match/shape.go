package match

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Shape returns a hash that is equal for filters that differ only in values: a
// hash of operators and paths, independent of the order of conjuncts and
// alternatives.
func (m *Matcher) Shape() uint64 {
	if m == nil {
		return shapeOf(&And{})
	}
	return shapeOf(m.root)
}

// shapeHash is an FNV-1a hash of a sequence of texts.
type shapeHash uint64

const (
	shapeOffset shapeHash = 14695981039346656037
	shapePrime  shapeHash = 1099511628211
)

func (h shapeHash) text(s string) shapeHash {
	for i := range len(s) {
		h = (h ^ shapeHash(s[i])) * shapePrime
	}
	return (h ^ 0xff) * shapePrime // "ab", "c" is not "a", "bc"
}

func (h shapeHash) number(n uint64) shapeHash {
	for ; n > 0; n >>= 8 {
		h = (h ^ shapeHash(n&0xff)) * shapePrime
	}
	return (h ^ 0xff) * shapePrime
}

// shapeOf returns the hash of a node: of its operator and path, or of its
// children.
func shapeOf(n Node) uint64 {
	switch n := n.(type) {
	case *And:
		if len(n.Nodes) == 1 {
			return shapeOf(n.Nodes[0])
		}
		return uint64(shapeOffset.text("$and").number(conjuncts(n)))
	case *Or:
		return shapeOfAll("$or", n.Nodes)
	case *Nor:
		return shapeOfAll("$nor", n.Nodes)
	case *Not:
		return uint64(shapeOffset.text("$not").number(shapeOf(n.Node)))
	case *Expr:
		return uint64(skeleton(shapeOffset.text("$expr"), n.spec))
	}
	h := shapeOffset.text(operatorOf(n))
	if leaf, ok := n.(Leaf); ok {
		h = h.text(leaf.FieldPath().String())
	}
	switch n := n.(type) {
	case *ElemMatchValue:
		h = h.number(shapeOfAll("", n.Nodes))
	case *ElemMatchObject:
		h = h.number(shapeOf(n.Node))
	}
	return uint64(h)
}

// operatorOf returns the operator of a node that is not a logical one.
func operatorOf(n Node) string {
	switch n := n.(type) {
	case *Compare:
		return n.Op.String()
	case *ExprCompare:
		return "$expr" + n.Op.String()
	case *In:
		return "$in"
	case *Regex:
		return "$regex" + n.Options
	case *Exists:
		return "$exists"
	case *Type:
		return "$type"
	case *Mod:
		return "$mod"
	case *Size:
		return "$size"
	case *Bits:
		return n.Op.String()
	case *ElemMatchValue, *ElemMatchObject:
		return "$elemMatch"
	case *Geo:
		return "$geo"
	case *Near:
		return "$near"
	case *Text:
		return "$text"
	case *Schema:
		return "$jsonSchema"
	case *SampleRate:
		return "$sampleRate"
	case *Where:
		return "$where" + n.code
	}
	return "$always"
}

// conjuncts adds up the shapes of the conditions of a conjunction and of the
// conjunctions nested in it.
func conjuncts(n *And) (sum uint64) {
	for _, child := range n.Nodes {
		if and, ok := child.(*And); ok {
			sum += conjuncts(and)
		} else {
			sum += shapeOf(child)
		}
	}
	return sum
}

func shapeOfAll(name string, nodes []Node) uint64 {
	sum := uint64(0)
	for _, n := range nodes {
		sum += shapeOf(n)
	}
	return uint64(shapeOffset.text(name).number(sum))
}

// skeleton hashes an expression without its constants.
func skeleton(h shapeHash, v value.Value) shapeHash {
	switch v.Kind() {
	case value.KindDocument, value.KindArray:
		for name, e := range v.Doc().All() {
			if v.Kind() == value.KindDocument {
				h = h.text(name)
			}
			h = skeleton(h, e)
		}
		return h.text("}")
	case value.KindString:
		if strings.HasPrefix(v.Str(), "$") {
			return h.text(v.Str())
		}
	}
	return h.text("?")
}
