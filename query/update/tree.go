package update

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// node is an inner node or a leaf of the update tree.
type node interface{ isNode() }

// leaf ends a path: the modifier that applies there.
type leaf struct{ modifier }

// branch holds the children of an inner node.
type branch struct {
	children []child         // ascending by comparePart once the tree is sealed
	index    value.NameIndex // an index of the children, if there are many
}

// object is an inner node whose children are field names or array positions.
type object struct {
	branch
	positional node // the child "$", or nil
}

// elements is an inner node over the elements of an array. Its children are
// identifiers of array filters; "" is $[], all elements.
type elements struct{ branch }

type child struct {
	name   string
	node   node
	filter *arrayFilter // the filter of a child of elements; nil: all
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

// getChild returns the child for a path component.
func getChild(n node, part string) node {
	switch n := n.(type) {
	case *object:
		if isPositional(part) {
			return n.positional
		}
		return n.child(part)
	case *elements:
		return n.child(identifier(part))
	}
	return nil
}

// child returns the child of that name while the tree is made, nil for a new name.
func (n *branch) child(name string) node {
	if i := n.place(name); i >= 0 {
		return n.children[i].node
	}
	return nil
}

// place returns the index of the child of that name, or -1.
func (n *branch) place(name string) int {
	if n.index.Empty() {
		return findChild(n.children, name)
	}
	return n.index.Find(name, n.nameAt)
}

func (n *branch) nameAt(i int) string { return n.children[i].name }

// add adds a child while the tree is made.
func (n *branch) add(c child) {
	n.children = append(n.children, c)
	if !n.index.Empty() {
		n.index.Add(c.name, len(n.children)-1, n.nameAt)
	} else if len(n.children) >= manyChildren {
		n.number()
	}
}

// number makes the index anew.
func (n *branch) number() {
	n.index.Reset()
	for i := range n.children {
		n.index.Add(n.children[i].name, i, n.nameAt)
	}
}

// arrange sorts the children. The order is not transitive where numbers stand beside names
// that begin with digits; a stable sort gives the same result each time.
func (n *branch) arrange() {
	compare := func(a, b child) int { return comparePart(a.name, b.name) }
	if slices.IsSortedFunc(n.children, compare) {
		return
	}
	slices.SortStableFunc(n.children, compare)
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
		n.add(child{name: part, node: to})
	case *elements:
		id := identifier(part)
		n.add(child{name: id, node: to, filter: c.filters[id]})
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
		n.arrange()
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
			return &elements{branch{children: kids}}, err
		}
	}
	return nil, mongoerr.Newf(mongoerr.ConflictingUpdateOperators, "Update created a conflict at '%s'", strings.Join(at, "."))
}

func mergeObjects(x, y *object, at []string) (node, error) {
	kids, err := mergeChildren(x.children, y.children, at, func(name string) string { return name })
	if err != nil {
		return nil, err
	}
	merged := &object{branch: branch{children: kids}, positional: x.positional}
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
	kids := branch{children: slices.Clone(x)}
	if len(x) >= manyChildren {
		kids.number()
	}
	for _, k := range y {
		i := kids.place(k.name)
		if i < 0 {
			kids.add(k)
			continue
		}
		both, err := merge(kids.children[i].node, k.node, append(slices.Clip(at), show(k.name)))
		if err != nil {
			return nil, err
		}
		kids.children[i].node = both
	}
	kids.arrange()
	return kids.children, nil
}
