package match

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// A disjunction of equalities on one path is rewritten as a $in, as in
// mongod's planner: {$or: [{a: 1}, {a: 2}]} is {a: {$in: [1, 2]}}. One binary
// search then replaces one comparison for each branch, and one scan of many
// ranges replaces many scans.

// rewritten returns a node with its disjunctions rewritten. Unchanged nodes
// are shared.
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
			return &Or{Nodes: nodes}
		}
	case *Nor:
		if nodes, changed := rewrittenAll(n.Nodes); changed {
			return &Nor{Nodes: nodes}
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

// rewrittenAll rewrites a list of nodes, and reports whether any of them
// changed.
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

// orToIn joins the branches of a disjunction that are equalities or regular
// expressions on the same path as the first such branch; nil if there are
// fewer than two. Branches on other paths are not changed.
func orToIn(nodes []Node) Node {
	var in *In
	var rest []Node
	for i, n := range nodes {
		leaf := joinable(n)
		if leaf == nil || in != nil && leaf.FieldPath().String() != in.Path.String() {
			rest = append(rest, n)
			continue
		}
		if in == nil {
			in = &In{leafPath: leafPath{Path: *leaf.FieldPath()}, Values: Values{few: make([]value.Value, 0, len(nodes)-i)}}
		}
		in.join(leaf)
	}
	if in == nil || in.Values.Len()+len(in.Regexes) < 2 {
		return nil
	}
	in.Values.sort(in.order)
	if len(rest) == 0 {
		return in
	}
	return &Or{Nodes: append([]Node{in}, rest...)}
}

// joinable returns the branch as a leaf if a $in can replace it, otherwise
// nil. Equality with a regular expression cannot be replaced: it matches only
// a stored one, but a $in also matches strings.
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

// join adds the values of a branch.
func (n *In) join(branch Leaf) {
	switch b := branch.(type) {
	case *Compare:
		n.hasNull = n.hasNull || b.Value.Kind() == value.KindNull
		n.Values.few = append(n.Values.few, b.Value)
		n.Collation = b.Collation
	case *Regex:
		n.Regexes = append(n.Regexes, b)
	}
}
