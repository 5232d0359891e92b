package match

import (
	"maps"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Operators lists the names that filters know, in order.
func Operators() []string {
	names := map[string]bool{}
	for name := range maps.Keys(fieldOperators) {
		names[name] = true
	}
	for name := range maps.Keys(topOperators) {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// specialNodes counts the nodes that need a special index.
type specialNodes struct {
	texts, nears int
	textInNor    bool
}

func (c *specialNodes) visit(n Node, inNor bool) {
	switch n.(type) {
	case *Text:
		c.texts++
		c.textInNor = c.textInNor || inNor
	case *Near:
		c.nears++
	case *Nor:
		inNor = true
	}
	for _, child := range n.Children() {
		c.visit(child, inNor)
	}
}

// checkSpecial refuses filters that no plan can serve: $text and $near need an
// index, and may occur only once and for the whole query.
func checkSpecial(root Node) error {
	var c specialNodes
	c.visit(root, false)
	switch {
	case c.texts > 1:
		return mongoerr.New(mongoerr.BadValue, "Too many text expressions")
	case c.textInNor:
		return mongoerr.New(mongoerr.BadValue, "text expression not allowed in nor")
	case c.nears > 1:
		return mongoerr.New(mongoerr.BadValue, "Too many geoNear expressions")
	case c.nears == 1 && !nearOnTop(root):
		return mongoerr.New(mongoerr.BadValue, "geo $near must be top-level expr")
	case c.nears > 0 && c.texts > 0:
		return mongoerr.New(mongoerr.BadValue, "text and geoNear not allowed in same query")
	}
	return nil
}

// nearOnTop reports whether the $near is the root or one of the root's
// conditions.
func nearOnTop(root Node) bool {
	root = normalize(root)
	if _, ok := root.(*Near); ok {
		return true
	}
	and, ok := root.(*And)
	return ok && slices.ContainsFunc(and.Nodes, func(n Node) bool { _, ok := n.(*Near); return ok })
}
