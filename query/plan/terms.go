package plan

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// term is a condition on one path that every matching document satisfies.
type term struct {
	node match.Node
	path string
	// elem is the path of the $elemMatch around the condition, group its number;
	// conditions of one group are about the same element. Group 0 is outside of
	// any $elemMatch.
	elem  string
	group int
}

// conditions is a decomposed filter: a conjunction of terms and disjunctions.
type conditions struct {
	terms  []term
	ors    []*match.Or
	never  bool // no document can match
	opaque int  // number of other conditions
	groups int
	text   *match.Text // the $text condition
	near   *match.Near // the $near condition
	// besideText reports whether the conditions are an alternative to $text,
	// which must use an index too, even with a full scan.
	besideText bool
}

// takeApart decomposes a filter into conditions.
func takeApart(root match.Node) *conditions {
	c := &conditions{}
	if root != nil {
		c.add(root, "", 0)
	}
	return c
}

// add decomposes a node below a $elemMatch at elem.
func (c *conditions) add(n match.Node, elem string, group int) {
	switch n := n.(type) {
	case *match.And:
		c.terms = slices.Grow(c.terms, len(n.Nodes))
		for _, child := range n.Nodes {
			c.add(child, elem, group)
		}
	case *match.Or:
		if len(n.Nodes) == 1 {
			c.add(n.Nodes[0], elem, group)
		} else if group == 0 {
			c.ors = append(c.ors, n)
		} else {
			c.opaque++
		}
	case *match.Nor:
		c.terms = slices.Grow(c.terms, len(n.Nodes))
		for _, child := range n.Nodes {
			c.addNegated(child, elem, group)
		}
	case *match.Not:
		c.addNegated(n.Node, elem, group)
	case *match.ElemMatchObject:
		c.groups++
		c.opaque++ // the keys can never prove it
		c.add(n.Node, below(elem, n.Path.String(), group), c.groups)
	case *match.Constant:
		c.never = c.never || !n.Result
	case *match.Text:
		c.text = n
		c.opaque++
	case *match.Schema:
		c.opaque++ // it demands more than its conditions
		if group == 0 {
			for _, child := range n.Conditions() {
				c.add(child, elem, group)
			}
		}
	case match.Leaf:
		if near, ok := n.(*match.Near); ok && group == 0 {
			c.near = near
		}
		if in, ok := n.(*match.In); ok && in.Values.Len()+len(in.Regexes) == 0 {
			c.never = true
		}
		c.terms = append(c.terms, term{n, below(elem, n.FieldPath().String(), group), elem, group})
	default:
		c.opaque++
	}
}

// addNegated decomposes the negation of a node: a negated $or is a conjunction
// of negations, a negated $nor an $or, and a negated leaf a term. A negated
// $and can only be used if all of it is on one path.
func (c *conditions) addNegated(n match.Node, elem string, group int) {
	switch n := n.(type) {
	case *match.Or:
		for _, child := range n.Nodes {
			c.addNegated(child, elem, group)
		}
	case *match.Nor:
		c.add(&match.Or{Nodes: n.Nodes}, elem, group)
	case *match.Not:
		c.add(n.Node, elem, group)
	case *match.And:
		if path, ok := onePath(n.Nodes); ok {
			c.terms = append(c.terms, term{&match.Not{Node: n}, below(elem, path, group), elem, group})
		} else {
			c.opaque++
		}
	case *match.ElemMatchObject, *match.Constant:
		c.opaque++
	case match.Leaf:
		c.terms = append(c.terms, term{&match.Not{Node: n}, below(elem, n.FieldPath().String(), group), elem, group})
	default:
		c.opaque++
	}
}

// present reports whether a value must exist at a path.
func (c *conditions) present(path string) bool {
	return slices.ContainsFunc(c.terms, func(t term) bool {
		return t.path == path && asksForSomething(t.node) && !positional(path)
	})
}

// asksForSomething reports whether a condition demands a value in a form that
// bounds can express: an existing one, or elements of an array.
func asksForSomething(n match.Node) bool {
	switch n := n.(type) {
	case *match.Exists:
		return true
	case *match.ElemMatchValue:
		return !slices.ContainsFunc(n.Nodes, func(c match.Node) bool { return !aboutValue(c) })
	}
	return false
}

func aboutValue(n match.Node) bool {
	switch n.(type) {
	case *match.Exists, *match.Compare, *match.In, *match.Regex, *match.Type, *match.Mod:
		return true
	}
	return false
}

// textBranch reports whether a branch of a disjunction is a $text condition.
func (c *conditions) textBranch() bool {
	return slices.ContainsFunc(c.ors, hasTextBranch)
}

func hasTextBranch(or *match.Or) bool {
	return slices.ContainsFunc(or.Nodes, func(branch match.Node) bool { return takeApart(branch).text != nil })
}

// onePath returns the path that all nodes are about.
func onePath(nodes []match.Node) (path string, ok bool) {
	for i, n := range nodes {
		p, ok := nodePath(n)
		if !ok || i > 0 && p != path {
			return "", false
		}
		path = p
	}
	return path, len(nodes) > 0
}

func nodePath(n match.Node) (string, bool) {
	switch n := n.(type) {
	case *match.ElemMatchObject:
		return "", false
	case match.Leaf:
		return n.FieldPath().String(), true
	case *match.Not:
		return nodePath(n.Node)
	case *match.And:
		return onePath(n.Nodes)
	}
	return "", false
}

// below returns the full path of a condition, which is below a $elemMatch at
// elem unless its group is 0. Both may be the empty field name.
func below(elem, path string, group int) string {
	if group == 0 {
		return path
	}
	return elem + "." + path
}

// positional reports whether a path has a component that may be a position
// in an array.
func positional(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if part != "" && part[0] >= '0' && part[0] <= '9' && value.ParsePath(part).ArrayIndex(0) >= 0 {
			return true
		}
	}
	return false
}

// firstPart is the first component of a path.
func firstPart(path string) string {
	head, _, _ := strings.Cut(path, ".")
	return head
}
