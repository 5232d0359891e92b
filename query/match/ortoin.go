package match

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// A disjunction of equalities on one path is a $in, as for mongod's planner:
// {$or: [{a: 1}, {a: 2}]} is {a: {$in: [1, 2]}}. One look-up in an ordered list
// takes the place of one comparison for each branch, and one scan of many
// ranges that of many scans.

// rewritten is a node with the disjunctions in it rewritten. Nodes that do not
// change are shared.
func rewritten(n Node) Node {
	switch n := n.(type) {
	case *And:
		if nodes, changed := rewrittenAll(n.Nodes); changed {
			return &And{Nodes: nodes, all: n.all}
		}
	case *Or:
		nodes, changed := rewrittenAll(n.Nodes)
		if in := orToIn(nodes); in != nil {
			return in
		}
		if changed {
			return &Or{nodes}
		}
	case *Nor:
		if nodes, changed := rewrittenAll(n.Nodes); changed {
			return &Nor{nodes}
		}
	case *Not:
		if inner := rewritten(n.Node); inner != n.Node {
			return &Not{inner, n.Op}
		}
	case *ElemMatchObject:
		if inner := rewritten(n.Node); inner != n.Node {
			return &ElemMatchObject{n.leafPath, inner}
		}
	}
	return n
}

func rewrittenAll(nodes []Node) (out []Node, changed bool) {
	for i, n := range nodes {
		r := rewritten(n)
		if r != n && !changed {
			out, changed = slices.Clone(nodes), true
		}
		if changed {
			out[i] = r
		}
	}
	if !changed {
		return nodes, false
	}
	return out, true
}

// orToIn is a disjunction with those of its branches joined that ask for a
// value, or for a regular expression, at the path of the first that does; nil
// if there are not two of them. Branches on other paths stay as they are.
func orToIn(nodes []Node) Node {
	var in *In
	var rest []Node
	for _, n := range nodes {
		leaf := joinable(n)
		if leaf == nil || in != nil && leaf.FieldPath().String() != in.Path.String() {
			rest = append(rest, n)
			continue
		}
		if in == nil {
			in = &In{leafPath: leafPath{Path: *leaf.FieldPath()}}
		}
		in.join(leaf)
	}
	if in == nil || len(in.Values)+len(in.Regexes) < 2 {
		return nil
	}
	in.sort()
	if len(rest) == 0 {
		return in
	}
	return &Or{append([]Node{in}, rest...)}
}

// joinable is a branch that a $in can stand for, nil if it is none. Equality
// with a regular expression is not: it asks for a stored one only, a $in for
// the strings that match as well.
func joinable(n Node) Leaf {
	if in, ok := n.(*In); ok {
		n = in.simplest()
	}
	switch n := n.(type) {
	case *Compare:
		if n.Op == OpEq && n.Value.Kind() != value.KindRegex {
			return n
		}
	case *Regex:
		return n
	}
	return nil
}

// join adds what a branch asks for.
func (n *In) join(branch Leaf) {
	switch b := branch.(type) {
	case *Compare:
		n.add(b.Value)
		n.Collation = b.Collation
	case *Regex:
		n.Regexes = append(n.Regexes, b)
	}
}
