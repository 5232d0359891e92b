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
		return (&And{}).shape()
	}
	return m.root.shape()
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

// leafShape is the shape of an operator on a path.
func leafShape(op string, l Leaf) uint64 {
	return uint64(shapeOffset.text(op).text(l.FieldPath().String()))
}

// conjuncts adds up the shapes of the conditions of a conjunction and of the
// conjunctions nested in it.
func conjuncts(n *And) (sum uint64) {
	for _, child := range n.Nodes {
		if and, ok := child.(*And); ok {
			sum += conjuncts(and)
		} else {
			sum += child.shape()
		}
	}
	return sum
}

func shapeOfAll(name string, nodes []Node) uint64 {
	sum := uint64(0)
	for _, n := range nodes {
		sum += n.shape()
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
