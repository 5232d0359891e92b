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
	in   *element // the element that the condition is about; nil outside of any $elemMatch
}

// element is an element of an array, one for each $elemMatch.
type element struct{ path string }

// conditions is a decomposed filter: a conjunction of terms and disjunctions.
type conditions struct {
	terms  []term
	ors    []*match.Or
	never  bool        // no document can match
	opaque int         // number of other conditions
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
		c.add(root, nil)
	}
	return c
}

// add decomposes a node, which may be below a $elemMatch.
func (c *conditions) add(n match.Node, in *element) {
	switch n := n.(type) {
	case *match.And:
		c.terms = slices.Grow(c.terms, len(n.Nodes))
		for _, child := range n.Nodes {
			c.add(child, in)
		}
	case *match.Or:
		if len(n.Nodes) == 1 {
			c.add(n.Nodes[0], in)
		} else if in == nil {
			c.ors = append(c.ors, n)
		} else {
			c.opaque++
		}
	case *match.Nor:
		c.terms = slices.Grow(c.terms, len(n.Nodes))
		for _, child := range n.Nodes {
			c.addNegated(child, in)
		}
	case *match.Not:
		c.addNegated(n.Node, in)
	case *match.ElemMatchObject:
		c.opaque++ // the keys can never prove it
		c.add(n.Node, &element{in.below(n.Path.String())})
	case *match.Constant:
		c.never = c.never || !n.Result
	case *match.Text:
		c.text = n
		c.opaque++
	case *match.Schema:
		c.opaque++ // it demands more than its conditions
		if in == nil {
			for _, child := range n.Conditions() {
				c.add(child, in)
			}
		}
	case match.Leaf:
		if near, ok := n.(*match.Near); ok && in == nil {
			c.near = near
		}
		if in, ok := n.(*match.In); ok && in.Values.Len()+len(in.Regexes) == 0 {
			c.never = true
		}
		c.terms = append(c.terms, term{n, in.below(n.FieldPath().String()), in})
	default:
		c.opaque++
	}
}

// addNegated decomposes the negation of a node: a negated $or is a conjunction
// of negations, a negated $nor an $or, and a negated leaf a term. A negated
// $and can only be used if all of it is on one path.
func (c *conditions) addNegated(n match.Node, in *element) {
	switch n := n.(type) {
	case *match.Or:
		for _, child := range n.Nodes {
			c.addNegated(child, in)
		}
	case *match.Nor:
		c.add(&match.Or{Nodes: n.Nodes}, in)
	case *match.Not:
		c.add(n.Node, in)
	case *match.And:
		if path, ok := onePath(n.Nodes); ok {
			c.terms = append(c.terms, term{&match.Not{Node: n}, in.below(path), in})
		} else {
			c.opaque++
		}
	case *match.ElemMatchObject, *match.Constant:
		c.opaque++
	case match.Leaf:
		c.terms = append(c.terms, term{&match.Not{Node: n}, in.below(n.FieldPath().String()), in})
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

// below returns the full path of a condition. Both paths may be the empty field name.
func (e *element) below(path string) string {
	if e == nil {
		return path
	}
	return e.path + "." + path
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
