package update

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// node is an inner node or a leaf of the update tree.
type node interface{ isNode() }

// leaf ends a path: the modifier that applies there.
type leaf struct{ modifier }

// object is an inner node whose children are field names or array positions.
type object struct {
	children   []child         // ascending by comparePart once the tree is sealed
	index      value.NameIndex // of the children, where there are many
	positional node            // the child "$", or nil
}

// elements is an inner node over the elements of an array. Its children are
// identifiers of array filters; "" is $[], all elements.
type elements struct {
	children []child
}

type child struct {
	name   string
	node   node
	filter *arrayFilter // of a child of elements; nil: all
}

func (*leaf) isNode()     {}
func (*object) isNode()   {}
func (*elements) isNode() {}

// manyChildren is the number of children from which on an index is faster than a
// scan.
const manyChildren = 12

// findChild returns the index of the child with that name, or -1.
func findChild(kids []child, name string) int {
	for i := range kids {
		if kids[i].name == name {
			return i
		}
	}
	return -1
}

// insertChild inserts a child at its place in the order.
func insertChild(kids []child, c child) []child {
	if n := len(kids); n == 0 || comparePart(kids[n-1].name, c.name) < 0 {
		return append(kids, c)
	}
	at, _ := slices.BinarySearchFunc(kids, c.name, func(k child, name string) int { return comparePart(k.name, name) })
	return slices.Insert(kids, at, c)
}

// getChild returns the child for a path component.
func getChild(n node, part string) node {
	switch n := n.(type) {
	case *object:
		if isPositional(part) {
			return n.positional
		}
		return n.child(part)
	case *elements:
		if i := findChild(n.children, identifier(part)); i >= 0 {
			return n.children[i].node
		}
	}
	return nil
}

// child returns the child of that name while the tree is made, nil for a new name.
func (n *object) child(name string) node {
	if i := n.place(name); i >= 0 {
		return n.children[i].node
	}
	return nil
}

// place finds the place of the child of that name, -1 if there is none.
func (n *object) place(name string) int {
	if n.index.Empty() {
		return findChild(n.children, name)
	}
	return n.index.Find(name, n.nameAt)
}

func (n *object) nameAt(i int) string { return n.children[i].name }

// add adds a child while the tree is made.
func (n *object) add(name string, to node) {
	n.children = append(n.children, child{name: name, node: to})
	if !n.index.Empty() {
		n.index.Add(name, len(n.children)-1, n.nameAt)
	} else if len(n.children) >= manyChildren {
		n.number()
	}
}

// number makes the index anew.
func (n *object) number() {
	n.index.Reset()
	for i := range n.children {
		n.index.Add(n.children[i].name, i, n.nameAt)
	}
}

// arrange sorts the children.
func (n *object) arrange() {
	compare := func(a, b child) int { return comparePart(a.name, b.name) }
	switch {
	case slices.IsSortedFunc(n.children, compare):
		return
	case slices.ContainsFunc(n.children, func(k child) bool { return isNumeric(k.name) }): // the order is not transitive
		kids := make([]child, 0, len(n.children))
		for _, k := range n.children {
			kids = insertChild(kids, k)
		}
		n.children = kids
	default:
		slices.SortFunc(n.children, compare)
	}
	if !n.index.Empty() {
		n.number()
	}
}

func (c *compiler) setChild(n node, part string, to node) {
	switch n := n.(type) {
	case *object:
		if isPositional(part) {
			n.positional, c.u.positional = to, true
			return
		}
		n.add(part, to)
	case *elements:
		id := identifier(part)
		n.children = insertChild(n.children, child{name: id, node: to, filter: c.filters[id]})
	}
}

// identifier is the id of $[id].
func identifier(part string) string { return part[2 : len(part)-1] }

// add adds a leaf at the end of a path, and creates the nodes on the way.
func (c *compiler) add(dotted string, parts []string, l *leaf) error {
	var current node = c.root
	for i, part := range parts {
		if err := c.checkFilter(dotted, part, i); err != nil {
			return err
		}
		next := getChild(current, part)
		if i == len(parts)-1 {
			if next != nil {
				return conflict(dotted, dotted)
			}
			c.setChild(current, part, l)
			return nil
		}
		wantElements := isArrayFilter(parts[i+1])
		if next == nil {
			if wantElements {
				next = &elements{}
			} else {
				next = &object{}
			}
			c.setChild(current, part, next)
		} else if !sameKind(next, wantElements) {
			return conflict(dotted, strings.Join(parts[:i+1], "."))
		}
		current = next
	}
	return nil
}

func sameKind(n node, wantElements bool) bool {
	switch n.(type) {
	case *object:
		return !wantElements
	case *elements:
		return wantElements
	}
	return false
}

func conflict(path, at string) error {
	return mongoerr.Newf(mongoerr.ConflictingUpdateOperators,
		"Updating the path '%s' would create a conflict at '%s'", path, at)
}

// seal prepares the finished tree for application.
func seal(n node) {
	switch n := n.(type) {
	case *object:
		for _, k := range n.children {
			seal(k.node)
		}
		seal(n.positional)
		n.arrange()
	case *elements:
		for _, k := range n.children {
			seal(k.node)
		}
	}
}

// merge unites two trees that apply to the same element. at is the path to
// it, for the error.
func merge(a, b node, at []string) (node, error) {
	switch x := a.(type) {
	case *object:
		if y, ok := b.(*object); ok {
			return mergeObjects(x, y, at)
		}
	case *elements:
		if y, ok := b.(*elements); ok {
			kids, err := mergeChildren(x.children, y.children, at, func(name string) string { return "$[" + name + "]" })
			return &elements{children: kids}, err
		}
	}
	return nil, mongoerr.Newf(mongoerr.ConflictingUpdateOperators, "Update created a conflict at '%s'", strings.Join(at, "."))
}

func mergeObjects(x, y *object, at []string) (node, error) {
	kids, err := mergeChildren(x.children, y.children, at, func(name string) string { return name })
	if err != nil {
		return nil, err
	}
	merged := &object{children: kids, positional: x.positional}
	if x.positional == nil {
		merged.positional = y.positional
	} else if y.positional != nil {
		merged.positional, err = merge(x.positional, y.positional, append(slices.Clip(at), "$"))
	}
	return merged, err
}

// mergeChildren merges two sorted lists of children; children with the same
// name are merged.
func mergeChildren(x, y []child, at []string, show func(string) string) ([]child, error) {
	kids := slices.Clone(x)
	for _, k := range y {
		i := findChild(kids, k.name)
		if i < 0 {
			kids = insertChild(kids, k)
			continue
		}
		both, err := merge(kids[i].node, k.node, append(slices.Clip(at), show(k.name)))
		if err != nil {
			return nil, err
		}
		kids[i].node = both
	}
	return kids, nil
}
